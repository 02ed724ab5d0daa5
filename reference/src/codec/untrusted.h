// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <c10/util/Exception.h>
#include <tdref/errors.h>

namespace tdref {

/// Calls `read` and reports what libtorch finds wrong with the tensors that a message describes as
/// c10::ValueError: it is the message that is wrong, not this process. What the system refuses stays
/// an OSError.
template <typename Read>
auto read_untrusted(const char* what, Read read) {
  try {
    return read();
  } catch (const c10::ValueError&) {
    throw;
  } catch (const OSError&) {
    throw;
  } catch (const c10::Error& error) {
    TORCH_CHECK_VALUE(
        false, what, " does not describe a tensordict: ", error.what_without_backtrace());
  }
}

}  // namespace tdref
