// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tdref {

/// Returns `int.from_bytes(numpy.random.default_rng(seed).bytes(8), 'big') % 10000`.
///
/// Source  tensordict 0.15.3 utils._int_generator; numpy's SeedSequence and PCG64 (XSL-RR)
int pseudo_random_tag(std::uint64_t seed);

/// Yields the tags of a transfer with pseudo_rand: the first is drawn with the seed init_tag, each
/// next one with the seed `previous tag + 1`. The chain repeats itself after at most 204 tags.
class PseudoRandomTags {
 public:
  explicit PseudoRandomTags(std::uint64_t init_tag) : seed_(init_tag) {}

  int next() {
    const int tag = pseudo_random_tag(seed_);
    seed_ = static_cast<std::uint64_t>(tag) + 1;
    return tag;
  }

 private:
  std::uint64_t seed_;
};

}  // namespace tdref
