// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tdref/observe.h>

#include <memory>
#include <string>
#include <utility>

#include "common/groups.h"
#include "common/player.h"
#include "common/transcript.h"

namespace tdconf::adapter {

/// Notes in a transcript what tdref reports beside messages.
class NotedEvents final : public tdref::Observer {
 public:
  NotedEvents(std::shared_ptr<Transcript> transcript, const Groups& groups)
      : transcript_(std::move(transcript)), groups_(groups) {}

  std::shared_ptr<void> announced(const tdref::Announcement& announcement) override {
    return groups_.note(announcement);
  }
  void pickled(std::size_t nbytes) override { add("pickle", nbytes); }
  void unpickled(std::size_t nbytes) override { add("unpickle", nbytes); }
  void consolidated(std::size_t nbytes) override { add("consolidate", nbytes); }
  void copied(std::size_t) override {}

  /// Returns the operation that does the same and is observed. It refers to this object.
  Operation observed(Operation operation);

 private:
  void add(const std::string& event, std::size_t nbytes);

  const std::shared_ptr<Transcript> transcript_;
  const Groups& groups_;
};

}  // namespace tdconf::adapter
