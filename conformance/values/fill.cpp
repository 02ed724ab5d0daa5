// SPDX-License-Identifier: BSD-3-Clause
#include "values/fill.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "values/small_float.h"
#include "values/text.h"

namespace tdconf {
namespace {

static_assert(std::endian::native == std::endian::little,
              "elements are copied as they lie in memory");

using Number = std::variant<std::int64_t, double>;

template <typename T>
void append(Bytes& bytes, T element) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&element);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

[[noreturn]] void refuse(const Number& number, const DType& dtype) {
  const std::string text =
      std::visit([](auto value) { return nlohmann::json(value).dump(); }, number);
  throw std::invalid_argument(
      concat("a fill gives ", text, ", which ", dtype.name, " cannot represent exactly"));
}

template <typename Float>
Float convert_exactly(const Number& number, const DType& dtype) {
  return std::visit(
      [&](auto value) {
        const auto converted = static_cast<Float>(value);
        // A long double holds every int64 and every double, so that nothing is rounded here.
        const bool is_exact =
            static_cast<long double>(converted) == static_cast<long double>(value);
        if (!is_exact) refuse(number, dtype);
        return converted;
      },
      number);
}

std::uint16_t encode_small(const Number& number, const DType& dtype) {
  const auto bits =
      encode_exactly(convert_exactly<double>(number, dtype), small_float_format(dtype));
  if (!bits) refuse(number, dtype);
  return *bits;
}

void append_float(Bytes& bytes, const Number& number, const DType& dtype, std::size_t part_bytes) {
  if (part_bytes == 8) return append(bytes, convert_exactly<double>(number, dtype));
  if (part_bytes == 4) return append(bytes, convert_exactly<float>(number, dtype));
  const std::uint16_t bits = encode_small(number, dtype);
  if (part_bytes == 2) return append(bytes, bits);
  append(bytes, static_cast<std::uint8_t>(bits));
}

std::int64_t whole(const Number& number, const DType& dtype) {
  if (const auto* integer = std::get_if<std::int64_t>(&number)) return *integer;
  const double value = std::get<double>(number);
  if (value != std::floor(value) || std::fabs(value) >= 0x1p63) refuse(number, dtype);
  return static_cast<std::int64_t>(value);
}

void append_integer(Bytes& bytes, std::int64_t value, std::size_t size_bytes) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), begin, begin + size_bytes);
}

/// Integer arithmetic modulo 2^64, so that long ramps wrap instead of overflowing.
std::int64_t ramp_element(const Ramp& ramp, std::int64_t index) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(ramp.start) +
                                   static_cast<std::uint64_t>(ramp.step) *
                                       static_cast<std::uint64_t>(index));
}

std::int64_t negative(std::int64_t value) {
  return static_cast<std::int64_t>(-static_cast<std::uint64_t>(value));
}

void append_elements(Bytes& bytes, const Ramp& ramp, const DType& dtype, std::int64_t numel) {
  for (std::int64_t i = 0; i < numel; ++i) {
    const std::int64_t value = ramp_element(ramp, i);
    switch (dtype.kind) {
      case DTypeKind::kBool:
        bytes.push_back(static_cast<std::uint8_t>(value & 1));
        break;
      case DTypeKind::kInteger:
        append_integer(bytes, value, dtype.size_bytes);
        break;
      case DTypeKind::kFloat:
        append_float(bytes, value, dtype, dtype.size_bytes);
        break;
      case DTypeKind::kComplex:
        append_float(bytes, value, dtype, dtype.size_bytes / 2);
        append_float(bytes, negative(value), dtype, dtype.size_bytes / 2);
        break;
    }
  }
}

void append_elements(Bytes& bytes,
                     const Constant& constant,
                     const DType& dtype,
                     std::int64_t numel) {
  for (std::int64_t i = 0; i < numel; ++i) {
    switch (dtype.kind) {
      case DTypeKind::kBool:
        bytes.push_back(std::visit([](auto value) { return value != 0; }, constant.value));
        break;
      case DTypeKind::kInteger:
        append_integer(bytes, whole(constant.value, dtype), dtype.size_bytes);
        break;
      case DTypeKind::kFloat:
        append_float(bytes, constant.value, dtype, dtype.size_bytes);
        break;
      case DTypeKind::kComplex:
        append_float(bytes, constant.value, dtype, dtype.size_bytes / 2);
        append_float(bytes, std::int64_t{0}, dtype, dtype.size_bytes / 2);
        break;
    }
  }
}

void append_elements(Bytes& bytes, const Bits& bits, const DType& dtype, std::int64_t numel) {
  if (bits.pattern.empty()) throw std::invalid_argument("a fill `bits` has no bytes");
  if (dtype.kind == DTypeKind::kBool) {
    for (const std::uint8_t byte : bits.pattern) {
      if (byte > 1)
        throw std::invalid_argument("a fill `bits` of bool has a byte other than 00 and 01");
    }
  }
  const std::size_t size_bytes = static_cast<std::size_t>(numel) * dtype.size_bytes;
  for (std::size_t k = 0; k < size_bytes; ++k)
    bytes.push_back(bits.pattern[k % bits.pattern.size()]);
}

/// The finaliser of splitmix64.
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15U;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
  z = (z ^ z >> 27) * 0x94d049bb133111ebU;
  return z ^ z >> 31;
}

void append_elements(Bytes& bytes,
                     const Scramble& scramble,
                     const DType& dtype,
                     std::int64_t numel) {
  const std::uint64_t size_bytes = static_cast<std::uint64_t>(numel) * dtype.size_bytes;
  const std::uint8_t mask = dtype.kind == DTypeKind::kBool ? 0x01 : 0xff;
  for (std::uint64_t k = 0; k < size_bytes; ++k) {
    const std::uint64_t mixed = mix((scramble.seed << 32) + k);
    bytes.push_back(static_cast<std::uint8_t>(mixed >> 56) & mask);
  }
}

}  // namespace

Bytes fill_bytes(const Fill& fill, const DType& dtype, std::int64_t numel) {
  Bytes bytes;
  bytes.reserve(static_cast<std::size_t>(numel) * dtype.size_bytes);
  std::visit([&](const auto& formula) { append_elements(bytes, formula, dtype, numel); },
             fill.formula);
  if (fill.invert) invert_bytes(bytes, dtype);
  return bytes;
}

Fill fill_with(Bytes elements) {
  // No pattern at all could be repeated.
  if (elements.empty()) return {Constant{}};
  return {Bits{std::move(elements)}};
}

void invert_bytes(Bytes& bytes, const DType& dtype) {
  const std::uint8_t mask = dtype.kind == DTypeKind::kBool ? 0x01 : 0xff;
  for (std::uint8_t& byte : bytes) byte ^= mask;
}

}  // namespace tdconf
