// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "common/command_line.h"
#include "common/operation.h"

namespace tdconf::bench::floor {

/// The group over which the bytes travel, and nothing else.
struct Ranks {
  c10::intrusive_ptr<c10d::Backend> backend;
  int rank = 0;
  int world = 0;
};

std::unique_ptr<Operation> make_send(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_send_consolidated(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_init_remote(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_broadcast(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_all_gather(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_all_reduce(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_all_reduce_buckets(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_gather_and_stack(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_gather_and_stack_pickles(Ranks& ranks, const Case& c);

/// Connects the ranks of the column that moves the same bytes with c10d alone.
std::unique_ptr<Column> open(const CommandLine& line);

}  // namespace tdconf::bench::floor
