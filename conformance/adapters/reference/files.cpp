// SPDX-License-Identifier: BSD-3-Clause
#include "reference/files.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace tdconf::adapter {

void Files::lie_beside(const std::string& store_path) {
  parent_ = std::filesystem::path(store_path).parent_path();
}

std::string Files::new_name() {
  if (directory_.empty()) {
    std::string directory = parent_ / "tdconf-reference-XXXXXX";
    if (mkdtemp(directory.data()) == nullptr) {
      throw std::runtime_error("no temporary directory " + directory);
    }
    directory_ = directory;
  }
  return directory_ + '/' + std::to_string(named_++) + ".h5";
}

void Files::remove() {
  if (directory_.empty()) return;
  std::error_code what_cannot_be_removed_stays;
  std::filesystem::remove_all(directory_, what_cannot_be_removed_stays);
  directory_.clear();
}

}  // namespace tdconf::adapter
