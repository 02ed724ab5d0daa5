// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/selection.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>

#include "engine/case/pattern.h"
#include "values/text.h"

namespace tdconf {
namespace {

using Test = std::function<bool(const Case&)>;

std::vector<std::string> read_patterns(const std::string& path, const std::string& option) {
  std::ifstream file(path);
  if (!file) throw InputError(concat(option, ": ", path, " cannot be read"));
  std::vector<std::string> patterns;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') patterns.push_back(line);
  }
  if (patterns.empty()) throw InputError(concat(option, ": ", path, " holds no pattern"));
  return patterns;
}

std::vector<std::string> expand_files(const std::vector<std::string>& given,
                                      const std::string& option) {
  std::vector<std::string> patterns;
  for (const std::string& pattern : given) {
    if (!pattern.starts_with('@')) {
      patterns.push_back(pattern);
      continue;
    }
    std::ranges::move(read_patterns(pattern.substr(1), option), std::back_inserter(patterns));
  }
  return patterns;
}

std::string with_slashes(std::string clause) {
  std::ranges::replace(clause, '.', '/');
  return clause;
}

bool has_clause(const Case& c, const std::string& pattern) {
  return std::ranges::any_of(c.clauses, [&](const std::string& clause) {
    return matches(with_slashes(pattern), with_slashes(clause));
  });
}

bool has_axis(const Case& c, const std::string& choice) {
  const std::size_t equals = choice.find('=');
  if (equals == std::string::npos)
    throw InputError(concat("--axis: got `", choice, "`, allowed: NAME=VALUE"));
  const auto axis = c.axes.find(choice.substr(0, equals));
  return axis != c.axes.end() && axis->second == choice.substr(equals + 1);
}

/// Returns a test that holds when any of the choices does; each must hold for some case.
Test any_of(const std::vector<Case>& cases,
            const std::vector<std::string>& choices,
            const std::string& option,
            const std::function<bool(const Case&, const std::string&)>& holds) {
  for (const std::string& choice : choices) {
    if (std::ranges::none_of(cases, [&](const Case& c) { return holds(c, choice); })) {
      throw InputError(concat(option, ": `", choice, "` matches no case"));
    }
  }
  return [choices, holds](const Case& c) {
    return std::ranges::any_of(choices,
                               [&](const std::string& choice) { return holds(c, choice); });
  };
}

/// FNV-1a: the same on every machine, and a case stays in its shard when others are added.
std::uint64_t stable_hash(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char character : name) {
    hash ^= static_cast<std::uint8_t>(character);
    hash *= 0x100000001b3U;
  }
  return hash;
}

}  // namespace

Part parse_part(const std::string& text, const std::string& option) {
  Part part;
  const char* end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, part.index);
  const bool has_slash = index.ec == std::errc() && index.ptr != end && *index.ptr == '/';
  const auto count = has_slash ? std::from_chars(index.ptr + 1, end, part.count) : index;
  if (!has_slash || count.ec != std::errc() || count.ptr != end || part.index >= part.count) {
    throw InputError(concat(option, ": got `", text, "`, allowed: I/N with I from 0 to N-1"));
  }
  return part;
}

std::vector<Case> select(std::vector<Case> cases, const Selection& selection) {
  const auto name_matches = [](const Case& c, const std::string& pattern) {
    return matches(pattern, c.name);
  };
  const auto has_level = [](const Case& c, const std::string& level) {
    return to_string(c.level) == level;
  };
  std::vector<Test> tests;
  const auto require =
      [&](const std::vector<std::string>& choices, const char* option, const auto& holds) {
        if (!choices.empty()) tests.push_back(any_of(cases, choices, option, holds));
      };
  require(expand_files(selection.run, "--run"), "--run", name_matches);
  require(selection.clauses, "--clause", has_clause);
  require(selection.levels, "--level", has_level);
  // Choices for one axis are alternatives, those for different axes are all required.
  std::map<std::string, std::vector<std::string>> by_axis;
  for (const std::string& choice : selection.axes)
    by_axis[choice.substr(0, choice.find('='))].push_back(choice);
  for (const auto& [axis, choices] : by_axis) require(choices, "--axis", has_axis);
  if (const auto skipped = expand_files(selection.skip, "--skip"); !skipped.empty()) {
    tests.emplace_back(std::not_fn(any_of(cases, skipped, "--skip", name_matches)));
  }
  if (selection.shard) {
    tests.emplace_back([part = *selection.shard](const Case& c) {
      return stable_hash(c.name) % part.count == part.index;
    });
  }
  std::erase_if(cases, [&](const Case& c) {
    return !std::ranges::all_of(tests, [&](const Test& test) { return test(c); });
  });
  if (cases.empty()) throw InputError("the selection: no case matches all of its choices");
  return cases;
}

std::vector<Case> deal(std::vector<Case> cases, const Part& job) {
  std::vector<Case> dealt;
  for (std::size_t i = job.index; i < cases.size(); i += job.count)
    dealt.push_back(std::move(cases[i]));
  return dealt;
}

}  // namespace tdconf
