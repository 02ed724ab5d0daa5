// SPDX-License-Identifier: BSD-3-Clause
#include "codec/file.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/Exception.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tdref/errors.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tdref {
namespace {

void check_system(bool condition, const std::filesystem::path& path, const char* what) {
  const int error = errno;
  TDREF_CHECK_WITH(
      OSError, condition, "'", path.string(), "' cannot be ", what, ": ", std::strerror(error));
}

void check_path(const std::filesystem::path& path) {
  TORCH_CHECK_VALUE(path.native().find('\0') == std::string::npos,
                    "the name of a file has a null character, which ends it for the system");
}

int open_existing(const std::filesystem::path& path, OpenFile::Access access, Links links) {
  check_path(path);
  // A pipe would block until somebody writes into it.
  int flags = O_CLOEXEC | O_NONBLOCK | (access == OpenFile::Access::kRead ? O_RDONLY : O_RDWR);
  flags |= links == Links::kRefuse ? O_NOFOLLOW : 0;
  const int descriptor = open(path.c_str(), flags);
  TORCH_CHECK_VALUE(descriptor >= 0 || errno != ELOOP || links == Links::kFollow,
                    "'",
                    path.string(),
                    "' is a symbolic link; allowed is a file of its own");
  check_system(descriptor >= 0, path, "opened");
  return descriptor;
}

std::filesystem::path name_beside(const std::filesystem::path& path) {
  static std::atomic<std::uint64_t> count = 0;
  return path.parent_path() /
         (".tdref-" + std::to_string(getpid()) + "-" + std::to_string(count++));
}

int create(const std::filesystem::path& path) {
  check_path(path);
  return open(path.c_str(), O_CLOEXEC | O_WRONLY | O_CREAT | O_EXCL, 0666);
}

}  // namespace

OpenFile::OpenFile(std::filesystem::path path, Access access, Links links)
    : path_(std::move(path)), access_(access), descriptor_(open_existing(path_, access, links)) {
  struct stat status {};
  const bool is_known = fstat(descriptor_, &status) == 0;
  if (!is_known || !S_ISREG(status.st_mode)) {
    close(descriptor_);
  }
  check_system(is_known, path_, "examined");
  TORCH_CHECK_VALUE(S_ISREG(status.st_mode), "'", path_.string(), "' is not a regular file");
  size_ = static_cast<std::size_t>(status.st_size);
}

OpenFile::~OpenFile() {
  close(descriptor_);
}

std::string OpenFile::read() const {
  std::string bytes(size_, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto count =
        pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    check_system(count >= 0, path_, "read");
    TORCH_CHECK_VALUE(count > 0, "'", path_.string(), "' became shorter while it was read");
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

at::Tensor OpenFile::map(std::size_t bytes) const {
  TORCH_CHECK_VALUE(
      bytes <= size_, "'", path_.string(), "' has ", size_, " bytes; ", bytes, " are needed");
  if (bytes == 0) {
    return at::empty({0}, at::kByte);  // no system maps zero bytes
  }
  void* const begin = mmap(nullptr,
                           bytes,
                           PROT_READ | PROT_WRITE,
                           access_ == Access::kWrite ? MAP_SHARED : MAP_PRIVATE,
                           descriptor_,
                           0);
  check_system(begin != MAP_FAILED, path_, "mapped");
  return at::from_blob(
      begin,
      {static_cast<std::int64_t>(bytes)},
      [bytes](void* mapped) { munmap(mapped, bytes); },
      at::kByte);
}

NewFile::NewFile(std::filesystem::path path)
    : path_(std::move(path)), unfinished_(name_beside(path_)), descriptor_(create(unfinished_)) {
  // What has this name was left behind by another process of this number.
  while (descriptor_ < 0 && errno == EEXIST) {
    unfinished_ = name_beside(path_);
    descriptor_ = create(unfinished_);
  }
  check_system(descriptor_ >= 0, path_, "made");
}

NewFile::~NewFile() {
  close(descriptor_);
  if (!unfinished_.empty()) {
    unlink(unfinished_.c_str());
  }
}

void NewFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    check_system(count >= 0, path_, "written");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void NewFile::put_in_place() {
  check_system(rename(unfinished_.c_str(), path_.c_str()) == 0, path_, "put in place");
  unfinished_.clear();
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  NewFile file(path);
  file.write(bytes);
  file.put_in_place();
}

bool is_there(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::exists(std::filesystem::symlink_status(path, none));
}

bool is_link(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_symlink(std::filesystem::symlink_status(path, none));
}

bool is_folder(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_directory(path, none);
}

bool is_writable(const std::filesystem::path& path) {
  return access(path.c_str(), W_OK) == 0;
}

void make_folder(const std::filesystem::path& path) {
  check_path(path);
  std::error_code error;
  std::filesystem::create_directories(path, error);
  TDREF_CHECK_WITH(
      OSError, !error, "the folder '", path.string(), "' cannot be made: ", error.message());
}

}  // namespace tdref
