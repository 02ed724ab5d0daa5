// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/util/Exception.h>

namespace tdref {

/// Reports what Python reports as AttributeError; libtorch has no type of its own for it.
class AttributeError : public c10::Error {
 public:
  using c10::Error::Error;
};

/// Reports what Python reports as KeyError; libtorch has no type of its own for it.
class KeyError : public c10::Error {
 public:
  using c10::Error::Error;
};

/// Reports what Python reports as OSError: a file that cannot be opened, read, written or mapped.
class OSError : public c10::Error {
 public:
  using c10::Error::Error;
};

}  // namespace tdref

/// Throws `error_type` (a c10::Error constructible from a location and a message) unless
/// `condition` holds.
#define TDREF_CHECK_WITH(error_type, condition, ...)                          \
  do {                                                                        \
    if (!(condition)) {                                                       \
      throw error_type({__func__, __FILE__, static_cast<uint32_t>(__LINE__)}, \
                       ::c10::str(__VA_ARGS__));                              \
    }                                                                         \
  } while (false)
