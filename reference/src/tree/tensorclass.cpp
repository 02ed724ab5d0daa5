// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/tensordict.h>

#include <utility>

namespace tdref {

TensorClass::TensorClass(PythonClass cls, TensorDict contents)
    : TensorDictBase(contents.batch_size(), contents.device()),
      cls_(std::move(cls)),
      contents_(std::move(contents)) {
  if (contents_.is_consolidated()) {
    set_consolidated(contents_.consolidated());
  } else {
    set_locked(contents_.is_locked());
  }
}

void TensorClass::lock() {
  set_locked(true);
  contents_.lock();
}

void TensorClass::unlock() {
  set_locked(false);
  contents_.unlock();
}

}  // namespace tdref
