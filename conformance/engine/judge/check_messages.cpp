// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/check_messages.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "engine/judge/calls.h"
#include "engine/judge/contents.h"
#include "values/text.h"

namespace tdconf {
namespace {

/// From one rank to another.
using Way = std::pair<int, int>;

/// What keeps its order on the wire: messages under one tag.
struct Lane {
  Way way;
  std::string group;
  std::int64_t tag = 0;
  auto operator<=>(const Lane&) const = default;
};

using Events = std::vector<const Event*>;
using Messages = std::vector<const Message*>;

enum class End { kSender, kReceiver };

/// Calls `visit` for each transfer in the transcript of a rank that stands at this end.
template <typename Visit>
void for_each_transfer(const Record& record, End end, int rank, const Visit& visit) {
  const std::optional<Transcript>& transcript =
      record.ranks[static_cast<std::size_t>(rank)].transcript;
  if (!transcript) return;
  for (const Event& event : *transcript) {
    if (event.event != (end == End::kSender ? "send" : "recv")) continue;
    const int peer = event.peer.value();
    visit(end == End::kSender ? Way(rank, peer) : Way(peer, rank), event);
  }
}

std::map<Lane, Events> lanes(const Record& record, End end) {
  std::map<Lane, Events> lanes;
  for (int rank = 0; rank < static_cast<int>(record.ranks.size()); ++rank) {
    for_each_transfer(record, end, rank, [&](const Way& way, const Event& event) {
      lanes[{way, event.group, event.tag.value()}].push_back(&event);
    });
  }
  return lanes;
}

std::string show_tag(std::int64_t tag, const std::string& group) {
  return concat("tag ", tag, in_group(group));
}

/// Compares one rank at one end with the messages of the case.
class EndCheck {
 public:
  EndCheck(End end, int rank, std::vector<WireDifference>& differences)
      : end_(end), rank_(rank), differences_(differences) {}

  void run(const std::vector<Message>& messages, const Record& record) {
    std::map<Way, std::pair<Messages, Events>> ways;
    for (const Message& message : messages) {
      if ((end_ == End::kSender ? message.from : message.to) != rank_) continue;
      ways[{message.from, message.to}].first.push_back(&message);
    }
    for_each_transfer(record, end_, rank_, [&](const Way& way, const Event& event) {
      ways[way].second.push_back(&event);
    });
    for (const auto& [way, both] : ways) {
      way_ = way;
      check(both.first, both.second);
    }
  }

 private:
  void check(const Messages& expected, Events got) {
    std::vector<std::size_t> missing;
    const Event* before = nullptr;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Message& message = *expected[i];
      const auto found = std::ranges::find_if(got, [&](const Event* event) {
        return event->group == message.group && event->tag == message.tag;
      });
      if (found == got.end()) {
        missing.push_back(i);
        continue;
      }
      const Event* event = *found;
      if (!fits(message, *event)) return report(i, &message, event);
      const bool continues = i > 0 && expected[i - 1]->transfer == message.transfer;
      // Both stand in the transcript of one rank.
      if (end_ == End::kSender && continues && before != nullptr && event < before) {
        return report_order(i, message, *event);
      }
      before = event;
      got.erase(found);
    }
    const Event* surplus = got.empty() ? nullptr : got.front();
    if (!missing.empty()) return report(missing.front(), expected[missing.front()], surplus);
    if (surplus != nullptr) report(expected.size(), nullptr, surplus);
  }

  bool fits(const Message& message, const Event& event) const {
    if (end_ == End::kReceiver) return has_length_of(message, event);
    return is_labelled_as(message, event) && have_same_digest(message.sha256, event.sha256);
  }

  static bool has_length_of(const Message& message, const Event& event) {
    return !message.bytes || event.bytes == *message.bytes;
  }

  static bool is_labelled_as(const Message& message, const Event& event) {
    return event.group == message.group && event.tag == message.tag &&
           has_length_of(message, event) && is_reported_as(*message.dtype, event.dtype);
  }

