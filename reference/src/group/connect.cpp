// SPDX-License-Identifier: BSD-3-Clause
#include "group/connect.h"

#include <csignal>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace tdref {
namespace {

// gloo writes to a peer that may have died, by any thread, and expects an error where the default
// would end the process.
void ignore_broken_pipes() {
  struct sigaction action {};
  sigaction(SIGPIPE, nullptr, &action);
  const bool is_default = (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
  if (is_default) {
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, nullptr);
  }
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> connect(const c10::intrusive_ptr<c10d::Store>& store,
                                          int rank,
                                          int size,
                                          std::chrono::milliseconds timeout) {
  ignore_broken_pipes();
  // create_default() picks the network device as Python does.
  return c10::make_intrusive<c10d::ProcessGroupGloo>(
      store, rank, size, c10d::ProcessGroupGloo::Options::create_default(timeout));
}

}  // namespace tdref
