// SPDX-License-Identifier: BSD-3-Clause
#include "common/tree.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tdconf::bench {
namespace {

using testing::ElementsAre;

Case case_of(std::int64_t leaves, std::int64_t depth) {
  Case c;
  c.leaves = leaves;
  c.bytes = 8;
  c.depth = depth;
  return c;
}

TEST(MakeTree, NamesLeavesInTheOrderInWhichTheySort) {
  const auto c = case_of(3, 0);
  EXPECT_THAT(make_tree(c, new_leaves(c)).keys(), ElementsAre("l0000", "l0001", "l0002"));
}

// Leaf i of 5 lies i * 3 / 5 levels below the root: 0, 0, 1, 1, 2.
TEST(MakeTree, NestsLeavesInAChain) {
  const auto c = case_of(5, 2);
  const auto td = make_tree(c, new_leaves(c));
  EXPECT_THAT(td.keys(), ElementsAre("l0000", "l0001", "n"));
  const auto* below = td.get("n").nested()->as<tdref::TensorDict>();
  EXPECT_THAT(below->keys(), ElementsAre("l0002", "l0003", "n"));
  EXPECT_THAT(below->get("n").nested()->as<tdref::TensorDict>()->keys(), ElementsAre("l0004"));
}

// Leaf 1 of 2 lies 1 * 5 / 2 levels below the root.
TEST(MakeTree, SkipsLevelsWithoutLeaves) {
  const auto c = case_of(2, 4);
  const auto leaves = new_leaves(c);
  const auto td = make_tree(c, leaves);
  EXPECT_TRUE(td.get({"n", "n", "l0001"}).tensor().is_same(leaves[1]));
}

TEST(LeavesOf, ReturnsTheLeavesInTheirOrder) {
  const auto c = case_of(7, 3);
  const auto leaves = new_leaves(c);
  const auto found = leaves_of(make_tree(c, leaves));
  ASSERT_EQ(found.size(), leaves.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    EXPECT_TRUE(found[i].is_same(leaves[i])) << i;
  }
}

}  // namespace
}  // namespace tdconf::bench
