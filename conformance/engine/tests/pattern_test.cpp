// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/pattern.h"

#include <gmock/gmock.h>

#include "engine/case/selection.h"
#include "engine/tests/support.h"
#include "values/text.h"

namespace tdconf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Pattern, AStarStaysInsideOneComponent) {
  EXPECT_TRUE(matches("p2p/*/tags", "p2p/send/tags"));
  EXPECT_TRUE(matches("p2p/s*d/t*", "p2p/send/tags"));
  EXPECT_TRUE(matches("p2p/*/init_tag=*", "p2p/send/init_tag=5"));
  EXPECT_FALSE(matches("p2p/*", "p2p/send/tags"));
  EXPECT_FALSE(matches("p2p/*/tags", "p2p/tags"));
}

TEST(Pattern, TwoStarsSpanComponents) {
  EXPECT_TRUE(matches("p2p/**", "p2p/send/tags"));
  EXPECT_TRUE(matches("**/tags", "p2p/send/tags"));
  EXPECT_TRUE(matches("p2p/**/tags", "p2p/tags"));
  EXPECT_TRUE(matches("**", "p2p"));
  EXPECT_FALSE(matches("p2p/**", "p2q/send"));
}

TEST(Pattern, ManyStarsTakeNoLongerThanTheProductOfTheLengths) {
  const std::string name(120, 'a');
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a";
  EXPECT_TRUE(matches(pattern, name));
  EXPECT_FALSE(matches(pattern + "*b", name));
  std::string path;
  std::string spans;
  for (int i = 0; i < 60; ++i) {
    path += "a/";
    spans += "**/a/";
  }
  EXPECT_TRUE(matches(spans + "b", path + "b"));
  EXPECT_FALSE(matches(spans + "**/b", path + "c"));
}

TEST(Pattern, StarsGiveBackWhatTheRestNeeds) {
  EXPECT_TRUE(matches("*ab*b", "aabab"));
  EXPECT_TRUE(matches("**/a/*/c", "a/b/a/b/c"));
  EXPECT_FALSE(matches("*ab", "aba"));
  EXPECT_FALSE(matches("**/a/*/c", "a/b/c/d"));
}

TEST(Pattern, WithoutStarsOnlyTheNameItself) {
  EXPECT_TRUE(matches("p2p/send", "p2p/send"));
  EXPECT_FALSE(matches("p2p/send", "p2p/send/tags"));
  EXPECT_FALSE(matches("p2p/sen", "p2p/send"));
}

Case named(const std::string& name, const std::string& clause, Level level) {
  Case c;
  c.name = name;
  c.clauses = {clause};
  c.level = level;
  return c;
}

std::vector<Case> some_cases() {
  std::vector<Case> cases{named("a/x/tag=0", "send.tags", Level::kMust),
                          named("a/x/tag=1", "send.tags", Level::kMust),
                          named("b/y", "recv.tags", Level::kCompat)};
  cases[0].axes = {{"tag", "0"}};
  cases[1].axes = {{"tag", "1"}};
  return cases;
}

std::vector<std::string> names(const std::vector<Case>& cases) {
  std::vector<std::string> result;
  for (const Case& c : cases) result.push_back(c.name);
  return result;
}

TEST(Select, EveryKindOfChoiceNarrows) {
  EXPECT_THAT(names(select(some_cases(), {.run = {"a/**"}})),
              ElementsAre("a/x/tag=0", "a/x/tag=1"));
  EXPECT_THAT(names(select(some_cases(), {.skip = {"a/**"}})), ElementsAre("b/y"));
  EXPECT_THAT(names(select(some_cases(), {.clauses = {"*.tags"}})),
              ElementsAre("a/x/tag=0", "a/x/tag=1", "b/y"));
  EXPECT_THAT(names(select(some_cases(), {.clauses = {"recv.*"}})), ElementsAre("b/y"));
  EXPECT_THAT(names(select(some_cases(), {.levels = {"compat"}})), ElementsAre("b/y"));
  EXPECT_THAT(names(select(some_cases(), {.axes = {"tag=1"}})), ElementsAre("a/x/tag=1"));
  EXPECT_THAT(names(select(some_cases(), {.axes = {"tag=1", "tag=0"}})),
              ElementsAre("a/x/tag=0", "a/x/tag=1"));
}

TEST(Select, AChoiceThatMatchesNothingIsNamed) {
  const auto refusal = [](const Selection& selection) {
    return [selection] { select(some_cases(), selection); };
  };
  EXPECT_THAT(refusal({.run = {"a/**", "c/**"}}),
              ThrowsMessage<InputError>("--run: `c/**` matches no case"));
  EXPECT_THAT(refusal({.skip = {"c"}}), ThrowsMessage<InputError>("--skip: `c` matches no case"));
  EXPECT_THAT(refusal({.clauses = {"x"}}),
              ThrowsMessage<InputError>("--clause: `x` matches no case"));
  EXPECT_THAT(refusal({.levels = {"sound"}}),
              ThrowsMessage<InputError>("--level: `sound` matches no case"));
  EXPECT_THAT(refusal({.axes = {"tag=2"}}),
              ThrowsMessage<InputError>("--axis: `tag=2` matches no case"));
  EXPECT_THAT(refusal({.run = {"a/**"}, .levels = {"compat"}}),
              ThrowsMessage<InputError>(HasSubstr("no case matches all")));
}

TEST(Select, ShardsPartTheCases) {
  std::vector<Case> cases;
  for (int i = 0; i < 50; ++i) cases.push_back(named(concat("a/", i), "c", Level::kMust));
  std::vector<std::string> together;
  for (const std::uint64_t index : {0U, 1U, 2U}) {
    const auto shard = names(select(cases, {.shard = Part{index, 3}}));
    EXPECT_LT(shard.size(), 30U);
    together.insert(together.end(), shard.begin(), shard.end());
  }
  EXPECT_THAT(together, ::testing::UnorderedElementsAreArray(names(cases)));
}

TEST(Deal, GivesEachJobEveryNthCase) {
  EXPECT_THAT(names(deal(some_cases(), {0, 2})), ElementsAre("a/x/tag=0", "b/y"));
  EXPECT_THAT(names(deal(some_cases(), {1, 2})), ElementsAre("a/x/tag=1"));
  EXPECT_TRUE(deal(some_cases(), {3, 4}).empty());
}

TEST(Part, CountsFromZero) {
  EXPECT_EQ(parse_part("1/3", "--shard").index, 1U);
  for (const char* text : {"3/3", "1", "/3", "1/", "a/b", "1/3x", "0/0", "-1/3"}) {
    EXPECT_THROW(parse_part(text, "--shard"), InputError) << text;
  }
}

}  // namespace
}  // namespace tdconf
