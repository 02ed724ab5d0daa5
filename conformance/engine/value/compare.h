// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "engine/value/snapshot.h"
#include "engine/value/tree.h"

namespace tdconf {

/// One place where what was seen is not what was expected.
struct Difference {
  /// The path of the entry, written with dots; empty for the root.
  std::string key = {};
  std::vector<std::int64_t> index = {};
  std::string expected = {};
  std::string got = {};
  /// All of it in one sentence.
  std::string text = {};
};

/// Writes the sentence `WHAT expected EXPECTED got GOT` on the entry `key`.
Difference differ(const std::string& key,
                  const std::string& what,
                  const std::string& expected,
                  const std::string& got);

/// Lists where `seen` differs from `expected`, at most one difference for each entry: keys, kinds,
/// classes, batch sizes, dtypes, shapes, bits and non-tensor data. The order of the keys does not
/// count, nor whether the non-tensor data of the rows are held as a lazy stack or as one list, or
/// once for all rows where every row has the same.
std::vector<Difference> compare(const Tree& expected, const SeenTree& seen);

/// Compares one tensor.
std::vector<Difference> compare_tensor(const std::string& key,
                                       const TensorLeaf& expected,
                                       const SeenTensor& seen);

/// Compares the elements alone.
std::vector<Difference> compare_elements(const std::string& key,
                                         const TensorLeaf& expected,
                                         const SeenBytes& seen);

}  // namespace tdconf
