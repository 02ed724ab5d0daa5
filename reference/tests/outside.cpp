// SPDX-License-Identifier: BSD-3-Clause
#include "outside.h"

#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include <cstring>

namespace tdref::testing {
namespace {

void add(Value& metadata, const Value::Dict& items) {
  auto& all = *metadata.get_if<Value::Dict>();
  all.insert(all.end(), items.begin(), items.end());
}

Value one_leaf_metadata() {
  TensorDict td;
  td.set("a", at::ones({2}));
  return consolidated_metadata(consolidate(td));
}

// The metadata of one leaf of `size` float32 at the front of the storage.
Value metadata_of_leaf(std::int64_t size, std::int64_t stop, const Value::Dict& items) {
  auto metadata = metadata_with(stop, items);
  for (auto& [key, value] : *metadata.get_if<Value::Dict>()) {
    if (key == Value("leaves")) {
      value = Value::Dict{
          {"a", Value::Tuple{{"torch.float32", Value::List{size}, 0, stop, stop - 4 * size}}}};
    }
  }
  return metadata;
}

Hostile hostile(const char* name, const Value& metadata, const char* error) {
  auto pickle = pickle_value(metadata);
  const auto size = static_cast<std::int64_t>(pickle.size());
  return {name, size, std::move(pickle), error};
}

}  // namespace

at::Tensor bytes_of(const std::string& text) {
  const auto tensor = at::empty({static_cast<std::int64_t>(text.size())}, at::kByte);
  std::memcpy(tensor.mutable_data_ptr(), text.data(), text.size());
  return tensor;
}

at::Tensor number(std::int64_t value) {
  return at::full({1}, value, at::kLong);
}

Value metadata_with(Value total_bytes, const Value::Dict& items) {
  auto metadata = one_leaf_metadata();
  add(metadata, {{"_total_bytes", std::move(total_bytes)}});
  add(metadata, items);
  return metadata;
}

std::vector<Hostile> hostile_metadata(const Value::Dict& items) {
  auto no_total = one_leaf_metadata();
  add(no_total, items);
  const auto pickle = pickle_value(metadata_with(8, items));
  const auto size = static_cast<std::int64_t>(pickle.size());
  constexpr std::int64_t kAbsurd = std::int64_t{1} << 56;
  constexpr std::int64_t kMaxMetadata = std::int64_t{64} << 20;
  return {
      {"negative_size", -5, "", "announces metadata of -5 bytes"},
      {"large_size", kMaxMetadata + 1, "", "allowed are 0 to 67108864"},
      {"empty_pickle", 0, "", "byte 0"},
      {"truncated", size - 1, pickle.substr(0, pickle.size() - 1), "byte"},
      {"a_call", 14, "cos\nsystem\n)R.", "an object that is not a literal"},
      hostile("not_a_dict", 5, items.empty() ? "_total_bytes" : "_storage_device"),
      hostile("no_total", no_total, "_total_bytes"),
      hostile("text_total", metadata_with("8", items), "_total_bytes"),
      hostile("negative_total", metadata_with(-1, items), "announces a storage of -1 bytes"),
      hostile("small_total", metadata_with(7, items), "its last leaf ends at byte 8"),
      hostile("large_total", metadata_with(16, items), "its last leaf ends at byte 8"),
      hostile("absurd_leaf",
              metadata_of_leaf(kAbsurd / 4, kAbsurd, items),
              "which cannot be allocated"),
      hostile("misplaced_leaf", metadata_of_leaf(3, 8, items), "which has 12 bytes"),
  };
}

}  // namespace tdref::testing
