// SPDX-License-Identifier: BSD-3-Clause
#include "runner/case_tests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "values/text.h"

namespace tdconf {
namespace {

class CaseTest : public testing::Test {
 public:
  CaseTest(const Case& c, const RunCase& run_case) : case_(c), run_case_(run_case) {}

  void TestBody() override {
    const std::string failure = run_case_(case_);
    if (!failure.empty()) ADD_FAILURE_AT(case_.where.file->c_str(), case_.where.line) << failure;
  }

 private:
  const Case& case_;
  const RunCase& run_case_;
};

std::string filterable(std::string text) {
  std::ranges::replace_if(
      text,
      [](char c) { return std::string_view(":*?-. ").find(c) != std::string_view::npos; },
      '_');
  return text;
}

}  // namespace

std::string test_name(const Case& c) {
  const std::size_t slash = c.name.find('/');
  return concat(filterable(c.name.substr(0, slash)), ".", filterable(c.name.substr(slash + 1)));
}

void register_case_tests(const std::vector<Case>& cases, const RunCase& run_case) {
  std::map<std::string, const Case*> registered;
  for (const Case& c : cases) {
    const std::string name = test_name(c);
    const auto [earlier, is_new] = registered.emplace(name, &c);
    if (!is_new) {
      refuse(c.where,
             "id",
             concat("`", c.name, "`"),
             concat("names that differ from ", earlier->second->name, " in more than punctuation"));
    }
    const std::size_t dot = name.find('.');
    testing::RegisterTest(
        name.substr(0, dot).c_str(),
        name.substr(dot + 1).c_str(),
        nullptr,
        nullptr,
        c.where.file->c_str(),
        c.where.line,
        [&c, &run_case]() -> testing::Test* { return new CaseTest(c, run_case); });
  }
}

}  // namespace tdconf
