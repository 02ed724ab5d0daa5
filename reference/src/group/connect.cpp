// SPDX-License-Identifier: BSD-3-Clause
#include "group/connect.h"

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace tdref {

c10::intrusive_ptr<c10d::Backend> connect(const c10::intrusive_ptr<c10d::Store>& store,
                                          int rank,
                                          int size,
                                          std::chrono::milliseconds timeout) {
  // create_default() picks the network device as Python does.
  return c10::make_intrusive<c10d::ProcessGroupGloo>(
      store, rank, size, c10d::ProcessGroupGloo::Options::create_default(timeout));
}

}  // namespace tdref
