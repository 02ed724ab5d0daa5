// SPDX-License-Identifier: BSD-3-Clause
#include <tdref/all_gather.h>
#include <tdref/consolidate.h>

#include <algorithm>
#include <limits>

#include "ops/collective.h"
#include "ops/object_message.h"
#include "ops/padding.h"

namespace tdref {
namespace {

// Checks everything before anything is sent, and waits for the other ranks to have done so.
ObjectMessage prepare(const Group& group, const TensorDictBase& td) {
  ObjectMessage own;
  agree(plan_collective({.group = group, .operation = "all_gather of tensordicts"},
                        [&](Collective& collective) {
                          own = object_message(td, {});
                          collective.call = "all_gather";
                          collective.messages = {{{}, 0, own.size}};
                        }));
  return own;
}

// What is gathered may differ in size: everybody sends as much as the one who sends most.
std::vector<at::Tensor> gather(const Group& group,
                               const at::Tensor& own,
                               const std::vector<std::int64_t>& sizes) {
  const auto largest = *std::max_element(sizes.begin(), sizes.end());
  auto gathered = group.all_gather(padded(own, largest));
  for (std::size_t rank = 0; rank < gathered.size(); ++rank) {
    gathered[rank] = gathered[rank].narrow(0, 0, sizes[rank]);
  }
  return gathered;
}

std::vector<Value> gather_metadata(const Group& group, const ObjectMessage& own) {
  std::vector<std::int64_t> sizes;
  for (const auto& size : group.all_gather(own.size)) {
    sizes.push_back(size.item<std::int64_t>());
    check_metadata_bytes(sizes.back(), static_cast<int>(sizes.size()) - 1);
  }
  std::vector<Value> metadata;
  for (const auto& pickle : gather(group, own.metadata, sizes)) {
    metadata.push_back(read_metadata(pickle));
  }
  return metadata;
}

// Every rank sends, and has room for all, as many bytes as the one who says that it has most.
void check_room(std::int64_t bytes, int group_rank, int size) {
  const std::int64_t times = size + 1;
  const bool is_finite = bytes <= std::numeric_limits<std::int64_t>::max() / times;
  allocate(is_finite ? bytes * times : bytes, "storages", group_rank);
}

}  // namespace

std::vector<AnyTensorDict> all_gather(const World& world,
                                      const TensorDictBase& td,
                                      const AllGatherOptions& options) {
  const Group& group = world.group_or_default(options.group);
  const auto own = prepare(group, td);
  const auto metadata = gather_metadata(group, own);
  std::vector<std::int64_t> sizes;
  for (int rank = 0; rank < group.size(); ++rank) {
    sizes.push_back(storage_bytes(metadata[static_cast<std::size_t>(rank)], rank));
    check_room(sizes.back(), rank, group.size());
  }
  const auto storages = gather(group, own.storage, sizes);
  std::vector<AnyTensorDict> tds;
  for (std::size_t rank = 0; rank < storages.size(); ++rank) {
    tds.push_back(rebuild(metadata[rank], storages[rank]));
  }
  return tds;
}

}  // namespace tdref
