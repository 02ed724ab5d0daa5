// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "tree/description.h"

namespace tdref {

/// The longest text of a note.
inline constexpr std::int64_t kMaxNoteBytes = std::int64_t{1} << 30;

/// Errors  c10::ValueError: a note of so many bytes is too large to be sent.
void check_note_bytes(std::size_t bytes);

/// Says which end of a transfer a rank is.
enum class Side : std::int64_t { kSends = 1, kReceives = 2 };

Side other(Side side);
bool is_known(Side side);

/// What one end of a transfer tells the other before anything travels.
struct Note {
  enum class Kind : std::int64_t {
    kStructure = 1,  // what will travel, by the digest of its description
    kRefusal = 2,    // this end cannot do it; `text` is the reason
    kFarewell = 3,   // this rank talks no more; `text` is the reason, the other fields mean nothing
    kDetails = 4,    // what will travel, in words, once the two digests turned out to differ
  };

  Kind kind = Kind::kStructure;
  Side side = Side::kSends;
  int first_tag = 0;
  std::string text = {};
  Digest digest = {};
};

bool is_known(Note::Kind kind);

/// One end of a transfer as it describes it, and the name of its rank, for messages.
struct End {
  Side side;
  const std::string& text;
  const std::string& rank;
};

/// A text that a rank wrote, and its name as a message has it before a verb or "and".
struct Written {
  const std::string& text;
  std::string by;
};

/// Names the first line in which two texts differ, which they do: `first_line`, or "leaf 1" for the
/// line behind it, and so on.
std::string first_difference(const char* first_line, const Written& one, const Written& other);

/// Says why the two ends do not fit, which they do not, in the same words on both sides.
std::string difference(const End& here, const End& there);

/// Writes what a note is about: "a send with first tag 5".
std::string to_string(const Note& note);

}  // namespace tdref
