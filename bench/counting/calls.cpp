// SPDX-License-Identifier: BSD-3-Clause
#include "counting/calls.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <atomic>
#include <memory>
#include <string_view>

#include "counting/copies.h"

namespace tdconf::bench {
namespace {

std::atomic<std::int64_t> messages = 0;
std::atomic<std::int64_t> copied_bytes = 0;
at::CallbackHandle handle = 0;

// One copying operation of aten calls others.
thread_local int copies_in_progress = 0;

/// Is there from the beginning to the end of a copying operation.
struct Copying : at::ObserverContext {
  Copying() { ++copies_in_progress; }
  ~Copying() override { --copies_in_progress; }
};

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& call) {
  const std::string_view name = call.name();
  if (name.starts_with("gloo:")) {
    ++messages;
    return nullptr;
  }
  if (!copies(name)) {
    return nullptr;
  }
  if (copies_in_progress == 0) {
    copied_bytes += bytes_copied(call.inputs());
  }
  return std::make_unique<Copying>();
}

}  // namespace

void start_counting_calls() {
  messages = 0;
  copied_bytes = 0;
  handle = at::addGlobalCallback(at::RecordFunctionCallback(begin).needsInputs(true).scopes(
      {at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE}));
}

void stop_counting_calls(TdconfCounts& counts) {
  at::removeCallback(handle);
  counts.messages = messages;
  counts.copied_bytes = copied_bytes;
}

}  // namespace tdconf::bench
