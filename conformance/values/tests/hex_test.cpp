// SPDX-License-Identifier: BSD-3-Clause
#include "values/hex.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "values/sha256.h"

namespace tdconf {
namespace {

TEST(Hex, RoundTrips) {
  EXPECT_EQ(encode_hex(Bytes{0x00, 0x1f, 0xa0}), "001fa0");
  EXPECT_EQ(decode_hex("001Fa0"), (Bytes{0x00, 0x1f, 0xa0}));
  EXPECT_TRUE(decode_hex("").empty());
}

TEST(Hex, RefusesOddCountsAndOtherCharacters) {
  EXPECT_THROW(decode_hex("0"), std::invalid_argument);
  EXPECT_THROW(decode_hex("0g"), std::invalid_argument);
}

// The first example of FIPS 180-2, appendix B, and the digest of nothing.
TEST(Sha256, MatchesPublishedExamples) {
  EXPECT_EQ(sha256_hex(std::string_view("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(Bytes{}),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

}  // namespace
}  // namespace tdconf
