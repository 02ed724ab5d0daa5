// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/group.h>

#include <memory>
#include <optional>

#include "common/command_line.h"
#include "common/operation.h"

namespace tdconf::bench::reference {

/// What tdref knows of the ranks.
struct Ranks {
  explicit Ranks(const CommandLine& command_line);

  /// Returns a world whose backend string makes gather_and_stack send pickles.
  ///
  /// Blocks  the first time, until all ranks have called it.
  const tdref::World& pickles();

  const CommandLine& line;
  const int rank;
  const int world;
  const tdref::World groups;

 private:
  std::optional<tdref::World> pickles_;
};

std::unique_ptr<Operation> make_send(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_send_pseudo_rand(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_isend(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_send_consolidated(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_send_consolidating(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_init_remote(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_broadcast(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_all_gather(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_all_reduce(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_all_reduce_buckets(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_gather_and_stack(Ranks& ranks, const Case& c);
std::unique_ptr<Operation> make_gather_and_stack_pickles(Ranks& ranks, const Case& c);

/// Connects the ranks of the column that is tdref.
std::unique_ptr<Column> open(const CommandLine& line);

}  // namespace tdconf::bench::reference
