// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace tdconf::adapter {

/// Names the files behind the persistent tensordicts of one case. They lie in a directory of their
/// own, which is made with the first of them.
class Files {
 public:
  Files() = default;
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() { remove(); }

  /// Lets the next directory be made beside the store of a case, whose folder the judge clears even
  /// when this rank is killed.
  void lie_beside(const std::string& store_path);

  /// Errors  std::runtime_error: the directory cannot be made.
  std::string new_name();

  /// Removes the files and their directory.
  void remove();

 private:
  std::filesystem::path parent_ = std::filesystem::temp_directory_path();
  std::string directory_;
  std::size_t named_ = 0;
};

}  // namespace tdconf::adapter
