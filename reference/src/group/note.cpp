// SPDX-License-Identifier: BSD-3-Clause
#include "group/note.h"

#include <c10/util/StringUtil.h>

#include <string_view>

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

std::string first_difference(const End& sender, const End& receiver) {
  Lines sent(sender.note.text);
  Lines received(receiver.note.text);
  for (std::int64_t number = 0;; ++number) {
    const auto left = sent.next();
    const auto right = received.next();
    if (left != right || !left.has_value()) {
      return c10::str(number == 0 ? "the form" : c10::str("leaf ", number),
                      " is ",
                      left.value_or("nothing"),
                      " on ",
                      sender.rank,
                      ", which sends, and ",
                      right.value_or("nothing"),
                      " on ",
                      receiver.rank,
                      ", which receives");
    }
  }
}

}  // namespace

Side other(Side side) {
  return side == Side::kSends ? Side::kReceives : Side::kSends;
}

bool is_known(Side side) {
  return side == Side::kSends || side == Side::kReceives;
}

bool is_known(Note::Kind kind) {
  return kind == Note::Kind::kStructure || kind == Note::Kind::kRefusal ||
         kind == Note::Kind::kFarewell;
}

std::optional<std::string> difference(const End& here, const End& there) {
  if (there.note.kind == Note::Kind::kRefusal) {
    return c10::str(there.rank, " refused: ", there.note.text);
  }
  if (here.note.text == there.note.text) {
    return std::nullopt;
  }
  return here.note.side == Side::kSends ? first_difference(here, there)
                                        : first_difference(there, here);
}

std::string to_string(const Note& note) {
  return c10::str(
      note.side == Side::kSends ? "a send" : "a receipt", " with first tag ", note.first_tag);
}

}  // namespace tdref
