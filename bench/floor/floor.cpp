// SPDX-License-Identifier: BSD-3-Clause
#include "floor/floor.h"

#include <array>
#include <utility>

#include "common/control.h"
#include "common/table.h"

namespace tdconf::bench::floor {
namespace {

constexpr std::array kOperations{
    Entry<Ranks>{"send", Members::kTwo, make_send},
    Entry<Ranks>{"send_pseudo_rand", Members::kTwo, make_send},
    Entry<Ranks>{"isend", Members::kTwo, make_send},
    Entry<Ranks>{"send_consolidated", Members::kTwo, make_send_consolidated},
    Entry<Ranks>{"send_consolidating", Members::kTwo, make_send_consolidated},
    Entry<Ranks>{"init_remote", Members::kTwo, make_init_remote},
    Entry<Ranks>{"broadcast", Members::kAll, make_broadcast},
    Entry<Ranks>{"all_gather", Members::kAll, make_all_gather},
    Entry<Ranks>{"all_reduce", Members::kAll, make_all_reduce},
    Entry<Ranks>{"all_reduce_buckets", Members::kAll, make_all_reduce_buckets},
    Entry<Ranks>{"gather_and_stack", Members::kAll, make_gather_and_stack},
    Entry<Ranks>{"gather_and_stack_pickles", Members::kAll, make_gather_and_stack_pickles},
};

class Floor : public Column {
 public:
  explicit Floor(Ranks ranks) : ranks_(std::move(ranks)) {}

  std::unique_ptr<Operation> make(const Case& c) override {
    return make_from(kOperations, ranks_, c);
  }

 private:
  Ranks ranks_;
};

}  // namespace

std::unique_ptr<Column> open(const CommandLine& line) {
  const auto store = open_store(line.store, "work", line.world);
  return std::make_unique<Floor>(
      Ranks{connect(store, line.rank, line.world), line.rank, line.world});
}

}  // namespace tdconf::bench::floor
