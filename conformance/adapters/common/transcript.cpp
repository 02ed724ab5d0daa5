// SPDX-License-Identifier: BSD-3-Clause
#include "common/transcript.h"

#include <utility>

namespace tdconf::adapter {

void Transcript::clear() {
  const std::lock_guard lock(mutex_);
  events_.clear();
  waiting_.clear();
}

void Transcript::set_step(std::optional<std::int64_t> seq) {
  const std::lock_guard lock(mutex_);
  step_ = seq;
}

Transcript::Event Transcript::add(json event) {
  const std::lock_guard lock(mutex_);
  return append(std::move(event));
}

Transcript::Event Transcript::add_waiting(json first, std::function<std::vector<json>()> messages) {
  const std::lock_guard lock(mutex_);
  Event event = append(std::move(first));
  waiting_.emplace(event, std::move(messages));
  return event;
}

Transcript::Event Transcript::append(json event) {
  event["step"] = step_ ? json(*step_) : json(nullptr);
  return events_.emplace_back(std::make_shared<json>(std::move(event)));
}

void Transcript::complete(const Event& event, const std::optional<std::string>& received) {
  const std::lock_guard lock(mutex_);
  (*event)["done"] = true;
  if (received) (*event)["sha256"] = *received;
}

void Transcript::drop(const Event& event) {
  const std::lock_guard lock(mutex_);
  std::erase(events_, event);
  if (waiting_.erase(event) > 0 && waiting_.empty()) nothing_waits_.notify_all();
}

json Transcript::events() const {
  const std::lock_guard lock(mutex_);
  json list = json::array();
  for (const Event& event : events_) list.push_back(*event);
  return list;
}

json Transcript::last_events(std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  nothing_waits_.wait_for(lock, patience, [this] { return waiting_.empty(); });
  json list = json::array();
  for (const Event& event : events_) {
    const auto waiting = waiting_.find(event);
    if (waiting == waiting_.end()) {
      list.push_back(*event);
      continue;
    }
    for (json message : waiting->second()) {
      message["step"] = (*event)["step"];
      list.push_back(std::move(message));
    }
  }
  return list;
}

}  // namespace tdconf::adapter
