// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/tensordict.h>

#include <utility>

namespace tdref {

TensorClass::TensorClass(PythonClass cls, TensorDict contents)
    : cls_(std::move(cls)), contents_(std::move(contents)) {}

}  // namespace tdref
