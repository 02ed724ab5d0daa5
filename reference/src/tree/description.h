// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace tdref {

/// Stands for a text when two ranks compare theirs: equal texts have equal digests, on any machine,
/// and different ones do not by accident.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool operator==(const Digest&) const = default;
};

Digest digest_of(const std::string& text);

/// What a rank has to say of a tensordict, in words, with the digest of them.
class Description {
 public:
  explicit Description(std::string text) : text_(std::move(text)), digest_(digest_of(text_)) {}

  const std::string& text() const { return text_; }
  const Digest& digest() const { return digest_; }

 private:
  std::string text_;
  Digest digest_;
};

using DescriptionPtr = std::shared_ptr<const Description>;

/// Describes when it is first asked. Several threads may ask.
class DescribedOnce {
 public:
  const DescriptionPtr& get(const std::function<std::string()>& describe) {
    std::call_once(once_, [&] { description_ = std::make_shared<const Description>(describe()); });
    return description_;
  }

 private:
  std::once_flag once_;
  DescriptionPtr description_;
};

}  // namespace tdref
