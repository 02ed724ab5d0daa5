// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/value.h>

#include <optional>
#include <string>
#include <string_view>

namespace tdref {

/// Names a class as Python's str() does: "<class 'module.name'>".
std::string to_text(const PythonClass& cls);

/// Reads "module.name". The last full stop is taken for the one between them. Returns nothing for
/// another text.
std::optional<PythonClass> class_named(std::string_view text);

/// Reads what to_text() writes, from another process: the class is named, and not looked
/// for. Returns nothing for another text.
std::optional<PythonClass> class_of_text(std::string_view text);

}  // namespace tdref
