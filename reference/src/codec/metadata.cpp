// SPDX-License-Identifier: BSD-3-Clause
#include "codec/metadata.h"

#include <tdref/consolidate.h>
#include <tdref/errors.h>

#include <algorithm>
#include <functional>

#include "codec/dtype_names.h"
#include "codec/layout.h"
#include "tree/non_tensor.h"
#include "tree/visit.h"
#include "tree/walk.h"

namespace tdref {
namespace {

Value int_list(c10::IntArrayRef numbers) {
  return Value::List(numbers.begin(), numbers.end());
}

Value device_text(const std::optional<at::Device>& device) {
  return device.has_value() ? Value(device->str()) : Value();
}

Value names_list(const TensorDict& td) {
  Value::List names(td.batch_size().size());
  for (std::size_t i = 0; i < td.names().size(); ++i) {
    names[i] = td.names()[i].has_value() ? Value(*td.names()[i]) : Value();
  }
  return names;
}

Span span_in(const at::Tensor& storage, const at::Tensor& tensor) {
  const auto nbytes = tensor.numel() * static_cast<std::int64_t>(tensor.itemsize());
  const auto span = span_of(start_in(storage, tensor), nbytes);
  TORCH_INTERNAL_ASSERT(
      tensor.is_alias_of(storage) && span.start >= 0 && span.stop <= storage.numel(),
      "a leaf of a consolidated tensordict is not in its storage");
  return span;
}

/// Says where a tensor lies; asked of all, in the order of for_each_tensor().
using Place = std::function<Span(const at::Tensor&)>;

class MetadataWriter {
 public:
  MetadataWriter(Place place, bool was_locked)
      : place_(std::move(place)), was_locked_(was_locked) {}

  /// Describes a root.
  Value describe(const TensorDictBase& td) const {
    return visit_contents(
        td,
        Overloaded{[&](const TensorDict& items) { return describe_items("TensorDict", items); },
                   [&](const LazyStackedTensorDict& stack) { return describe_members(stack); }});
  }

 private:
  Value describe_below(const TensorDictBase& td) const {
    const auto* tensorclass = td.as<TensorClass>();
    return tensorclass == nullptr ? describe(td)
                                  : describe_items(tensorclass->cls(), tensorclass->contents());
  }

  Value describe_items(Value cls, const TensorDict& td) const {
    Value::Dict non_tensors;
    Value::Dict leaves;
    Value::Dict nested;
    for (const auto& [key, value] : td.items()) {
      if (const auto* leaf = value.leaf()) {
        leaves.emplace_back(leaf_key(key), describe_leaf(leaf->tensor));
      } else if (const auto* jagged = value.jagged()) {
        describe_jagged(key, *jagged, leaves);
      } else if (const auto* below = value.nested()) {
        nested.emplace_back(nested_key(key), describe_below(*below));
      } else if (value.non_tensor()->stacked) {
        nested.emplace_back(nested_key(key), describe_stack(td, *value.non_tensor(), 0));
      } else {
        non_tensors.emplace_back(
            key,
            Value::Tuple{
                {value.non_tensor()->data, int_list(td.batch_size()), device_text(td.device())}});
      }
    }
    return assemble(std::move(cls),
                    std::move(non_tensors),
                    std::move(leaves),
                    Value::Dict{{"device", device_text(td.device())},
                                {"names", names_list(td)},
                                {"batch_size", int_list(td.batch_size())},
                                {"is_locked", was_locked_}},
                    std::move(nested));
  }

  Value describe_members(const LazyStackedTensorDict& stack) const {
    const auto& name = stack.stack_dim_name();
    Value::Dict members;
    for (std::size_t i = 0; i < stack.members().size(); ++i) {
      members.emplace_back(member_key(i), describe_below(*stack.members()[i]));
    }
    return assemble("LazyStackedTensorDict",
                    {},
                    {},
                    Value::Dict{{"stack_dim", stack.stack_dim()},
                                {"stack_dim_name", name.has_value() ? Value(*name) : Value()},
                                {"is_locked", was_locked_}},
                    std::move(members));
  }

  static Value assemble(Value cls,
                        Value::Dict non_tensors,
                        Value::Dict leaves,
                        Value::Dict cls_metadata,
                        Value::Dict nested) {
    Value::Dict metadata{{"cls", std::move(cls)},
                         {"non_tensors", std::move(non_tensors)},
                         {"leaves", std::move(leaves)},
                         {"cls_metadata", std::move(cls_metadata)}};
    std::move(nested.begin(), nested.end(), std::back_inserter(metadata));
    return metadata;
  }

