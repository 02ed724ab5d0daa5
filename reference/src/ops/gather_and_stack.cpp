// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/gather_and_stack.h>

#include <exception>

#include "ops/gather_wire.h"
#include "tree/stack.h"

namespace tdref {
namespace {

// What dst finds wrong without looking at the rows; checked after the messages, so that no other
// rank waits.
void check_row_count(const TensorDictBase& td, const Group& group) {
  TORCH_CHECK(group.size() > 1, "gather_and_stack has no rows to stack in a group of one rank");
  TORCH_CHECK(
      !td.batch_size().empty() && td.batch_size()[0] == group.size() - 1,
      "gather_and_stack needs one row for each other rank on dst: its first batch dimension "
      "is ",
      group.size() - 1,
      ", but the batch size is ",
      c10::IntArrayRef(td.batch_size()));
}

void send_row(const TensorDictBase& td, const Group& group, int group_dst, GatherWire wire) {
  GatherMessage message;
  std::exception_ptr problem;
  try {
    message = encode(td, wire);
  } catch (const c10::Error&) {
    problem = std::current_exception();  // the others are waiting for a message: send an empty one
  }
  gather_messages(group, group_dst, wire, message);
  if (problem) {
    std::rethrow_exception(problem);
  }
}

}  // namespace

TensorDictBase* gather_and_stack(const World& world,
                                 TensorDictBase& td,
                                 const GatherAndStackOptions& options) {
  const Group& group = world.group_or_default(options.group);
  const int group_rank = group.group_rank();
  const int group_dst = group.group_rank_of(options.dst);
  const auto wire = gather_wire_for(group.backend());
  if (group_rank != group_dst) {
    send_row(td, group, group_dst, wire);
    return nullptr;
  }
  const auto received = gather_messages(group, group_dst, wire, {});
  check_row_count(td, group);
  std::vector<AnyTensorDict> rows;
  for (int sender = 0; sender < group.size(); ++sender) {
    if (sender != group_dst) {
      rows.push_back(decode(received[static_cast<std::size_t>(sender)], sender));
    }
  }
  td.update_in_place(*stack(rows));
  return &td;
}

}  // namespace tdref
