// SPDX-License-Identifier: BSD-3-Clause
#include "common/errors.h"

#include <c10/util/Exception.h>
#include <c10/util/Type.h>
#include <gloo/common/error.h>
#include <tdref/errors.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <stdexcept>
#include <utility>

namespace tdconf::adapter {
namespace {

template <typename T>
bool is(const std::exception& error) {
  return dynamic_cast<const T*>(&error) != nullptr;
}

const char* category_of(const std::exception& error) {
  if (is<c10::ValueError>(error)) return "value";
  if (is<c10::TypeError>(error)) return "type";
  if (is<c10::NotImplementedError>(error)) return "not_implemented";
  if (is<c10::IndexError>(error)) return "index";
  if (is<tdref::KeyError>(error)) return "key";
  if (is<tdref::AttributeError>(error)) return "attribute";
  if (is<c10d::TimeoutError>(error)) return "timeout";
  if (is<c10::DistError>(error)) return "connection";
  if (is<c10::Error>(error)) return "runtime";
  // gloo throws one type for a lost connection and for a deadline; only its text differs.
  if (is<gloo::IoException>(error)) return "connection";
  if (is<std::out_of_range>(error)) return "index";
  if (is<std::invalid_argument>(error)) return "value";
  if (is<std::runtime_error>(error)) return "runtime";
  return "other";
}

std::string message_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  return torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
}

}  // namespace

Raised describe_exception(std::exception_ptr error) {
  try {
    std::rethrow_exception(std::move(error));
  } catch (const std::exception& known) {
    return {.category = category_of(known),
            .exception = c10::demangle(typeid(known).name()),
            .message = message_of(known)};
  } catch (...) {
    return {.category = "other", .exception = "unknown", .message = ""};
  }
}

}  // namespace tdconf::adapter