  /// Digests are shown only where nothing else differs.
  void report(std::size_t index, const Message* message, const Event* event) {
    const bool shows_digest =
        message != nullptr && event != nullptr && is_labelled_as(*message, *event);
    const std::string key = message == nullptr ? "" : message->key;
    differences_.push_back({rank_,
                            event == nullptr ? std::nullopt : event->step,
                            differ(key,
                                   place(index),
                                   message == nullptr ? "none" : show(*message, shows_digest),
                                   event == nullptr ? "none" : show(*event, shows_digest))});
  }

  void report_order(std::size_t index, const Message& message, const Event& event) {
    differences_.push_back({rank_,
                            event.step,
                            differ(message.key,
                                   place(index),
                                   concat(show(message, false), " behind message ", index),
                                   "it earlier")});
  }

  std::string place(std::size_t index) const {
    const char* end = end_ == End::kSender ? ":" : ", as received:";
    return concat("message ", index + 1, " from rank ", way_.first, " to rank ", way_.second, end);
  }

  static std::string show(const Message& message, bool shows_digest) {
    return concat(show_tag(message.tag, message.group),
                  " (",
                  message.key,
                  message.key.empty() ? "" : ", ",
                  message.dtype->name,
                  ", ",
                  message.bytes ? std::to_string(*message.bytes) : "any number of",
                  " bytes",
                  shows_digest ? show_digest(message.sha256) : "",
                  ")");
  }

  static std::string show(const Event& event, bool shows_digest) {
    return concat(show_tag(event.tag.value(), event.group),
                  " (",
                  event.dtype,
                  ", ",
                  event.bytes,
                  " bytes",
                  shows_digest ? show_digest(event.sha256) : "",
                  ")");
  }

  End end_;
  int rank_;
  Way way_;
  std::vector<WireDifference>& differences_;
};

}  // namespace

std::vector<WireDifference> check_both_ends(const Case& c, const Record& record) {
  std::vector<WireDifference> differences;
  const std::map<Lane, Events> sent = lanes(record, End::kSender);
  for (const auto& [lane, received] : lanes(record, End::kReceiver)) {
    const auto found = sent.find(lane);
    if (found == sent.end()) continue;
    const auto& [from, to] = lane.way;
    for (std::size_t i = 0; i < std::min(received.size(), found->second.size()); ++i) {
      const Event& there = *found->second[i];
      const Event& here = *received[i];
      if (!here.done || have_same_contents(there, here)) continue;
      const std::string what = concat("message ",
                                      i + 1,
                                      " under ",
                                      show_tag(lane.tag, lane.group),
                                      " from ",
                                      show_caller(c, from, there),
                                      ": what was received");
      differences.push_back(
          {to, here.step, differ("", what, show_contents(there), show_contents(here))});
    }
  }
  return differences;
}

std::vector<WireDifference> check_senders(const Record& record) {
  std::vector<WireDifference> differences;
  const std::map<Lane, Events> sent = lanes(record, End::kSender);
  for (const auto& [lane, received] : lanes(record, End::kReceiver)) {
    const auto& [from, to] = lane.way;
    if (!record.ranks[static_cast<std::size_t>(from)].transcript) continue;
    const auto found = sent.find(lane);
    const std::size_t count = found == sent.end() ? 0 : found->second.size();
    Events done;
    std::ranges::copy_if(
        received, std::back_inserter(done), [](const Event* event) { return event->done; });
    if (done.size() <= count) continue;
    const std::string what =
        concat("messages received under ", show_tag(lane.tag, lane.group), " from rank ", from);
    differences.push_back({to,
                           done[count]->step,
                           differ("", what, concat(count, ", as sent,"), concat(done.size()))});
  }
  return differences;
}

std::vector<WireDifference> check_messages(const Case& c, const Record& record) {
  std::vector<WireDifference> differences;
  if (!c.messages) return differences;
  for (int rank = 0; rank < static_cast<int>(record.ranks.size()); ++rank) {
    if (!record.ranks[static_cast<std::size_t>(rank)].transcript) continue;
    EndCheck(End::kSender, rank, differences).run(*c.messages, record);
    EndCheck(End::kReceiver, rank, differences).run(*c.messages, record);
  }
  return differences;
}

}  // namespace tdconf
