// SPDX-License-Identifier: BSD-3-Clause
#include "common/transcript.h"

#include <utility>

namespace tdconf::adapter {

void Transcript::clear() {
  const std::lock_guard lock(mutex_);
  events_.clear();
}

void Transcript::set_step(std::optional<std::int64_t> seq) {
  const std::lock_guard lock(mutex_);
  step_ = seq;
}

Transcript::Event Transcript::add(json event) {
  const std::lock_guard lock(mutex_);
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
}

json Transcript::events() const {
  const std::lock_guard lock(mutex_);
  json list = json::array();
  for (const Event& event : events_) list.push_back(*event);
  return list;
}

}  // namespace tdconf::adapter
