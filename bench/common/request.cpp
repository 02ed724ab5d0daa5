// SPDX-License-Identifier: BSD-3-Clause
#include "common/request.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tdconf::bench {
namespace {

using nlohmann::json;

// "l0000" to "l9999" sort as they are inserted, "l10000" would not.
constexpr std::int64_t kMostLeaves = 10000;
constexpr std::int64_t kMostDepth = 32;
constexpr std::int64_t kMostTimes = 1'000'000;
// What one bucket of all_reduce_buckets holds.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;

constexpr std::array kCountKeys{"operation", "leaves", "bytes", "depth", "dtype", "count"};
constexpr std::array kTimeKeys{
    "operation", "leaves", "bytes", "depth", "dtype", "iterations", "batch"};

constexpr std::array<std::pair<std::string_view, at::ScalarType>, 4> kDtypes{{
    {"float32", at::kFloat},
    {"float64", at::kDouble},
    {"int64", at::kLong},
    {"uint8", at::kByte},
}};

json parse(const std::string& line) {
  auto request = json::parse(line, nullptr, /*allow_exceptions=*/false);
  TORCH_CHECK_VALUE(request.is_object(), "a request is one JSON object on one line, not: ", line);
  return request;
}

template <typename Keys>
void check_keys(const json& request, const Keys& keys) {
  for (const auto* key : keys) {
    TORCH_CHECK_VALUE(request.contains(key), "the request has no \"", key, '"');
  }
  for (const auto& item : request.items()) {
    TORCH_CHECK_VALUE(std::find(keys.begin(), keys.end(), item.key()) != keys.end(),
                      "the request has the key \"",
                      item.key(),
                      "\"; allowed are the keys ",
                      json(keys).dump());
  }
}

std::string text(const json& request, const char* key) {
  const auto& value = request.at(key);
  TORCH_CHECK_VALUE(value.is_string(), '"', key, "\" is a string, not ", value.dump());
  return value.get<std::string>();
}

std::int64_t number(const json& request, const char* key, std::int64_t low, std::int64_t high) {
  const auto& value = request.at(key);
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() ||
                     value.get<std::uint64_t>() <= static_cast<std::uint64_t>(high)) &&
                    value.get<std::int64_t>() >= low && value.get<std::int64_t>() <= high;
  TORCH_CHECK_VALUE(
      fits, '"', key, "\" is an integer from ", low, " to ", high, ", not ", value.dump());
  return value.get<std::int64_t>();
}

at::ScalarType dtype_named(const std::string& name) {
  const auto* found = std::find_if(
      kDtypes.begin(), kDtypes.end(), [&](const auto& dtype) { return dtype.first == name; });
  TORCH_CHECK_VALUE(
      found != kDtypes.end(), "\"dtype\" is float32, float64, int64 or uint8, not \"", name, '"');
  return found->second;
}

Case read_case(const json& request) {
  Case c{.operation = text(request, "operation"),
         .leaves = number(request, "leaves", 1, kMostLeaves),
         .bytes = number(request, "bytes", 1, kMostBytes),
         .depth = number(request, "depth", 0, kMostDepth),
         .dtype_name = text(request, "dtype")};
  c.dtype = dtype_named(c.dtype_name);
  TORCH_CHECK_VALUE(c.elements() * static_cast<std::int64_t>(c.itemsize()) == c.bytes,
                    "\"bytes\" is a multiple of ",
                    c.itemsize(),
                    ", the size of one ",
                    c.dtype_name,
                    ", not ",
                    c.bytes);
  TORCH_CHECK_VALUE(c.bytes <= kMostBytes / c.leaves,
                    c.leaves,
                    " leaves of ",
                    c.bytes,
                    " bytes are more than the ",
                    kMostBytes,
                    " bytes that are allowed");
  return c;
}

}  // namespace

Request read_request(const std::string& line) {
  const auto request = parse(line);
  if (request.contains("count")) {
    check_keys(request, kCountKeys);
    TORCH_CHECK_VALUE(
        request.at("count") == json(true), "\"count\" is true, not ", request.at("count").dump());
    return {.subject = read_case(request), .count = true};
  }
  check_keys(request, kTimeKeys);
  return {.subject = read_case(request),
          .iterations = number(request, "iterations", 1, kMostTimes),
          .batch = number(request, "batch", 1, kMostTimes)};
}

}  // namespace tdconf::bench
