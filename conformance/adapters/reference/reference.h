// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/tensordict.h>
#include <tdref/work.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/groups.h"
#include "common/pending.h"
#include "common/player.h"
#include "common/transcript.h"
#include "reference/files.h"
#include "reference/noted_events.h"
#include "reference/pipes.h"

namespace tdconf::adapter {

/// The adapter of the C++ reference: each operation of the protocol is one call of tdref.
class Reference {
 public:
  Reference() = default;
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  /// The returned player refers to this object.
  Player player();

 private:
  // Values.
  json make(const Fields& args);
  json snapshot(const Fields& args);
  json consolidate(const Fields& args, const std::optional<std::string>& as);
  json getitem(const Fields& args, const std::optional<std::string>& as);

  // Messages.
  json send(const Fields& args);
  json recv(const Fields& args, const std::optional<std::string>& as);
  json isend(const Fields& args, const std::optional<std::string>& as);
  json irecv(const Fields& args, const std::optional<std::string>& as);
  json gather_and_stack(const Fields& args);
  json init_remote(const Fields& args);
  json from_remote_init(const Fields& args, const std::optional<std::string>& as);
  json broadcast(const Fields& args, const std::optional<std::string>& as);
  json scatter(const Fields& args, const std::optional<std::string>& as);
  json all_gather(const Fields& args, const std::optional<std::string>& as);
  json all_reduce(const Fields& args, const std::optional<std::string>& as);
  json reduce(const Fields& args, const std::optional<std::string>& as);
  json open_pipe(const Fields& args, const std::optional<std::string>& as);
  json close_pipe(const Fields& args);

  /// Returns the name that the step gives to the result.
  ///
  /// Errors  BadRequest: it gives none.
  static const std::string& needed(const char* op, const std::optional<std::string>& as);

  /// Returns the tensordict that the argument `td` names.
  ///
  /// Errors  BadRequest: there is none.
  tdref::TensorDictBase& td_of(const Fields& args);

  /// Returns what is held under `name`, which the argument `key` gives.
  ///
  /// Errors  BadRequest: there is none.
  tdref::AnyTensorDict& value_named(const Fields& args,
                                    const std::string& key,
                                    const std::string& name);

  /// Sets the options that the arguments give; an option that they do not give keeps its default.
  template <typename Options>
  void set_transfer_options(const Fields& args, Options& options) const;
  std::optional<tdref::Group> group_of(const Fields& args) const;

  /// Returns the name under which a tensordict is held that came while `td` was to receive: a new
  /// one is kept under `as`.
  json keep_received(const std::string& td,
                     const std::optional<std::string>& as,
                     tdref::AnyTensorDict received);

  /// Returns what stands for pending operations, which are kept under `as`, or for none.
  json keep_works(const std::optional<std::string>& as, std::optional<tdref::Works> works);

  /// Returns the snapshot of a tensordict, and keeps the memory that it names.
  json show(const tdref::TensorDictBase& td);

  const std::shared_ptr<Transcript> transcript_ = std::make_shared<Transcript>();
  Groups groups_{transcript_};
  NotedEvents noted_events_{transcript_, groups_};
  Pipes pipes_;
  Files files_;
  PendingWorks pending_;
  std::map<std::string, tdref::AnyTensorDict> values_;
  // An address that were freed and used again would make two tensors look like one.
  std::vector<tdref::AnyTensorDict> shown_;
};

}  // namespace tdconf::adapter
