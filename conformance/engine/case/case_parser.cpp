// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/case_parser.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <regex>
#include <set>

#include "engine/case/axes.h"
#include "engine/case/lookup.h"
#include "engine/case/program_parser.h"
#include "engine/case/values.h"
#include "engine/case/wire_parser.h"
#include "engine/input/reader.h"
#include "engine/input/substitute.h"
#include "values/text.h"

namespace tdconf {
namespace {

constexpr std::chrono::milliseconds kDefaultDeadline{10'000};
constexpr std::int64_t kMaxWorld = 16;
constexpr double kMaxDeadlineS = 3600;

const std::vector<std::string> kBackends{"gloo", "cpu:gloo", "undefined"};

std::string parse_id(const Node& node) {
  static const std::regex kId("[a-z0-9_-]+(/[a-z0-9_-]+)+");
  const std::string id = read_string(node, "id");
  constexpr std::size_t kMaxLength = 128;
  if (id.size() > kMaxLength || !std::regex_match(id, kId)) {
    refuse(node,
           "id",
           concat("two or more components of [a-z0-9_-], ", kMaxLength, " characters in all"));
  }
  return id;
}

Level parse_level(const Node& node) {
  for (const Level level : {Level::kMust, Level::kSound, Level::kCompat, Level::kObserve}) {
    if (node.scalar() != nullptr && *node.scalar() == to_string(level)) return level;
  }
  refuse(node, "level", "must, sound, compat, observe");
}

std::string parse_sentence(const Node& node, const char* what) {
  const std::string text = read_string(node, what);
  if (text.empty()) refuse(node, what, "a sentence");
  return text;
}

std::optional<std::string> parse_optional_sentence(const Node* node, const char* what) {
  if (node == nullptr) return std::nullopt;
  return parse_sentence(*node, what);
}

std::vector<int> parse_ranks(const Node& node, int world) {
  std::vector<int> ranks;
  for (const Node& element : read_list(node, "ranks")) {
    ranks.push_back(parse_rank(element, "ranks", world));
    if (std::ranges::count(ranks, ranks.back()) > 1) refuse(element, "ranks", "each rank once");
  }
  if (ranks.empty()) refuse(node, "ranks", "at least one rank");
  std::ranges::sort(ranks);
  return ranks;
}

std::vector<int> all_ranks(int world) {
  std::vector<int> ranks(static_cast<std::size_t>(world));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

Group parse_default_group(const Node& node, int world) {
  MapReader reader(node, "group `default`");
  Group group{"default", "default", "gloo", all_ranks(world)};
  if (const Node* backend = reader.optional("backend")) {
    group.backend = read_one_of(*backend, "backend", kBackends);
  }
  reader.finish();
  return group;
}

Group parse_other_group(const std::string& name, const Node& node, int world) {
  MapReader reader(node, concat("group `", name, "`"));
  Group group{name, "subgroup", "gloo", {}};
  if (const Node* kind = reader.optional("kind")) {
    group.kind = read_one_of(*kind, "kind", {"subgroup", "standalone"});
  }
  if (const Node* backend = reader.optional("backend")) {
    const bool is_standalone = group.kind == "standalone";
    group.backend = read_one_of(
        *backend, "backend", is_standalone ? std::vector<std::string>{"gloo"} : kBackends);
  }
  group.ranks = parse_ranks(reader.required("ranks"), world);
  reader.finish();
  return group;
}

/// The default group comes first, since the others are made from it.
std::vector<Group> parse_groups(const Node* node, int world) {
  std::vector<Group> groups{{"default", "default", "gloo", all_ranks(world)}};
  if (node == nullptr) return groups;
  bool has_default = true;
  for (const auto& [key, value] : read_map(*node, "groups")) {
    const std::string name = read_string(key, "the name of a group");
    if (name != "default") {
      groups.push_back(parse_other_group(name, value, world));
    } else if (value.scalar() != nullptr && *value.scalar() == "none") {
      has_default = false;
    } else {
      groups.front() = parse_default_group(value, world);
    }
  }
  const auto needs_default = [](const Group& group) { return group.kind == "subgroup"; };
  if (!has_default) {
    groups.erase(groups.begin());
    if (std::ranges::any_of(groups, needs_default)) {
      refuse(*node, "groups", "subgroups only beside a default group");
    }
  }
  return groups;
}

std::map<int, std::string> parse_roles(const Node* node, int world) {
  std::map<int, std::string> roles;
  if (node == nullptr) return roles;
  for (const auto& [key, value] : read_map(*node, "roles")) {
    roles[parse_rank(key, "roles", world)] = read_string(value, "roles");
  }
  return roles;
}

/// Returns the list of steps of each rank, with `$rank` substituted.
std::vector<Node> programs_by_rank(const Node& node, int world) {
  std::map<int, const Node*> named;
  const Node* rest = nullptr;
  for (const auto& [key, value] : read_map(node, "ranks")) {
    if (*key.scalar() == "*") {
      rest = &value;
    } else {
      const int rank = parse_rank(key, "ranks", world);
      if (!named.emplace(rank, &value).second) refuse(key, "ranks", "each rank once");
    }
  }
  std::vector<Node> programs;
  for (int rank = 0; rank < world; ++rank) {
    const Node* program = named.contains(rank) ? named[rank] : rest;
    if (program == nullptr) {
      throw InputError(concat(to_string(node.where),
                              ": in ranks: rank ",
                              rank,
                              " has no steps; give it `[]` or use \"*\""));
    }
    programs.push_back(substitute(*program, {{"rank", rank}}));
  }
  return programs;
}

/// The keys of a case.
struct CaseNodes {
  const Node& id;
  const Node* clauses;
  const Node& level;
  const Node& says;
  const Node& world;
  const Node& ranks;
  const Node* groups;
  const Node* values;
  const Node* roles;
  const Node* deadline;
  const Node* slow;
  const Node* broken_by;
  const Node* notes;
  const Node* messages;
  const Node* transcript;
};

CaseNodes read_keys(const Node& document) {
  MapReader reader(document, "a case");
  const CaseNodes nodes{reader.required("id"),
                        reader.optional("clauses"),
                        reader.required("level"),
                        reader.required("says"),
                        reader.required("world"),
                        reader.required("ranks"),
                        reader.optional("groups"),
                        reader.optional("values"),
                        reader.optional("roles"),
                        reader.optional("deadline_s"),
                        reader.optional("slow"),
                        reader.optional("broken_by"),
                        reader.optional("notes"),
                        reader.optional("messages"),
                        reader.optional("transcript")};
  // The axes were read before anything could be substituted.
  reader.optional("axes");
  reader.finish();
  return nodes;
}

/// A deadline other than the default needs a reason, and a reason needs a deadline.
std::chrono::milliseconds parse_deadline(const CaseNodes& nodes, const Node& document) {
  if ((nodes.deadline != nullptr) != (nodes.slow != nullptr)) {
    throw InputError(concat(to_string(document.where),
                            ": in a case: `deadline_s` and `slow` are needed together"));
  }
  if (nodes.deadline == nullptr) return kDefaultDeadline;
  const nlohmann::json* seconds = nodes.deadline->scalar();
  if (seconds == nullptr || !seconds->is_number() || seconds->get<double>() <= 0 ||
      seconds->get<double>() > kMaxDeadlineS) {
    refuse(*nodes.deadline, "deadline_s", concat("a positive number, at most ", kMaxDeadlineS));
  }
  return std::chrono::milliseconds(std::llround(1000 * seconds->get<double>()));
}

std::vector<std::string> parse_clauses(const Node* node) {
  if (node == nullptr) return {};
  std::vector<std::string> clauses = read_strings(*node, "clauses");
  if (clauses.empty()) refuse(*node, "clauses", "at least one clause");
  return clauses;
}

int parse_world(const Node& node) {
  const std::int64_t world = read_integer(node, "world");
  if (world < 1 || world > kMaxWorld) refuse(node, "world", concat("1 to ", kMaxWorld));
  return static_cast<int>(world);
}

Case parse_case(const Node& raw, const Scope& choice) {
  Scope scope = choice;
  if (const Node* world = find_key(raw, "world")) {
    scope["world"] = parse_world(substitute(*world, choice));
  }
  const Node document = substitute(raw, scope);
  const CaseNodes nodes = read_keys(document);
  Case c;
  c.where = document.where;
  c.id = parse_id(nodes.id);
  c.name = expanded_name(c.id, choice);
  for (const auto& [axis, value] : choice) c.axes[axis] = axis_value(value);
  c.clauses = parse_clauses(nodes.clauses);
  c.level = parse_level(nodes.level);
  c.says = parse_sentence(nodes.says, "says");
  c.world = parse_world(nodes.world);
  c.groups = parse_groups(nodes.groups, c.world);
  c.roles = parse_roles(nodes.roles, c.world);
  c.deadline = parse_deadline(nodes, document);
  c.slow = parse_optional_sentence(nodes.slow, "slow");
  c.broken_by = parse_optional_sentence(nodes.broken_by, "broken_by");
  c.notes = parse_optional_sentence(nodes.notes, "notes");
  ValueTable values(nodes.values, c.world, c.groups);
  c.programs = parse_programs(programs_by_rank(nodes.ranks, c.world), c.groups, values);
  if (nodes.messages != nullptr) {
    c.messages = parse_messages(*nodes.messages, c.world, c.groups, values);
  }
  if (nodes.transcript != nullptr) {
    c.transcripts = parse_transcripts(*nodes.transcript, c.world, c.groups);
  }
  c.canonical = to_json(document);
  c.canonical["name"] = c.name;
  c.canonical.erase("axes");
  return c;
}

/// Adds what stands as a `group` anywhere in a document.
void add_named_groups(const nlohmann::json& node, std::set<std::string>& named) {
  for (const auto& [key, value] : node.items()) {
    if (node.is_object() && key == "group" && value.is_string()) named.insert(value);
    if (value.is_structured()) add_named_groups(value, named);
  }
}

/// A group that nothing names changes nothing, and may be a misspelt one.
void check_groups_are_used(const Node& document, const std::vector<Case>& cases) {
  const Node* groups = find_key(document, "groups");
  if (groups == nullptr) return;
  std::set<std::string> named{"default"};
  for (const Case& c : cases) add_named_groups(c.canonical, named);
  for (const auto& [key, unused] : *groups->map()) {
    const std::string name = read_string(key, "the name of a group");
    if (named.contains(name)) continue;
    refuse(key, "groups", concat("groups that a step names; `group: ", name, "` stands nowhere"));
  }
}

}  // namespace

std::vector<Case> parse_cases(const Node& document) {
  if (document.map() == nullptr) refuse(document, "a case", "a mapping");
  std::vector<Case> cases;
  for (const Scope& choice : choices_of_axes(find_key(document, "axes"))) {
    cases.push_back(parse_case(document, choice));
  }
  check_axes_are_used(document);
  check_groups_are_used(document, cases);
  return cases;
}

}  // namespace tdconf
