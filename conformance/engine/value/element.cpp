// SPDX-License-Identifier: BSD-3-Clause
#include "engine/value/element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <sstream>

#include "engine/value/real.h"
#include "values/hex.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

template <typename T>
T load(std::span<const std::uint8_t> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

json decode_integer(std::span<const std::uint8_t> bytes, const DType& dtype) {
  const bool is_signed = !dtype.name.starts_with("u");
  switch (bytes.size()) {
    case 1:
      return is_signed ? json(load<std::int8_t>(bytes)) : json(load<std::uint8_t>(bytes));
    case 2:
      return is_signed ? json(load<std::int16_t>(bytes)) : json(load<std::uint16_t>(bytes));
    case 4:
      return is_signed ? json(load<std::int32_t>(bytes)) : json(load<std::uint32_t>(bytes));
    default:
      return is_signed ? json(load<std::int64_t>(bytes)) : json(load<std::uint64_t>(bytes));
  }
}

std::string show_float(double value, std::size_t size_bytes) {
  std::ostringstream text;
  text << std::setprecision(size_bytes == 8 ? 17 : 9) << value;
  return text.str();
}

std::string show_real(std::span<const std::uint8_t> bytes, const DType& dtype) {
  const double value = read_real(bytes, dtype);
  const std::string shown = show_float(value, bytes.size());
  if (std::isfinite(value) && !(value == 0 && std::signbit(value))) return shown;
  Bytes big_endian(bytes.rbegin(), bytes.rend());
  return concat(shown, " (bits ", encode_hex(big_endian), ")");
}

json nested(std::span<const std::uint8_t> bytes,
            const DType& dtype,
            std::span<const std::int64_t> shape) {
  if (shape.empty()) return decode_element(bytes, dtype);
  json list = json::array();
  if (shape.front() == 0) return list;
  const std::size_t row_bytes = bytes.size() / static_cast<std::size_t>(shape.front());
  for (std::size_t row = 0; row < static_cast<std::size_t>(shape.front()); ++row) {
    list.push_back(nested(bytes.subspan(row * row_bytes, row_bytes), dtype, shape.subspan(1)));
  }
  return list;
}

}  // namespace

json decode_element(std::span<const std::uint8_t> bytes, const DType& dtype) {
  switch (dtype.kind) {
    case DTypeKind::kBool:
      return bytes[0] != 0;
    case DTypeKind::kInteger:
      return decode_integer(bytes, dtype);
    case DTypeKind::kFloat:
      return read_real(bytes, dtype);
    case DTypeKind::kComplex:
      break;
  }
  const std::size_t half = bytes.size() / 2;
  return json::array({read_real(bytes.first(half), dtype), read_real(bytes.last(half), dtype)});
}

std::string show_element(std::span<const std::uint8_t> bytes, const DType& dtype) {
  switch (dtype.kind) {
    case DTypeKind::kBool:
      // Anything but 0 and 1 is a broken bool, which must not look like a sound one.
      if (bytes[0] > 1) return concat("bool byte ", encode_hex(bytes));
      return bytes[0] == 1 ? "true" : "false";
    case DTypeKind::kInteger:
      return decode_integer(bytes, dtype).dump();
    case DTypeKind::kFloat:
      return show_real(bytes, dtype);
    case DTypeKind::kComplex:
      break;
  }
  const std::size_t half = bytes.size() / 2;
  return concat(
      "(", show_real(bytes.first(half), dtype), ", ", show_real(bytes.last(half), dtype), ")");
}

json nested_list(std::span<const std::uint8_t> bytes, const DType& dtype, const Shape& shape) {
  return nested(bytes, dtype, shape);
}

std::vector<std::int64_t> unflatten(std::int64_t flat, const Shape& shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t dimension = shape.size(); dimension-- > 0;) {
    index[dimension] = flat % shape[dimension];
    flat /= shape[dimension];
  }
  return index;
}

std::string show_index(std::int64_t flat, const Shape& shape) {
  if (shape.empty()) return "";
  return concat("[", join(unflatten(flat, shape), ", "), "]");
}

}  // namespace tdconf
