// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/observe.h>

#include <memory>
#include <string>
#include <utility>

#include "common/player.h"
#include "common/transcript.h"

namespace tdconf::adapter {

/// Notes in a transcript what tdref reports beside messages.
class NotedEvents final : public tdref::Observer {
 public:
  explicit NotedEvents(std::shared_ptr<Transcript> transcript)
      : transcript_(std::move(transcript)) {}

  void pickled(std::size_t nbytes) override { add("pickle", nbytes); }
  void unpickled(std::size_t nbytes) override { add("unpickle", nbytes); }
  void consolidated(std::size_t nbytes) override { add("consolidate", nbytes); }

  /// Returns the operation that does the same and is observed. It refers to this object.
  Operation observed(Operation operation);

 private:
  void add(const std::string& event, std::size_t nbytes);

  const std::shared_ptr<Transcript> transcript_;
};

}  // namespace tdconf::adapter
