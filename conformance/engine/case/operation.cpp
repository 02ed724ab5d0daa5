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

/// Of a reduction, beside the tensordict and the rank that gets the result.
std::vector<Argument> reduction(std::vector<Argument> arguments) {
  arguments.insert(arguments.end(),
                   {{"op", kReduceOp, false},
                    {"async_op", kBool, false},
                    {"group", kGroup, false},
                    {"bucket_bytes", kInteger, false}});
  return arguments;
}

std::vector<Argument> bare(const char* peer) {
  return {{peer, kInteger, true}, {"tag", kInteger, true}, {"group", kGroup, false}};
}

std::vector<Operation> make_table() {
  const Answers returned = Answers::kWhatTheImplementationReturns;
  const std::vector<Argument> send = transfer("dst", "group_dst");
  const std::vector<Argument> recv = transfer("src", "group_src");
  const Argument pipe{"pipe", kPipe, false};
  const Argument return_early{"return_early", kBool, false};
  const Argument return_premature{"return_premature", kBool, false};
  const Argument td{"td", kTensorDict, true};
  const Argument group{"group", kGroup, false};
  const Argument device{"device", kDevice, false};
  const Argument use_broadcast{"use_broadcast", kBool, false};
  return {
      {.name = "make", .answers = Answers::kSnapshot},
      {.name = "snapshot",
       .arguments = {{"td", kTensorDict, true}},
       .answers = Answers::kSnapshot,
       .takes_name_alone = true},
      {.name = "consolidate",
       .arguments = {{"td", kTensorDict, true}},
       .answers = Answers::kSnapshot,
       .needs_as = true},
      {.name = "getitem",
       .arguments = {td, {"index", kIndex, true}},
       .answers = Answers::kSnapshot,
       .needs_as = true},
      {.name = "wait",
       .arguments = {{"works", kWorks, true}},
       .answers = Answers::kNone,
       .takes_name_alone = true},
      {.name = "send", .arguments = and_also(send, pipe), .answers = returned},
      {.name = "recv",
       .arguments = and_also(recv, pipe),
       .answers = returned,
       .gives_tensordict = true},
      {.name = "isend", .arguments = and_also(send, return_early), .answers = returned},
      {.name = "irecv", .arguments = and_also(recv, return_premature), .answers = returned},
      {.name = "gather_and_stack",
       .arguments = {{"td", kTensorDict, true}, {"dst", kInteger, true}, {"group", kGroup, false}},
       .answers = returned,
       .gives_tensordict = true},
      {.name = "init_remote",
       .arguments = {td, {"dst", kInteger, false}, group, device, use_broadcast},
       .answers = returned},
      {.name = "from_remote_init",
       .arguments = {{"src", kInteger, false}, group, device, use_broadcast},
       .answers = returned,
       .needs_as = true,
       .gives_tensordict = true},
      {.name = "broadcast",
       .arguments = {td, {"src", kInteger, true}, group, device},
       .answers = returned,
       .needs_as = true,
       .gives_tensordict = true},
      {.name = "scatter",
       .arguments =
           {td, {"src", kInteger, true}, {"tensordicts", kTensorDicts, false}, group, device},
       .answers = returned,
       .needs_as = true,
       .gives_tensordict = true},
      {.name = "all_gather",
       .arguments = {td, group},
       .answers = returned,
       .needs_as = true,
       .makes_one_for_each_member = true},
      {.name = "all_reduce", .arguments = reduction({td}), .answers = returned},
      {.name = "reduce",
       .arguments = and_also(reduction({td, {"dst", kInteger, true}}), return_premature),
       .answers = returned},
      {.name = "open_pipe",
       .arguments = {{"peer", kInteger, true}, {"listen", kBool, true}},
       .answers = Answers::kNone,
       .needs_as = true},
      {.name = "close_pipe",
       .arguments = {{"pipe", kPipe, true}},
       .answers = Answers::kNone,
       .takes_name_alone = true},
      {.name = "c10d_send",
       .arguments = bare("dst"),
       .answers = Answers::kNone,
       .tensor = BareTensor::kSends},
      {.name = "c10d_isend",
       .arguments = bare("dst"),
       .answers = Answers::kWorks,
       .tensor = BareTensor::kSends},
      {.name = "c10d_recv",
       .arguments = bare("src"),
       .answers = Answers::kTensor,
       .tensor = BareTensor::kReceives},
      {.name = "c10d_irecv",
       .arguments = bare("src"),
       .answers = Answers::kWorks,
       .tensor = BareTensor::kReceives},
      {.name = "c10d_result",
       .arguments = {{"works", kWorks, true}},
       .answers = Answers::kTensor,
       .takes_name_alone = true},
      {.name = "c10d_gather_buffers",
       .arguments = {{"dst", kInteger, true}, {"header", kInteger, true}, {"group", kGroup, false}},
       .answers = Answers::kBuffers},
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
