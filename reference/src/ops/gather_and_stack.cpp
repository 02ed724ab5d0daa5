// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/gather_and_stack.h>

#include <exception>

#include "ops/collective.h"
#include "ops/gather_wire.h"
#include "ops/write_rows.h"
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

/// What this rank contributes, and to whom.
struct Row {
  int group_dst = 0;
  GatherMessage message;
  std::exception_ptr problem;  // of who cannot encode its tensordict, and sends an empty message
};

// Checks what can be checked before anything is sent, and waits for the other ranks to have done so.
Row prepare(const Group& group, const TensorDictBase& td, int dst, GatherWire wire) {
  Row row;
  const int self = group.group_rank();
  agree(plan_collective({.group = group, .operation = "gather_and_stack"}, [&](Collective& part) {
    row.group_dst = group.group_rank_of(dst);
    part.operation += c10::str(" on group rank ", row.group_dst);
    if (self != row.group_dst) {
      try {
        row.message = encode(td, wire);
      } catch (const c10::Error&) {
        row.problem = std::current_exception();
      }
    }
    part.call = "all_gather";
    part.messages = {{{}, 0, header_of(row.message, wire)}};
  }));
  return row;
}

}  // namespace

TensorDictBase* gather_and_stack(const World& world,
                                 TensorDictBase& td,
                                 const GatherAndStackOptions& options) {
  const Group& group = world.group_or_default(options.group);
  const auto wire = gather_wire_for(group.backend());
  const auto row = prepare(group, td, options.dst, wire);
  const auto received = gather_messages(group, row.group_dst, wire, row.message);
  if (row.problem) {
    std::rethrow_exception(row.problem);
  }
  if (group.group_rank() != row.group_dst) {
    return nullptr;
  }
  check_row_count(td, group);
  std::vector<AnyTensorDict> rows;
  for (int sender = 0; sender < group.size(); ++sender) {
    if (sender != row.group_dst) {
      rows.push_back(decode(received[static_cast<std::size_t>(sender)], sender));
    }
  }
  if (!write_plain_rows(td, rows)) {
    td.update_in_place(*stack(rows));  // which also says what does not fit
  }
  return &td;
}

}  // namespace tdref
