// SPDX-License-Identifier: BSD-3-Clause
#include "runner/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "values/text.h"

namespace tdconf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "tdconf-run-";

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), path);
}

FileDescriptor open_folder(const fs::path& path) {
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_ours(const FileDescriptor& folder) {
  struct stat about {};
  return fstat(folder.get(), &about) == 0 && about.st_uid == geteuid();
}

void remove_orphans(const fs::path& parent) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const FileDescriptor folder = open_folder(entry.path());
    if (folder.get() < 0 || !is_ours(folder)) continue;
    if (flock(folder.get(), LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& parent) {
  remove_orphans(parent);
  // It gets its name only once it is locked; before that somebody might take it for an orphan.
  std::string unlocked = concat(parent, "/tdconf-new-XXXXXX");
  if (mkdtemp(unlocked.data()) == nullptr) fail(unlocked);
  path_ = concat(parent, "/", kPrefix, unlocked.substr(unlocked.size() - 6));
  lock_ = open_folder(unlocked);
  if (lock_.get() < 0 || flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) fail(unlocked);
  if (rename(unlocked.c_str(), path_.c_str()) != 0) fail(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace tdconf
