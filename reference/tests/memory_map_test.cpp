// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/memory_map.h>
#include <tdref/recv.h>
#include <tdref/send.h>

#include <filesystem>
#include <string>

#include "files.h"
#include "ranks.h"
#include "trees.h"

namespace tdref {
namespace {

bool is_mapped_from_a_file(const at::Tensor& tensor) {
  return testing::file_behind(tensor).find("/tdref-") != std::string::npos;
}

TEST(MemoryMap, CopiesATensorIntoAFile) {
  const auto source = testing::ramp(1, 6).view({2, 3}).t();
  const auto leaf = memory_map(source);
  EXPECT_EQ(leaf.cls, kMemoryMappedTensor);
  EXPECT_TRUE(leaf.tensor.equal(source));
  EXPECT_TRUE(is_mapped_from_a_file(leaf.tensor));
  EXPECT_FALSE(is_mapped_from_a_file(source));
}

TEST(MemoryMap, LeavesNoFileBehind) {
  const auto directory = std::filesystem::path(::testing::TempDir()) / "memory-map-test";
  std::filesystem::create_directory(directory);
  const char* before = std::getenv("TMPDIR");
  const std::string old = before == nullptr ? "" : before;
  setenv("TMPDIR", directory.c_str(), 1);
  const auto leaf = memory_map(testing::ramp(1, 2));
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", old.c_str(), 1);
  EXPECT_TRUE(is_mapped_from_a_file(leaf.tensor));
  EXPECT_TRUE(std::filesystem::is_empty(directory));
  std::filesystem::remove(directory);
}

TEST(MemoryMap, OfNoElementsMapsNothing) {
  EXPECT_EQ(memory_map(at::zeros({0, 3})).tensor.sizes(), at::IntArrayRef({0, 3}));
}

TEST(MemoryMap, RefusesWhatHasNoBytes) {
  EXPECT_THROW(memory_map(at::eye(2).to_sparse()), c10::NotImplementedError);
  EXPECT_THROW(memory_map(at::empty({2}, at::kMeta)), c10::NotImplementedError);
}

TEST(SendRecv, WriteIntoAMemoryMappedLeaf) {
  testing::run_ranks(2, [](World& world, int rank) {
    TensorDict td;
    td.set("a", memory_map(testing::ramp(rank == 0 ? 1 : 5, 2)));
    if (rank == 0) {
      send(world, td, {.dst = 1});
    } else {
      const auto mapped = td.get("a").tensor();
      recv(world, td, {.src = 0});
      EXPECT_TRUE(mapped.equal(testing::ramp(1, 2)));
    }
  });
}

}  // namespace
}  // namespace tdref
