// SPDX-License-Identifier: BSD-3-Clause
#include "runner/command_line.h"

#include "engine/input/node.h"
#include "values/text.h"

namespace tdconf {
namespace {

class Splitter {
 public:
  explicit Splitter(const std::string& text) : text_(text) {}

  std::vector<std::string> split() {
    for (at_ = 0; at_ < text_.size(); ++at_) take(text_[at_]);
    if (quote_ != 0) throw InputError(concat("a command has an open quote: ", text_));
    end_word();
    if (words_.empty()) throw InputError("a command is empty");
    return std::move(words_);
  }

 private:
  void take(char character) {
    if (quote_ == '\'') {
      if (character == '\'') return void(quote_ = 0);
    } else if (character == '\\' && is_escape()) {
      return append(text_[++at_]);
    } else if (quote_ == '"') {
      if (character == '"') return void(quote_ = 0);
    } else if (character == '\'' || character == '"') {
      has_word_ = true;
      quote_ = character;
      return;
    } else if (character == ' ' || character == '\t' || character == '\n') {
      return end_word();
    }
    append(character);
  }

  /// Inside double quotes a backslash escapes only what would otherwise be special there.
  bool is_escape() const {
    if (at_ + 1 == text_.size()) return false;
    return quote_ == 0 || text_[at_ + 1] == '"' || text_[at_ + 1] == '\\';
  }

  void append(char character) {
    has_word_ = true;
    word_ += character;
  }

  void end_word() {
    if (has_word_) words_.push_back(std::move(word_));
    word_.clear();
    has_word_ = false;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  char quote_ = 0;
  bool has_word_ = false;
  std::string word_;
  std::vector<std::string> words_;
};

std::string quote_word(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char character : word) {
    if (character == '\'') {
      quoted += "'\\''";
    } else {
      quoted += character;
    }
  }
  return quoted + "'";
}

}  // namespace

std::vector<std::string> split_command(const std::string& text) {
  return Splitter(text).split();
}

std::string quote_command(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(quote_word(word));
  return join(quoted, " ");
}

}  // namespace tdconf