  static std::string leaf_key(const std::string& key) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !is_jagged_key(key),
        "the key '",
        key,
        "' cannot be named in consolidated metadata, which would read it as a "
        "part of a jagged tensor");
    return key;
  }

  static std::string nested_key(const std::string& key) {
    TORCH_CHECK_NOT_IMPLEMENTED(!is_reserved_key(key),
                                "the nested key '",
                                key,
                                "' cannot be named in consolidated metadata, which uses it itself");
    return key;
  }

  Value describe_leaf(const at::Tensor& tensor) const {
    const auto& dtype = dtype_name(tensor.scalar_type());
    TORCH_CHECK_NOT_IMPLEMENTED(
        dtype.in_metadata, "the dtype ", dtype.name, " cannot be named in consolidated metadata");
    const auto span = place_(tensor);
    return Value::Tuple{
        {std::string(dtype.name), int_list(tensor.sizes()), span.start, span.stop, span.pad}};
  }

  void describe_jagged(const std::string& key, const Jagged& jagged, Value::Dict& leaves) const {
    leaves.emplace_back(values_key(key), describe_leaf(jagged.values));
    if (jagged.lengths.defined()) {
      leaves.emplace_back(lengths_key(key), describe_leaf(jagged.lengths));
    }
    auto offsets = describe_leaf(jagged.offsets);
    offsets.get_if<Value::Tuple>()->items.emplace_back(jagged.ragged_idx);
    leaves.emplace_back(offsets_key(key), std::move(offsets));
  }

  // Members are numbered, each without the batch dimension `dim` and those before it.
  Value describe_stack(const TensorDict& td, const NonTensor& stack, std::size_t dim) const {
    const auto member_batch = int_list(c10::IntArrayRef(td.batch_size()).slice(dim + 1));
    const auto rows = stack.data.get_if<Value::List>()->size();
    Value::Dict non_tensors;
    Value::Dict stacks;
    for (std::size_t i = 0; i < rows; ++i) {
      const auto row = row_of(stack, i);
      if (row.stacked) {
        stacks.emplace_back(member_key(i), describe_stack(td, row, dim + 1));
      } else {
        non_tensors.emplace_back(member_key(i),
                                 Value::Tuple{{row.data, member_batch, device_text(td.device())}});
      }
    }
    const auto names = names_list(td);
    return assemble("NonTensorStack",
                    std::move(non_tensors),
                    {},
                    Value::Dict{{"stack_dim", 0},
                                {"stack_dim_name", (*names.get_if<Value::List>())[dim]},
                                {"is_locked", was_locked_}},
                    std::move(stacks));
  }

  Place place_;
  bool was_locked_;
};

}  // namespace

bool is_reserved_key(const std::string& key) {
  static constexpr std::string_view kReserved[] = {
      "cls", "non_tensors", "leaves", "cls_metadata", "size"};
  return std::find(std::begin(kReserved), std::end(kReserved), key) != std::end(kReserved);
}

bool is_jagged_key(const std::string& key) {
  return key.rfind("<NJT", 0) == 0;
}

bool is_about_the_level(const std::string& key, const Value& value) {
  return is_reserved_key(key) || (key.starts_with('_') && !value.is<Value::Dict>());
}

void add_about_the_root(Value& metadata, const std::string& key, std::optional<Value> value) {
  TORCH_CHECK_NOT_IMPLEMENTED(metadata.find(key) == nullptr,
                              "the nested key '",
                              key,
                              "' cannot travel at the root of a tensordict whose metadata travels "
                              "with an item of that name; allowed is any other key");
  if (value.has_value()) {
    metadata.get_if<Value::Dict>()->emplace_back(key, *std::move(value));
  }
}

Value consolidated_metadata(const TensorDictBase& td) {
  const auto& state = td.consolidated();
  return MetadataWriter([&](const at::Tensor& tensor) { return span_in(state.storage, tensor); },
                        state.was_locked)
      .describe(td);
}

Value metadata_at(const TensorDictBase& td, const Layout& layout) {
  auto span = layout.spans.begin();
  return MetadataWriter([&](const at::Tensor&) { return *span++; }, td.is_locked()).describe(td);
}

}  // namespace tdref
