// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "common/groups.h"
#include "common/pending.h"
#include "common/player.h"
#include "common/transcript.h"

namespace tdconf::adapter {

/// The adapter that knows nothing but messages: it sends and receives bare tensors by tag, so that
/// order, tags and sizes are seen without the help of any implementation.
class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// The returned player refers to this object.
  Player player();

 private:
  json send(const Fields& args);
  json isend(const Fields& args, const std::optional<std::string>& as);
  json recv(const Fields& args);
  json irecv(const Fields& args, const std::optional<std::string>& as);
  json result(const Fields& args);
  json gather_buffers(const Fields& args);

  /// Posts the message that `args` describes and returns it.
  tdref::Work post_send(const Fields& args) const;
  tdref::Work post_recv(const Fields& args, const at::Tensor& tensor) const;

  const std::shared_ptr<Transcript> transcript_ = std::make_shared<Transcript>();
  // It means nothing by what it sends, so there is nothing to agree on.
  Groups groups_{transcript_, false};
  PendingWorks pending_;
};

}  // namespace tdconf::adapter
