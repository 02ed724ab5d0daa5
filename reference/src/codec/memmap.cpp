// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/errors.h>
#include <tdref/memmap.h>
#include <unistd.h>

#include <filesystem>

#include "codec/bytes.h"
#include "codec/elements.h"
#include "codec/file.h"
#include "codec/memmap_plan.h"
#include "tree/visit.h"

namespace tdref {
namespace {

using std::filesystem::path;

void write(const MemmapPlan& plan) {
  for (const auto& folder : plan.folders) {
    make_folder(folder);
  }
  for (const auto& file : plan.files) {
    std::visit(Overloaded{[&](const std::string& text) { write_file(file.path, text); },
                          [&](const at::Tensor& tensor) {
                            write_file(file.path, as_bytes(row_major(tensor)));
                          }},
               file.content);
  }
  for (const auto& file : plan.stale) {
    unlink(file.c_str());
  }
}

AnyTensorDict write_and_load(const TensorDictBase& td, const path& prefix, bool existsok) {
  write(plan_memmap(td, prefix, existsok));
  auto result = load_memmap(prefix, {.mode = "r+"});
  result->lock();
  return result;
}

// A folder for files that lose their names while they are mapped.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / "tdref-XXXXXX") {
    TDREF_CHECK_WITH(
        OSError, mkdtemp(path_.data()) != nullptr, "no temporary folder '", path_, "'");
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }

  path prefix() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

AnyTensorDict memmap(const TensorDictBase& td, const MemmapOptions& options) {
  if (!options.prefix.has_value()) {
    const TemporaryFolder folder;
    return write_and_load(td, folder.prefix(), true);
  }
  const path prefix = *options.prefix;
  TORCH_CHECK_NOT_IMPLEMENTED(prefix.extension() != ".tdz",
                              "the prefix '",
                              prefix.string(),
                              "' asks for an archive; allowed is the name of a folder");
  return write_and_load(td, prefix, options.existsok);
}

}  // namespace tdref
