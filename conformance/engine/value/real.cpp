// SPDX-License-Identifier: BSD-3-Clause
#include "engine/value/real.h"

#include <cstring>

#include "values/small_float.h"

namespace tdconf {
namespace {

template <typename T>
T load(std::span<const std::uint8_t> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <typename T>
void append(Bytes& bytes, T element) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&element);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

}  // namespace

double read_real(std::span<const std::uint8_t> bytes, const DType& dtype) {
  if (bytes.size() == sizeof(double)) return load<double>(bytes);
  if (bytes.size() == sizeof(float)) return static_cast<double>(load<float>(bytes));
  const std::uint16_t bits = bytes.size() == 2 ? load<std::uint16_t>(bytes) : bytes[0];
  return decode_small(bits, small_float_format(dtype));
}

void append_real(Bytes& bytes, double value, const DType& dtype) {
  const std::size_t parts = dtype.kind == DTypeKind::kComplex ? 2 : 1;
  const std::size_t size = dtype.size_bytes / parts;
  if (size == sizeof(double)) return append(bytes, value);
  if (size == sizeof(float)) return append(bytes, static_cast<float>(value));
  const std::uint16_t bits = encode_rounded(value, small_float_format(dtype));
  if (size == 2) return append(bytes, bits);
  append(bytes, static_cast<std::uint8_t>(bits));
}

}  // namespace tdconf
