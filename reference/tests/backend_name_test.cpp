// SPDX-License-Identifier: BSD-3-Clause
#include "group/backend_name.h"

#include <c10/util/Exception.h>
#include <gmock/gmock.h>

namespace tdref {
namespace {

TEST(BackendName, IsKeptInLowerCase) {
  EXPECT_EQ(parse_backend_name("GLOO").name, "gloo");
  EXPECT_EQ(parse_backend_name("cpu:gloo,cuda:gloo").name, "cpu:gloo,cuda:gloo");
}

TEST(BackendName, StorePrefixIsTheFirstDevice) {
  EXPECT_EQ(parse_backend_name("gloo").store_prefix, "cpu/");
  EXPECT_EQ(parse_backend_name("undefined").store_prefix, "cpu/");
  EXPECT_EQ(parse_backend_name("cpu:gloo,cuda:gloo").store_prefix, "cpu/");
  EXPECT_EQ(parse_backend_name("cuda:gloo,cpu:gloo").store_prefix, "cuda/");
}

TEST(BackendName, RejectsOthers) {
  for (const char* name : {"", "nccl", "cpu", "cpu:mpi", "cpu:gloo,cuda:nccl", "cuda:gloo"}) {
    EXPECT_THROW(parse_backend_name(name), c10::ValueError) << name;
  }
}

}  // namespace
}  // namespace tdref
