// SPDX-License-Identifier: BSD-3-Clause
#include "ops/structure.h"

#include <c10/util/StringUtil.h>

#include <algorithm>
#include <string_view>
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

// The lines of leaves in one text, which are put in the order of their bytes: what was rebuilt from
// metadata has the leaves of a level before those of its nested tensordicts, wherever they lie.
class LinesByStart {
 public:
  explicit LinesByStart(std::int64_t total_bytes)
      : first_(c10::str("one consolidated message of ", total_bytes, " bytes")) {}

  void add(const KeyPath& key, const at::Tensor& tensor, std::int64_t start) {
    const auto begin = text_.size();
    append_leaf(text_, key, tensor.scalar_type(), tensor.sizes());
    text_ += " from byte ";
    text_ += std::to_string(start);
    lines_.push_back({start, begin, text_.size()});
  }

  std::string finish() {
    const auto is_before = [&](const Line& a, const Line& b) {
      return std::pair(a.start, of(a)) < std::pair(b.start, of(b));
    };
    // Mostly they are in order, and then are not copied.
    if (std::is_sorted(lines_.begin(), lines_.end(), is_before)) {
      return std::move(first_) + text_;
    }
    std::sort(lines_.begin(), lines_.end(), is_before);
    for (const auto& line : lines_) {
      first_ += of(line);
    }
    return std::move(first_);
  }

 private:
  struct Line {
    std::int64_t start;
    std::size_t begin;
    std::size_t end;
  };

  std::string_view of(const Line& line) const {
    return std::string_view(text_).substr(line.begin, line.end - line.begin);
  }

  std::string first_;
  std::string text_;
  std::vector<Line> lines_;
};

std::string describe_layout(const TensorDictBase& td, const Layout& layout) {
  LinesByStart lines(layout.total_bytes);
  auto span = layout.spans.begin();
  for_each_tensor(td, [&](const KeyPath& key, const at::Tensor& tensor) {
    lines.add(key, tensor, (span++)->start);
  });
  return lines.finish();
}

std::string describe_views(const TensorDictBase& td, const at::Tensor& storage) {
  LinesByStart lines(storage.numel());
  for_each_tensor(td, [&](const KeyPath& key, const at::Tensor& tensor) {
    lines.add(key, tensor, start_in(storage, tensor));
  });
  return lines.finish();
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

DescriptionPtr description_of_storage(const TensorDictBase& td) {
  if (!td.is_consolidated()) {
    return std::make_shared<const Description>(describe_layout(td, lay_out(td)));
  }
  const auto& [storage, was_locked, description] = td.consolidated();
  return description->get([&, &storage = storage] { return describe_views(td, storage); });
}

}  // namespace tdref
