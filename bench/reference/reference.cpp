// SPDX-License-Identifier: BSD-3-Clause
#include "reference/reference.h"

#include <array>

#include "common/control.h"
#include "common/table.h"

namespace tdconf::bench::reference {
namespace {

constexpr std::array kOperations{
    Entry<Ranks>{"send", Members::kTwo, make_send},
    Entry<Ranks>{"send_pseudo_rand", Members::kTwo, make_send_pseudo_rand},
    Entry<Ranks>{"isend", Members::kTwo, make_isend},
    Entry<Ranks>{"send_consolidated", Members::kTwo, make_send_consolidated},
    Entry<Ranks>{"send_consolidating", Members::kTwo, make_send_consolidating},
    Entry<Ranks>{"init_remote", Members::kTwo, make_init_remote},
    Entry<Ranks>{"broadcast", Members::kAll, make_broadcast},
    Entry<Ranks>{"all_gather", Members::kAll, make_all_gather},
    Entry<Ranks>{"all_reduce", Members::kAll, make_all_reduce},
    Entry<Ranks>{"all_reduce_buckets", Members::kAll, make_all_reduce_buckets},
    Entry<Ranks>{"gather_and_stack", Members::kAll, make_gather_and_stack},
    Entry<Ranks>{"gather_and_stack_pickles", Members::kAll, make_gather_and_stack_pickles},
};

tdref::World open_world(const CommandLine& line,
                        const std::string& name,
                        const std::string& backend) {
  return tdref::World::init_process_group(
      open_store(line.store, name, line.world),
      line.rank,
      line.world,
      {.backend = backend, .timeout = kTimeout, .agree_on_structure = line.agreement});
}

class Reference : public Column {
 public:
  explicit Reference(const CommandLine& line) : ranks_(line) {}

  std::unique_ptr<Operation> make(const Case& c) override {
    return make_from(kOperations, ranks_, c);
  }

 private:
  Ranks ranks_;
};

}  // namespace

Ranks::Ranks(const CommandLine& command_line)
    : line(command_line),
      rank(command_line.rank),
      world(command_line.world),
      groups(open_world(command_line, "work", "gloo")) {}

const tdref::World& Ranks::pickles() {
  if (!pickles_.has_value()) {
    pickles_ = open_world(line, "pickles", "cpu:gloo");
  }
  return *pickles_;
}

std::unique_ptr<Column> open(const CommandLine& line) {
  return std::make_unique<Reference>(line);
}

}  // namespace tdconf::bench::reference
