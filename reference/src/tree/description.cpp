// SPDX-License-Identifier: BSD-3-Clause
#include "tree/description.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tdref {

Digest digest_of(const std::string& text) {
  const auto hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

}  // namespace tdref
