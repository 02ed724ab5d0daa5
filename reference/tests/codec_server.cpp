// SPDX-License-Identifier: BSD-3-Clause
// Answers requests on stdin until it ends. A request is a letter, a little-endian uint64 and that
// many bytes; an answer is 'k' or 'e', a uint64 and that many bytes (of an error: its type as Python
// names it, ": " and its message).
//   t  a pickled tensordict: read and pickled again
//   v  a pickled literal: read and pickled again
//   c  a pickled tensordict: consolidated; a block is the answer
//   r  a block: rebuilt, and its tensordict pickled without its storage
// A block is a uint64, that many bytes of storage, and the pickled metadata.
//
// What follows begins with a uint64 and that many bytes, a path; the answer is a pickled tensordict.
//   C  a pickled tensordict: consolidated into the file
//   F  nothing: the consolidated file, read
//   M  a pickled tensordict: memory-mapped into the folder
//   L  nothing: the memory-mapped folder, read
//   A  nothing: as L, after 1 is added to each element of the mapped leaves
//   P  a pickled tensordict: written to the HDF5 file
//   H  nothing: the HDF5 file, read
//   G  nothing: as H, with the batch size []
#include <ATen/ATen.h>
#include <tdref/consolidate.h>
#include <tdref/consolidated_file.h>
#include <tdref/errors.h>
#include <tdref/memmap.h>
#include <tdref/persistent.h>
#include <tdref/pickle.h>

#include <cstring>
#include <iostream>
#include <string>
#include <string_view>

#include "tree/walk.h"

namespace {

std::string number(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::string_view take_counted(std::string_view& body) {
  std::uint64_t size = 0;
  std::memcpy(&size, body.data(), sizeof(size));
  const auto counted = body.substr(sizeof(size), size);
  body.remove_prefix(sizeof(size) + size);
  return counted;
}

std::string consolidated(std::string_view pickle) {
  const auto td = tdref::consolidate(*tdref::unpickle_tensordict(pickle));
  const auto& storage = td->consolidated().storage;
  return number(storage.nbytes()) +
         std::string(static_cast<const char*>(storage.const_data_ptr()), storage.nbytes()) +
         tdref::pickle_value(tdref::consolidated_metadata(*td));
}

// Without the storage, whether it has one or not.
std::string pickled(tdref::AnyTensorDict td) {
  const bool was_locked = td->is_locked() && !td->is_consolidated();
  td->unlock();
  if (was_locked) {
    td->lock();
  }
  return tdref::pickle_tensordict(*td);
}

std::string rebuilt(std::string_view block) {
  const auto bytes = take_counted(block);
  const auto storage = at::empty({static_cast<std::int64_t>(bytes.size())}, at::kByte);
  std::memcpy(storage.mutable_data_ptr(), bytes.data(), bytes.size());
  return pickled(tdref::rebuild(tdref::unpickle_value(block), storage));
}

tdref::AnyTensorDict add_one_to(const std::string& folder) {
  auto td = tdref::load_memmap(folder);
  tdref::for_each_tensor(
      *td, [](const tdref::KeyPath&, const at::Tensor& tensor) { at::Tensor(tensor).add_(1); });
  return td;
}

std::string of_file(char request, const std::string& path, std::string_view pickle) {
  switch (request) {
    case 'C':
      return pickled(tdref::consolidate(*tdref::unpickle_tensordict(pickle), {.filename = path}));
    case 'F':
      return pickled(tdref::from_consolidated(path));
    case 'M':
      return pickled(tdref::memmap(*tdref::unpickle_tensordict(pickle), {.prefix = path}));
    case 'L':
      return pickled(tdref::load_memmap(path));
    case 'A':
      return pickled(add_one_to(path));
    case 'P':
      return pickled(tdref::to_h5(*tdref::unpickle_tensordict(pickle), path).contents());
    case 'H':
      return pickled(tdref::from_h5(path).contents());
    case 'G':
      return pickled(tdref::PersistentTensorDict({.filename = path}, {}).contents());
    default:
      TORCH_CHECK_VALUE(false, "unknown request");
  }
}

std::string answer(char request, std::string_view body) {
  switch (request) {
    case 't':
      return tdref::pickle_tensordict(*tdref::unpickle_tensordict(body));
    case 'v':
      return tdref::pickle_value(tdref::unpickle_value(body));
    case 'c':
      return consolidated(body);
    case 'r':
      return rebuilt(body);
    default:
      const std::string path(take_counted(body));
      return of_file(request, path, body);
  }
}

const char* python_type(const c10::Error& error) {
  if (dynamic_cast<const c10::ValueError*>(&error) != nullptr) return "ValueError";
  if (dynamic_cast<const c10::TypeError*>(&error) != nullptr) return "TypeError";
  if (dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr) {
    return "NotImplementedError";
  }
  return dynamic_cast<const tdref::OSError*>(&error) != nullptr ? "OSError" : "RuntimeError";
}

}  // namespace

int main() {
  char request = 0;
  while (std::cin.get(request)) {
    std::uint64_t size = 0;
    std::cin.read(reinterpret_cast<char*>(&size), sizeof(size));
    std::string body(size, '\0');
    std::cin.read(body.data(), static_cast<std::streamsize>(size));
    char status = 'k';
    std::string text;
    try {
      text = answer(request, body);
    } catch (const c10::Error& error) {
      status = 'e';
      text = c10::str(python_type(error), ": ", error.what_without_backtrace());
    }
    std::cout << status << number(text.size()) << text << std::flush;
  }
}
