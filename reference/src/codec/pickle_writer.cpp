// SPDX-License-Identifier: BSD-3-Clause
#include "codec/pickle_writer.h"

#include <bit>
#include <limits>

#include "codec/opcodes.h"

namespace tdref {

PickleWriter::PickleWriter() {
  code(opcode::kProto);
  little_endian(4, 1);
}

void PickleWriter::code(unsigned char opcode) {
  out_.push_back(static_cast<char>(opcode));
}

void PickleWriter::little_endian(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out_.push_back(static_cast<char>(value >> (8 * i)));
  }
}

void PickleWriter::counted(unsigned char short_opcode,
                           unsigned char opcode,
                           unsigned char long_opcode,
                           std::string_view data) {
  if (data.size() <= std::numeric_limits<std::uint8_t>::max()) {
    code(short_opcode);
    little_endian(data.size(), 1);
  } else if (data.size() <= std::numeric_limits<std::uint32_t>::max()) {
    code(opcode);
    little_endian(data.size(), 4);
  } else {
    code(long_opcode);
    little_endian(data.size(), 8);
  }
  out_.append(data);
}

void PickleWriter::none() {
  code(opcode::kNone);
}

void PickleWriter::boolean(bool data) {
  code(data ? opcode::kNewTrue : opcode::kNewFalse);
}

void PickleWriter::integer(std::int64_t data) {
  if (data == static_cast<std::int32_t>(data)) {
    code(opcode::kBinInt);
    little_endian(static_cast<std::uint64_t>(data), 4);
  } else {
    code(opcode::kLong1);
    little_endian(8, 1);
    little_endian(static_cast<std::uint64_t>(data), 8);
  }
}

void PickleWriter::floating(double data) {
  code(opcode::kBinFloat);
  little_endian(__builtin_bswap64(std::bit_cast<std::uint64_t>(data)), 8);
}

void PickleWriter::text(std::string_view utf8) {
  counted(opcode::kShortBinUnicode, opcode::kBinUnicode, opcode::kBinUnicode8, utf8);
}

void PickleWriter::bytes(std::string_view data) {
  counted(opcode::kShortBinBytes, opcode::kBinBytes, opcode::kBinBytes8, data);
}

void PickleWriter::begin_list() {
  code(opcode::kEmptyList);
  code(opcode::kMark);
}
void PickleWriter::end_list() {
  code(opcode::kAppends);
}

void PickleWriter::begin_tuple() {
  code(opcode::kMark);
}
void PickleWriter::end_tuple() {
  code(opcode::kTuple);
}

void PickleWriter::begin_dict() {
  code(opcode::kEmptyDict);
  code(opcode::kMark);
}
void PickleWriter::end_dict() {
  code(opcode::kSetItems);
}

void PickleWriter::empty_set() {
  code(opcode::kEmptySet);
}

void PickleWriter::global(std::string_view module, std::string_view name) {
  text(module);
  text(name);
  code(opcode::kStackGlobal);
}

void PickleWriter::reduce() {
  code(opcode::kReduce);
}
void PickleWriter::new_object() {
  code(opcode::kNewObj);
}
void PickleWriter::build() {
  code(opcode::kBuild);
}

void PickleWriter::begin_object(std::string_view module, std::string_view cls) {
  global(module, cls);
  begin_tuple();
  end_tuple();
  new_object();
  begin_dict();
}
void PickleWriter::end_object() {
  end_dict();
  build();
}

void PickleWriter::persistent() {
  code(opcode::kBinPersId);
}

std::string PickleWriter::finish() && {
  code(opcode::kStop);
  return std::move(out_);
}

}  // namespace tdref
