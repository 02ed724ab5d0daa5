// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/operation.h"

#include <algorithm>

namespace tdconf {
namespace {

using enum ArgumentType;

std::vector<Argument> transfer(const char* peer, const char* group_peer) {
  return {{"td", kTensorDict, true},
          {peer, kInteger, false},
          {group_peer, kInteger, false},
          {"group", kGroup, false},
          {"init_tag", kInteger, false},
          {"pseudo_rand", kBool, false},
          {"consolidated", kBool, false}};
}

std::vector<Argument> and_also(std::vector<Argument> arguments, const Argument& last) {
  arguments.push_back(last);
  return arguments;
}

std::vector<Argument> bare(const char* peer) {
  return {{peer, kInteger, true}, {"tag", kInteger, true}, {"group", kGroup, false}};
}

std::vector<Operation> make_table() {
  const Answers returned = Answers::kWhatTheImplementationReturns;
  const std::vector<Argument> send = transfer("dst", "group_dst");
  const std::vector<Argument> recv = transfer("src", "group_src");
  const Argument return_early{"return_early", kBool, false};
  const Argument return_premature{"return_premature", kBool, false};
  return {
      {"make", {}, Answers::kSnapshot},
      {"snapshot", {{"td", kTensorDict, true}}, Answers::kSnapshot, BareTensor::kNone, true},
      {"consolidate", {{"td", kTensorDict, true}}, Answers::kSnapshot},
      {"wait", {{"works", kWorks, true}}, Answers::kNone, BareTensor::kNone, true},
      {"send", send, returned},
      {"recv", recv, returned},
      {"isend", and_also(send, return_early), returned},
      {"irecv", and_also(recv, return_premature), returned},
      {"gather_and_stack",
       {{"td", kTensorDict, true}, {"dst", kInteger, true}, {"group", kGroup, false}},
       returned},
      {"c10d_send", bare("dst"), Answers::kNone, BareTensor::kSends},
      {"c10d_isend", bare("dst"), Answers::kWorks, BareTensor::kSends},
      {"c10d_recv", bare("src"), Answers::kTensor, BareTensor::kReceives},
      {"c10d_irecv", bare("src"), Answers::kWorks, BareTensor::kReceives},
      {"c10d_result", {{"works", kWorks, true}}, Answers::kTensor, BareTensor::kNone, true},
      {"c10d_gather_buffers",
       {{"dst", kInteger, true}, {"header", kInteger, true}, {"group", kGroup, false}},
       Answers::kBuffers},
  };
}

}  // namespace

const std::vector<Operation>& all_operations() {
  static const std::vector<Operation> kTable = make_table();
  return kTable;
}

const Operation* find_operation(std::string_view name) {
  const auto& table = all_operations();
  const auto found = std::ranges::find(table, name, &Operation::name);
  return found == table.end() ? nullptr : &*found;
}

}  // namespace tdconf
