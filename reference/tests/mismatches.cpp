// SPDX-License-Identifier: BSD-3-Clause
#include "mismatches.h"

#include <tdref/consolidate.h>

namespace tdref::testing {
namespace {

// Two leaves of equal size, in either order of insertion.
TensorDict two_leaves(const char* first, const char* second) {
  TensorDict td;
  td.set(first, at::ones({2}));
  td.set(second, at::zeros({2}));
  return td;
}

}  // namespace

TensorDict one_leaf(const char* key, const at::Tensor& tensor) {
  TensorDict td;
  td.set(key, tensor);
  return td;
}

const std::vector<Mismatch>& mismatches() {
  const auto a = [](const at::Tensor& tensor) {
    return [tensor] { return one_leaf("a", tensor.clone()); };
  };
  static const std::vector<Mismatch> all{
      {"Longer",
       a(at::ones({4})),
       a(at::zeros({2})),
       false,
       false,
       "leaf 1 is float32[4] 'a' on rank 0, which sends, and float32[2] 'a' on rank 1, which "
       "receives; nothing of it was sent"},
      {"Shorter",
       a(at::ones({2})),
       a(at::zeros({4})),
       false,
       false,
       "leaf 1 is float32[2] 'a' on rank 0, which sends, and float32[4] 'a' on rank 1"},
      {"Dtype",
       a(at::ones({2})),
       a(at::zeros({2}, at::kInt)),
       false,
       false,
       "leaf 1 is float32[2] 'a' on rank 0, which sends, and int32[2] 'a' on rank 1"},
      {"Shape",
       a(at::ones({2, 3})),
       a(at::zeros({3, 2})),
       false,
       false,
       "leaf 1 is float32[2, 3] 'a' on rank 0, which sends, and float32[3, 2] 'a' on rank 1"},
      {"Key",
       [] { return one_leaf("a", at::ones({2})); },
       [] { return one_leaf("b", at::ones({2})); },
       false,
       false,
       "leaf 1 is float32[2] 'a' on rank 0, which sends, and float32[2] 'b' on rank 1"},
      {"LeafTooMany",
       [] { return two_leaves("a", "b"); },
       [] { return one_leaf("a", at::ones({2})); },
       false,
       false,
       "leaf 2 is float32[2] 'b' on rank 0, which sends, and nothing on rank 1"},
      {"LeafTooFew",
       [] { return one_leaf("a", at::ones({2})); },
       [] { return two_leaves("a", "b"); },
       false,
       false,
       "leaf 2 is nothing on rank 0, which sends, and float32[2] 'b' on rank 1"},
      {"ConsolidatedOnOneEnd",
       [] { return one_leaf("a", at::ones({2})); },
       [] { return one_leaf("a", at::ones({2})); },
       true,
       false,
       "the form is one consolidated message of 8 bytes on rank 0, which sends, and one message "
       "for each leaf, with tags in sequence on rank 1"},
      {"OrderInAConsolidatedStorage",
       [] { return two_leaves("b", "a"); },
       [] { return consolidate(two_leaves("a", "b")); },
       true,
       true,
       "leaf 1 is float32[2] 'b' from byte 0 on rank 0, which sends, and float32[2] 'a' from byte "
       "0 on rank 1"},
      {"SizeOfAConsolidatedStorage",
       [] { return consolidate(one_leaf("a", at::ones({4}))); },
       [] { return consolidate(one_leaf("a", at::ones({2}))); },
       true,
       true,
       "the form is one consolidated message of 16 bytes on rank 0, which sends, and one "
       "consolidated message of 8 bytes on rank 1"},
  };
  return all;
}

}  // namespace tdref::testing
