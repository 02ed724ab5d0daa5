// SPDX-License-Identifier: BSD-3-Clause
#include "ops/structure.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <utility>

#include "codec/layout.h"
#include "tree/walk.h"

namespace tdref {
namespace {

void append_key(std::string& text, const std::string& key) {
  for (const char letter : key) {
    if (letter == '\n') {
      text += "\\n";  // a line is a leaf
    } else if (letter == '\\' || letter == '/') {
      text += '\\';
      text += letter;
    } else {
      text += letter;
    }
  }
}

}  // namespace

// By hand rather than with a stream: a transfer may have ten thousand leaves.
void append_leaf(std::string& text,
                 const KeyPath& key,
                 at::ScalarType dtype,
                 c10::IntArrayRef shape) {
  text += '\n';
  text += c10::getDtypeNames(dtype).first;
  text += '[';
  const char* separator = "";
  for (const auto size : shape) {
    text += separator;
    text += std::to_string(size);
    separator = ", ";
  }
  text += "] '";
  for (std::size_t i = 0; i < key.size(); ++i) {
    text += i == 0 ? "" : "/";
    append_key(text, key[i]);
  }
  text += '\'';
}

std::string describe_leaves(const std::vector<PlannedLeaf>& plan, const TagOptions& tags) {
  std::string text = tags.pseudo_rand ? "one message for each leaf, with pseudo-random tags"
                                      : "one message for each leaf, with tags in sequence";
  for (const auto& leaf : plan) {
    append_leaf(text, leaf.key, leaf.tensor.scalar_type(), leaf.tensor.sizes());
  }
  return text;
}

std::string describe_storage(const TensorDictBase& td) {
  const bool is_consolidated = td.is_consolidated();
  const auto layout = is_consolidated ? Layout{} : lay_out(td);
  const auto* storage = is_consolidated ? &td.consolidated().storage : nullptr;
  std::string text = c10::str("one consolidated message of ",
                              is_consolidated ? storage->numel() : layout.total_bytes,
                              " bytes");
  // By place rather than by insertion: what was rebuilt from metadata has the leaves of a level
  // before those of its nested tensordicts, wherever they lie.
  std::vector<std::pair<std::int64_t, std::string>> lines;
  auto span = layout.spans.begin();
  for_each_tensor(td, [&](const KeyPath& key, const at::Tensor& tensor) {
    const auto start = is_consolidated ? start_in(*storage, tensor) : (span++)->start;
    std::string line;
    append_leaf(line, key, tensor.scalar_type(), tensor.sizes());
    lines.emplace_back(start, std::move(line) + " from byte " + std::to_string(start));
  });
  std::sort(lines.begin(), lines.end());
  for (const auto& [start, line] : lines) {
    text += line;
  }
  return text;
}

}  // namespace tdref
