// SPDX-License-Identifier: BSD-3-Clause
#include "plan/pseudo_random.h"

#include <gmock/gmock.h>

#include <vector>

namespace tdref {
namespace {

using ::testing::ElementsAre;

// The numbers are numpy 2's: int.from_bytes(numpy.random.default_rng(seed).bytes(8), 'big') %
// 10000.

std::vector<int> chain(std::uint64_t init_tag) {
  PseudoRandomTags tags(init_tag);
  std::vector<int> chain;
  for (int i = 0; i < 6; ++i) {
    chain.push_back(tags.next());
  }
  return chain;
}

TEST(PseudoRandomTag, EqualsNumpys) {
  EXPECT_EQ(pseudo_random_tag(0), 9651);
  EXPECT_EQ(pseudo_random_tag(1), 1907);
  EXPECT_EQ(pseudo_random_tag(2), 2722);
  EXPECT_EQ(pseudo_random_tag(3), 8485);
  EXPECT_EQ(pseudo_random_tag(4), 3521);
}

TEST(PseudoRandomTags, EachIsDrawnWithTheSeedAfterTheOneBefore) {
  EXPECT_THAT(chain(0), ElementsAre(9651, 3450, 3834, 3840, 6573, 1777));
  EXPECT_THAT(chain(7), ElementsAre(1728, 3415, 307, 1039, 3540, 5668));
  EXPECT_THAT(chain(49), ElementsAre(812, 6, 1728, 3415, 307, 1039));
  EXPECT_THAT(chain(309), ElementsAre(7611, 8327, 5844, 7611, 8327, 5844));
}

TEST(PseudoRandomTags, TakeSeedsOfMoreThan32Bits) {
  EXPECT_THAT(chain(2147483648), ElementsAre(1959, 4070, 4103, 5867, 2260, 5336));
  EXPECT_THAT(chain(4294967295), ElementsAre(5616, 4751, 7393, 3633, 9729, 2418));
  EXPECT_THAT(chain(4294967296), ElementsAre(8339, 8755, 5387, 9575, 3018, 9587));
  EXPECT_THAT(chain(9223372036854775807), ElementsAre(5036, 7661, 3060, 8417, 108, 6539));
}

}  // namespace
}  // namespace tdref
