// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/fixtures.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/case/case_parser.h"
#include "engine/input/reader.h"
#include "values/sha256.h"
#include "values/text.h"

namespace tdconf {
namespace {

namespace fs = std::filesystem;

std::vector<Node> documents_of(const std::string& path) {
  std::vector<Node> documents = parse_yaml_file(path);
  std::erase_if(documents, [](const Node& document) { return document.is_null(); });
  if (documents.empty()) throw InputError(concat(path, ": the file holds nothing"));
  return documents;
}

/// A document of this shape lends its values to the cases after it in the file.
bool only_lends_values(const Node& document) {
  return document.map() != nullptr && document.map()->size() == 1 &&
         find_key(document, "values") != nullptr;
}

void lend(const Node::Map& lent, Node& document) {
  auto* keys = std::get_if<Node::Map>(&document.content);
  if (keys == nullptr || lent.empty()) return;
  const auto is_values = [](const NodePair& pair) { return *pair.key.scalar() == "values"; };
  auto own = std::ranges::find_if(*keys, is_values);
  if (own == keys->end()) {
    keys->push_back({{document.where, "values"}, {document.where, Node::Map{}}});
    own = std::prev(keys->end());
  }
  auto* values = std::get_if<Node::Map>(&own->value.content);
  if (values == nullptr) return;
  for (const NodePair& pair : lent) {
    const std::string name = read_string(pair.key, "the name of a value");
    if (const Node* again = find_key(own->value, name)) {
      refuse(
          again->where, "values", concat("`", name, "`, which the file lends"), "each name once");
    }
  }
  values->insert(values->end(), lent.begin(), lent.end());
}

std::vector<Node> cases_of(const std::string& path) {
  std::vector<Node> cases;
  Node::Map lent;
  for (Node& document : documents_of(path)) {
    if (only_lends_values(document)) {
      lent = read_map(*find_key(document, "values"), "values");
    } else {
      lend(lent, document);
      cases.push_back(std::move(document));
    }
  }
  if (cases.empty()) throw InputError(concat(path, ": the file holds no case"));
  return cases;
}

void collect_files(const fs::path& folder, std::vector<std::string>& files) {
  std::vector<fs::path> entries{fs::directory_iterator(folder), {}};
  std::ranges::sort(entries);
  const std::size_t before = files.size();
  for (const fs::path& entry : entries) {
    if (fs::is_directory(entry)) {
      collect_files(entry, files);
    } else if (entry.extension() == ".yml") {
      throw InputError(concat(entry.string(), ": got the extension .yml, allowed: .yaml"));
    } else if (entry.extension() == ".yaml" && entry.filename() != "clauses.yaml") {
      files.push_back(entry.string());
    }
  }
  if (files.size() == before)
    throw InputError(concat(folder.string(), ": the folder holds no case"));
}

std::vector<std::string> files_below(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (fs::is_directory(path)) {
      collect_files(path, files);
    } else {
      files.push_back(path);
    }
  }
  return files;
}

void check_names(const std::vector<Case>& cases) {
  for (std::size_t i = 1; i < cases.size(); ++i) {
    if (cases[i].name != cases[i - 1].name) continue;
    throw InputError(concat(to_string(cases[i].where),
                            ": in id: got `",
                            cases[i].name,
                            "` again, first at ",
                            to_string(cases[i - 1].where),
                            ", allowed: each expanded name once"));
  }
}

}  // namespace

std::vector<Case> load_fixtures(const std::vector<std::string>& paths) {
  std::vector<Case> cases;
  std::map<std::string, Location> ids;
  for (const std::string& file : files_below(paths)) {
    for (const Node& document : cases_of(file)) {
      std::vector<Case> expanded = parse_cases(document);
      const auto [first, is_new] = ids.emplace(expanded.front().id, document.where);
      if (!is_new) {
        refuse(document.where,
               "id",
               concat("`", expanded.front().id, "` again, first at ", to_string(first->second)),
               "each id once");
      }
      std::ranges::move(expanded, std::back_inserter(cases));
    }
  }
  std::ranges::stable_sort(cases, {}, &Case::name);
  check_names(cases);
  return cases;
}

std::set<std::string> load_clauses(const std::string& path) {
  std::set<std::string> registry;
  for (const Node& document : documents_of(path)) {
    for (const Node& clause : read_list(document, "the clause registry")) {
      MapReader reader(clause, "a clause");
      const Node& id = reader.required("id");
      if (!registry.insert(read_string(id, "id")).second) refuse(id, "id", "each clause once");
    }
  }
  return registry;
}

void check_clauses(const std::vector<Case>& cases, const std::set<std::string>& registry) {
  for (const Case& c : cases) {
    for (const std::string& clause : c.clauses) {
      if (registry.contains(clause)) continue;
      throw InputError(concat(to_string(c.where),
                              ": in clauses of ",
                              c.id,
                              ": got `",
                              clause,
                              "`, allowed: ids of the clause registry"));
    }
  }
}

std::string manifest_digest(const std::vector<Case>& cases) {
  std::map<std::string, const Case*> sorted;
  for (const Case& c : cases) sorted[c.name] = &c;
  std::string text;
  for (const auto& [name, c] : sorted) text += concat(c->canonical.dump(), "\n");
  return sha256_hex(std::string_view(text));
}

}  // namespace tdconf
