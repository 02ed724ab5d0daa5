// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace tdref {

// Errors of all that follows name the file. OSError: what the system refuses, such as a file that
// is not there. c10::ValueError: a file of another kind than a regular one, which could block the
// reader or never end.

enum class Links { kFollow, kRefuse };

/// Owns the descriptor of an open file.
class OpenFile {
 public:
  enum class Access { kRead, kWrite };

  /// Opens a regular file. A refused link is reported as c10::ValueError.
  OpenFile(std::filesystem::path path, Access access, Links links);
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();

  const std::filesystem::path& path() const { return path_; }
  std::size_t size() const { return size_; }

  /// Reads the whole file.
  std::string read() const;

  /// Maps the first bytes, of which the file has as many. What is written into the tensor reaches a
  /// file that was opened for writing, and stays in this process otherwise. A file that others cut
  /// short meanwhile ends the process that touches the missing part.
  ///
  /// Shapes  the result is uint8[bytes].
  at::Tensor map(std::size_t bytes) const;

 private:
  std::filesystem::path path_;
  Access access_;
  int descriptor_;
  std::size_t size_ = 0;
};

/// Writes a file beside the place where it belongs, and puts it there when it is complete: whoever
/// reads or maps what was there before keeps that, and nobody sees half a file.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  /// Removes what was not put in place.
  ~NewFile();

  void write(std::string_view bytes);
  void put_in_place();

 private:
  std::filesystem::path path_;
  std::filesystem::path unfinished_;
  int descriptor_;
};

/// Writes a whole file as NewFile does.
void write_file(const std::filesystem::path& path, std::string_view bytes);

// What follows answers false where the system refuses to say.

bool is_there(const std::filesystem::path& path);
bool is_link(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
/// Whether this process may write the file.
bool is_writable(const std::filesystem::path& path);

/// Makes the folder if it is not there, and what it lies in.
void make_folder(const std::filesystem::path& path);

}  // namespace tdref
