// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tdref {

/// Writes one pickle, of protocol 4 without frames and memo, in the order in which Python's reader
/// builds it.
class PickleWriter {
 public:
  PickleWriter();

  void none();
  void boolean(bool data);
  void integer(std::int64_t data);
  void floating(double data);
  void text(std::string_view utf8);
  void bytes(std::string_view data);

  void begin_list();
  void end_list();
  void begin_tuple();
  void end_tuple();
  /// Keys and values follow in turn.
  void begin_dict();
  void end_dict();

  void empty_set();

  void global(std::string_view module, std::string_view name);
  /// Calls the object before the last with the tuple that is last.
  void reduce();
  /// Makes an object of the class before the last with the tuple that is last.
  void new_object();
  /// Sets the last object as the state of the one before it.
  void build();
  /// Makes an object of a class without calling it, whose attributes follow as keys and values.
  void begin_object(std::string_view module, std::string_view cls);
  void end_object();
  /// Turns the last object into what its reader keeps elsewhere.
  void persistent();

  std::string finish() &&;

 private:
  void code(unsigned char opcode);
  void little_endian(std::uint64_t value, int bytes);
  void counted(unsigned char short_opcode,
               unsigned char opcode,
               unsigned char long_opcode,
               std::string_view data);

  std::string out_;
};

}  // namespace tdref
