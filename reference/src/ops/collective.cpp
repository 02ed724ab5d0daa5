// SPDX-License-Identifier: BSD-3-Clause
#include "ops/collective.h"

#include <tdref/announcement.h>

#include <tuple>
#include <utility>

#include "codec/observer.h"
#include "group/collective_agreement.h"
#include "group/work.h"

namespace tdref {
namespace {

// Tells the other ranks, which may be waiting, that this one will not take part.
void refuse(const Collective& collective, const c10::Error& error) {
  const auto agreement = collective.group.collectives();
  if (agreement == nullptr) {
    return;
  }
  try {
    agreement->announce({{CollectiveNote::Kind::kRefusal, error.what_without_backtrace()},
                         collective.operation,
                         {}});
  } catch (const c10::DistNetworkError&) {
    // The connection is lost, so nobody waits; the error of this rank is the one to report.
  }
}

std::shared_ptr<void> show_announcement(const Collective& collective) {
  auto* observer = current_observer();
  if (observer == nullptr || collective.messages.empty()) {
    return nullptr;
  }
  const auto& [group, root] = std::tie(collective.group, collective.group_root);
  return observer->announced({group,
                              !root.has_value() || *root == group.group_rank(),
                              root.value_or(-1),
                              collective.messages,
                              collective.call});
}

CollectiveProposal proposal_of(const Collective& collective, std::function<Works()> post) {
  return {{CollectiveNote::Kind::kStructure, collective.operation + collective.leaves},
          collective.operation,
          {std::move(post), show_announcement(collective)}};
}

}  // namespace

Collective plan_collective(Collective collective, const std::function<void(Collective&)>& plan) {
  try {
    plan(collective);
    check_note_bytes(collective.operation.size() + collective.leaves.size());
    return collective;
  } catch (c10::Error& error) {
    refuse(collective, error);
    error.add_context(collective.operation);
    throw;
  }
}

void agree(const Collective& collective) {
  const auto agreement = collective.group.collectives();
  if (agreement != nullptr) {
    const auto pending = agreement->announce(proposal_of(collective, nullptr));
    agreement->posted(*pending, collective.group.timeout());
  }
}

Works start(const Collective& collective, std::size_t count, const std::function<Works()>& post) {
  const auto agreement = collective.group.collectives();
  if (agreement == nullptr) {
    return post();
  }
  return works_from(
      [agreement, pending = agreement->announce(proposal_of(collective, post))](
          std::chrono::milliseconds timeout) -> const Works& {
        return agreement->posted(*pending, timeout);
      },
      count,
      collective.group.timeout());
}

}  // namespace tdref
