// SPDX-License-Identifier: BSD-3-Clause
#include "codec/leaf_metadata.h"

#include "codec/dtype_names.h"
#include "codec/value_fields.h"
#include "tree/walk.h"

namespace tdref {
namespace {

const Value::List& fields_of(const std::string& key, const Value& value) {
  const bool has_ragged_idx = key.starts_with(offsets_key(""));
  const auto* fields = value.sequence();
  TORCH_CHECK_VALUE(fields != nullptr && fields->size() == (has_ragged_idx ? 6 : 5),
                    "metadata describes leaf '",
                    key,
                    "' by (dtype, shape, start, stop, pad), and the offsets of a jagged leaf by "
                    "(dtype, shape, start, stop, pad, ragged_idx)");
  return *fields;
}

at::ScalarType read_dtype(const std::string& key, const Value& value) {
  const auto& name = text(value, "a dtype");
  const auto* dtype = find_dtype(name);
  TORCH_CHECK_VALUE(
      dtype != nullptr, "metadata gives leaf '", key, "' the unknown dtype '", name, "'");
  return dtype->dtype;
}

void check_span(const std::string& key, const Span& span, std::int64_t nbytes) {
  TORCH_CHECK_VALUE(0 <= span.start && span.start <= span.stop && nbytes <= span.stop - span.start,
                    "metadata gives leaf '",
                    key,
                    "', which has ",
                    nbytes,
                    " bytes, the bytes ",
                    span.start,
                    " to ",
                    span.stop);
  TORCH_CHECK_VALUE(span.pad == span.stop - span.start - nbytes,
                    "metadata gives leaf '",
                    key,
                    "' the padding ",
                    span.pad,
                    "; its shape leaves ",
                    span.stop - span.start - nbytes,
                    " bytes");
}

void check_start(const std::string& key, const Span& span, std::int64_t item_bytes) {
  TORCH_CHECK_VALUE(span.start % item_bytes == 0,
                    "metadata places leaf '",
                    key,
                    "' at byte ",
                    span.start,
                    ", which is not a multiple of its element size ",
                    item_bytes);
}

}  // namespace

LeafMetadata read_leaf(const std::string& key, const Value& value) {
  const auto& fields = fields_of(key, value);
  LeafMetadata leaf{
      read_dtype(key, fields[0]),
      int_list(fields[1], "a shape"),
      {integer(fields[2], "start"), integer(fields[3], "stop"), integer(fields[4], "pad")}};
  const auto item_bytes = static_cast<std::int64_t>(c10::elementSize(leaf.dtype));
  check_span(key, leaf.span, bytes_of(leaf.shape, item_bytes));
  check_start(key, leaf.span, item_bytes);
  return leaf;
}

}  // namespace tdref
