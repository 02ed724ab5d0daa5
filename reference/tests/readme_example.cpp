// SPDX-License-Identifier: BSD-3-Clause
// Plays one rank of the example in ../README.md: rank 0 gives, rank 1 prints what it takes.
#include <ATen/ATen.h>
#include <readme_example.h>  // made of the README by CMakeLists.txt

#include <chrono>
#include <iostream>
#include <string>
#include <torch/csrc/distributed/c10d/FileStore.hpp>

namespace {

at::Tensor image(int first) {
  return at::arange(first, first + 4, at::kFloat).view({2, 2});
}

}  // namespace

int main(int argc, char** argv) {
  TORCH_CHECK_VALUE(argc == 3, "usage: readme_example STORE RANK");
  const int rank = std::stoi(argv[2]);
  const auto world =
      tdref::World::init_process_group(c10::make_intrusive<c10d::FileStore>(argv[1], 2),
                                       rank,
                                       2,
                                       {.timeout = std::chrono::seconds(60)});
  if (rank == 0) {
    give(world, {.image = image(0), .origin = "camera"}, {.image = image(10)});
    return 0;
  }
  const auto sample = take(world);
  const auto image = sample.image.contiguous();
  for (const float element : c10::ArrayRef<float>(image.const_data_ptr<float>(), image.numel())) {
    std::cout << element << ' ';
  }
  std::cout << sample.origin.value_or("None") << '\n';
}
