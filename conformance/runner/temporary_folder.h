// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "engine/play/file_descriptor.h"

namespace tdconf {

/// A folder `tdconf-run-*` that goes away with this object. Whoever makes one first removes those
/// of this user whose owner was killed.
class TemporaryFolder {
 public:
  /// Makes it under `parent`.
  ///
  /// Errors  std::system_error.
  explicit TemporaryFolder(const std::string& parent);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  /// Its lock tells others that the owner lives.
  FileDescriptor lock_;
};

}  // namespace tdconf
