// SPDX-License-Identifier: BSD-3-Clause
#include "ops/pickle_message.h"

#include <ATen/ops/empty.h>

#include <cstring>

#include "codec/observer.h"

namespace tdref {

at::Tensor pickle_message(std::string_view pickle) {
  const auto tensor = at::empty({static_cast<std::int64_t>(pickle.size())}, at::kByte);
  std::memcpy(tensor.mutable_data_ptr(), pickle.data(), pickle.size());
  if (Observer* observer = current_observer()) {
    observer->pickled(pickle.size());
  }
  return tensor;
}

std::string_view as_bytes(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

}  // namespace tdref
