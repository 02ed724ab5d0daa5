// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tdref {

struct BackendName {
  /// The string as torch.distributed.get_backend() returns it: as given, in lower case.
  std::string name;
  /// The store prefix of the connection: the first device that it serves.
  std::string store_prefix;
};

/// Reads "gloo", "undefined" or a list like "cpu:gloo,cuda:gloo"; gloo is the only backend there
/// is.
///
/// Errors  c10::ValueError: another backend or form, or none for the CPU.
BackendName parse_backend_name(const std::string& text);

}  // namespace tdref
