// SPDX-License-Identifier: BSD-3-Clause
#include "ops/pickle_message.h"

#include "codec/bytes.h"
#include "codec/observer.h"

namespace tdref {

void note_pickled(std::string_view pickle) {
  if (Observer* observer = current_observer()) {
    observer->pickled(pickle.size());
  }
}

at::Tensor pickle_message(std::string_view pickle) {
  note_pickled(pickle);
  return as_tensor(pickle);
}

void note_unpickled(std::string_view pickle) {
  if (Observer* observer = current_observer()) {
    observer->unpickled(pickle.size());
  }
}

}  // namespace tdref
