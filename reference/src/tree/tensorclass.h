// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>

#include <functional>

namespace tdref {

/// Makes tensorclasses of what one is said to hold: of a TensorDict, and of each member of a lazy
/// stack, since a tensorclass of a lazy stack is a lazy stack of tensorclasses here. `on_class` is
/// called before each is made.
///
/// Errors  c10::ValueError: contents of another kind.
AnyTensorDict of_class(
    const PythonClass& cls,
    const AnyTensorDict& contents,
    const std::function<void()>& on_class = [] {});

}  // namespace tdref
