// SPDX-License-Identifier: BSD-3-Clause
#include "group/note.h"

#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <optional>
#include <string_view>
#include <utility>

namespace tdref {
namespace {

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  std::optional<std::string_view> next() {
    if (rest_.empty()) {
      return std::nullopt;
    }
    const auto end = rest_.find('\n');
    const auto line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return line;
  }

 private:
  std::string_view rest_;
};

}  // namespace

void check_note_bytes(std::size_t bytes) {
  TORCH_CHECK_VALUE(bytes <= static_cast<std::size_t>(kMaxNoteBytes),
                    "a structure of ",
                    bytes,
                    " bytes is too large to be compared; allowed are ",
                    kMaxNoteBytes,
                    ". Open the group with agree_on_structure = false");
}

Side other(Side side) {
  return side == Side::kSends ? Side::kReceives : Side::kSends;
}

bool is_known(Side side) {
  return side == Side::kSends || side == Side::kReceives;
}

bool is_known(Note::Kind kind) {
  return kind == Note::Kind::kStructure || kind == Note::Kind::kRefusal ||
         kind == Note::Kind::kFarewell || kind == Note::Kind::kDetails;
}

std::string first_difference(const char* first_line, const Written& one, const Written& other) {
  Lines lines(one.text);
  Lines other_lines(other.text);
  for (std::int64_t number = 0;; ++number) {
    const auto left = lines.next();
    const auto right = other_lines.next();
    if (left != right || !left.has_value()) {
      return c10::str(number == 0 ? first_line : c10::str("leaf ", number),
                      " is ",
                      left.value_or("nothing"),
                      " on ",
                      one.by,
                      " and ",
                      right.value_or("nothing"),
                      " on ",
                      other.by);
    }
  }
}

std::string difference(const End& here, const End& there) {
  const auto& [sender, receiver] =
      here.side == Side::kSends ? std::pair(here, there) : std::pair(there, here);
  return first_difference("the form",
                          {sender.text, sender.rank + ", which sends,"},
                          {receiver.text, receiver.rank + ", which receives"});
}

std::string to_string(const Note& note) {
  return c10::str(
      note.side == Side::kSends ? "a send" : "a receipt", " with first tag ", note.first_tag);
}

}  // namespace tdref
