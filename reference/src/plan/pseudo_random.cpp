// SPDX-License-Identifier: BSD-3-Clause
#include "plan/pseudo_random.h"

#include <array>

namespace tdref {
namespace {

using Uint128 = unsigned __int128;
using SeedPool = std::array<std::uint32_t, 4>;

constexpr std::uint32_t xor_shift(std::uint32_t value) {
  return value ^ (value >> 16);
}

// One round of SeedSequence's hash, whose constant changes with every use.
class SeedHash {
 public:
  constexpr SeedHash(std::uint32_t initial, std::uint32_t multiplier)
      : constant_(initial), multiplier_(multiplier) {}

  constexpr std::uint32_t operator()(std::uint32_t value) {
    value ^= constant_;
    constant_ *= multiplier_;
    return xor_shift(value * constant_);
  }

 private:
  std::uint32_t constant_;
  std::uint32_t multiplier_;
};

SeedPool mix_entropy(std::uint64_t seed) {
  SeedHash hash(0x43b0d7e5, 0x931e8875);
  SeedPool pool{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32), 0, 0};
  for (auto& word : pool) {
    word = hash(word);
  }
  for (std::size_t from = 0; from < pool.size(); ++from) {
    for (std::size_t to = 0; to < pool.size(); ++to) {
      if (from != to) {
        pool[to] = xor_shift(0xca01f9ddU * pool[to] - 0x4973f715U * hash(pool[from]));
      }
    }
  }
  return pool;
}

// SeedSequence(seed).generate_state(4, uint64)
std::array<std::uint64_t, 4> generate_state(std::uint64_t seed) {
  const SeedPool pool = mix_entropy(seed);
  SeedHash hash(0x8b51f9dd, 0x58f38ded);
  std::array<std::uint64_t, 4> state{};
  for (std::size_t half = 0; half < 8; ++half) {
    state[half / 2] |= std::uint64_t{hash(pool[half % 4])} << (32 * (half % 2));
  }
  return state;
}

constexpr Uint128 join(std::uint64_t high, std::uint64_t low) {
  return (Uint128{high} << 64) | low;
}

// The first 64-bit output of PCG64 seeded as numpy.random.PCG64(seed) is.
std::uint64_t first_output(std::uint64_t seed) {
  constexpr Uint128 kMultiplier = join(0x2360ed051fc65da4, 0x4385df649fccf645);
  const auto words = generate_state(seed);
  const Uint128 increment = (join(words[2], words[3]) << 1) | 1;
  Uint128 state = increment;  // one step from 0
  state = (state + join(words[0], words[1])) * kMultiplier + increment;
  state = state * kMultiplier + increment;
  const auto folded = static_cast<std::uint64_t>(state >> 64) ^ static_cast<std::uint64_t>(state);
  const auto rotation = static_cast<unsigned>(state >> 122);
  return (folded >> rotation) | (folded << ((64 - rotation) % 64));
}

}  // namespace

int pseudo_random_tag(std::uint64_t seed) {
  // bytes(8) stores the output little-endian; int.from_bytes reads it big-endian.
  return static_cast<int>(__builtin_bswap64(first_output(seed)) % 10000);
}

}  // namespace tdref
