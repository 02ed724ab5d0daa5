// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <string>

namespace tdconf::adapter {

/// What a `raised` answer says.
struct Raised {
  std::string category;
  std::string exception;
  std::string message;
};

/// Sorts an exception of the implementation into the protocol's categories by its type.
///
/// Order   types that stand for a Python type of the same name first (c10's, c10d's, tdref's), then
///         gloo's, then the standard library's. c10::Error and std::runtime_error themselves are
///         `runtime`; a type that none of these covers is `other`.
Raised describe_exception(std::exception_ptr error);

}  // namespace tdconf::adapter
