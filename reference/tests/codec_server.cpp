// SPDX-License-Identifier: BSD-3-Clause
// Answers requests on stdin until it ends. A request is a letter, a little-endian uint64 and that
// many bytes; an answer is 'k' or 'e', a uint64 and that many bytes (of an error: its message).
//   t  a pickled tensordict: read and pickled again
//   v  a pickled literal: read and pickled again
//   c  a pickled tensordict: consolidated; a block is the answer
//   r  a block: rebuilt, and its tensordict pickled without its storage
// A block is a uint64, that many bytes of storage, and the pickled metadata.
#include <ATen/ATen.h>
#include <tdref/consolidate.h>
#include <tdref/pickle.h>

#include <cstring>
#include <iostream>
#include <string>

namespace {

std::string number(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

std::string consolidated(std::string_view pickle) {
  const auto td = tdref::consolidate(*tdref::unpickle_tensordict(pickle));
  const auto& storage = td->consolidated().storage;
  return number(storage.nbytes()) +
         std::string(static_cast<const char*>(storage.const_data_ptr()), storage.nbytes()) +
         tdref::pickle_value(tdref::consolidated_metadata(*td));
}

std::string rebuilt(std::string_view block) {
  std::uint64_t size = 0;
  std::memcpy(&size, block.data(), sizeof(size));
  block.remove_prefix(sizeof(size));
  const auto storage = at::empty({static_cast<std::int64_t>(size)}, at::kByte);
  std::memcpy(storage.mutable_data_ptr(), block.data(), size);
  auto td = tdref::rebuild(tdref::unpickle_value(block.substr(size)), storage);
  td->unlock();
  return tdref::pickle_tensordict(*td);
}

std::string answer(char request, const std::string& body) {
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
      TORCH_CHECK_VALUE(false, "unknown request");
  }
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
      text = error.what_without_backtrace();
    }
    std::cout << status << number(text.size()) << text << std::flush;
  }
}
