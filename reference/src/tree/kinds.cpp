// SPDX-License-Identifier: BSD-3-Clause
#include "tree/kinds.h"

#include <string_view>

namespace tdref {
namespace {

std::string_view kind_of(const Entry& entry) {
  if (entry.leaf() != nullptr) {
    return "a tensor";
  }
  if (entry.jagged() != nullptr) {
    return "a jagged tensor";
  }
  return entry.nested() != nullptr ? "a tensordict" : "non-tensor data";
}

}  // namespace

void check_same_kind(const std::string& key, const Entry& a, const Entry& b) {
  TORCH_CHECK(kind_of(a) == kind_of(b),
              "the entry '",
              key,
              "' is ",
              kind_of(a),
              " in one tensordict and ",
              kind_of(b),
              " in the other");
}

}  // namespace tdref
