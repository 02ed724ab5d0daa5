// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_file.h>
#include <tdref/memory_map.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

namespace tdref {
namespace {

// A file of its own in the directory for temporary ones, which loses its name in the end.
class TemporaryFile {
 public:
  TemporaryFile() : path_(std::filesystem::temp_directory_path() / "tdref-XXXXXX") {
    const int file = mkstemp(path_.data());
    TORCH_CHECK(file != -1, "no temporary file ", path_, ": ", std::strerror(errno));
    close(file);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { unlink(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Leaf memory_map(const at::Tensor& tensor) {
  TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided && tensor.is_cpu(),
                              "only a strided tensor on the CPU can be memory-mapped, got layout ",
                              tensor.layout(),
                              " and device ",
                              tensor.device());
  const auto source = tensor.detach();
  if (source.numel() == 0) {
    return {at::empty_like(source), kMemoryMappedTensor};  // no system maps zero bytes
  }
  const TemporaryFile file;
  const auto mapped = at::from_file(file.path(), /*shared=*/true, source.numel(), source.options());
  return {mapped.view(source.sizes()).copy_(source), kMemoryMappedTensor};
}

}  // namespace tdref
