// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/play.h"

#include <algorithm>
#include <optional>

#include "engine/input/json_reader.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kGrace{1'000};
constexpr milliseconds kStacksLimit{1'000};
constexpr milliseconds kExitLimit{1'000};
/// A group that gives up before the deadline would turn a hang into a timeout error.
constexpr int kGroupTimeoutFactor = 5;

json groups_to_json(const std::vector<Group>& groups) {
  json list = json::array();
  for (const Group& group : groups) {
    list.push_back({{"name", group.name},
                    {"kind", group.kind},
                    {"ranks", group.ranks},
                    {"backend", group.backend}});
  }
  return list;
}

/// True when the rank cannot go on after this answer.
bool stops_the_case(const Answer& answer, const Expect& expect) {
  if (std::holds_alternative<Returned>(answer)) return false;
  return !std::holds_alternative<Raised>(answer) || expect.raises.empty();
}

class Playing {
 public:
  Playing(const Case& c,
          const std::vector<Adapter*>& adapters,
          Fleet& fleet,
          const PlayOptions& options)
      : case_(c), adapters_(adapters), fleet_(fleet), options_(options), states_(adapters.size()) {
    record_.deadline = options.deadline;
    for (Adapter* adapter : adapters) {
      RankRecord& rank = record_.ranks.emplace_back();
      rank.adapter = adapter->player().name;
      rank.pid = adapter->pid();
      rank.capabilities = adapter->hello()->capabilities;
    }
  }

  Record play() {
    const Clock::time_point deadline = Clock::now() + options_.deadline;
    send_joins();
    while (true) {
      collect();
      release();
      if (!is_anything_in_flight()) break;
      const Clock::time_point limit = grace_end_ ? std::min(*grace_end_, deadline) : deadline;
      if (Clock::now() >= limit) break;
      fleet_.poll(limit);
    }
    await_exits();
    record_.is_hung = is_anything_in_flight() && !grace_end_;
    if (record_.is_hung) ask_for_stacks();
    return std::move(record_);
  }

 private:
  struct RankState {
    bool is_joining = true;
    bool has_stopped = false;
  };

  void send_joins() {
    for (std::size_t rank = 0; rank < adapters_.size(); ++rank) {
      send(rank,
           "join",
           {{"rank", rank},
            {"world_size", case_.world},
            {"store", {{"kind", "file"}, {"path", options_.store_path}}},
            {"groups", groups_to_json(case_.groups)},
            {"timeout_ms", kGroupTimeoutFactor * options_.deadline.count()}});
    }
  }

  void send(std::size_t rank, const char* request, const json& fields) {
    try {
      adapters_[rank]->peer()->send(request, fields);
    } catch (const ProtocolError& error) {
      violate(rank, error.what());
    }
  }

  void collect() {
    for (std::size_t rank = 0; rank < adapters_.size(); ++rank) {
      if (states_[rank].has_stopped) continue;
      Peer& peer = *adapters_[rank]->peer();
      while (std::optional<Reply> reply = peer.take_reply()) take(rank, std::move(reply->answer));
      if (states_[rank].has_stopped) continue;
      if (peer.violation()) {
        violate(rank, *peer.violation());
      } else if (peer.is_closed() || adapters_[rank]->exit()) {
        stop(rank);
      }
    }
  }

  void take(std::size_t rank, Answer answer) {
    RankRecord& record = record_.ranks[rank];
    if (states_[rank].is_joining) {
      states_[rank].is_joining = false;
      if (!std::holds_alternative<Joined>(answer)) stop(rank);
      record.join = std::move(answer);
      return;
    }
    const Step& step = case_.programs[rank][static_cast<std::size_t>(*record.in_flight)];
    record.in_flight.reset();
    if (stops_the_case(answer, step.expect)) stop(rank);
    record.answers.push_back(std::move(answer));
  }

  void stop(std::size_t rank) {
    states_[rank].has_stopped = true;
    if (!grace_end_) grace_end_ = Clock::now() + kGrace;
  }

  void violate(std::size_t rank, const std::string& violation) {
    record_.ranks[rank].violation = violation;
    stop(rank);
  }

  void release() {
    for (std::size_t rank = 0; rank < adapters_.size(); ++rank) {
      RankRecord& record = record_.ranks[rank];
      const std::size_t next = record.answers.size();
      if (states_[rank].is_joining || states_[rank].has_stopped || record.in_flight) continue;
      if (next == case_.programs[rank].size()) continue;
      const Step& step = case_.programs[rank][next];
      if (!std::ranges::all_of(step.after, [&](const StepId& id) { return is_answered(id); }))
        continue;
      record.in_flight = static_cast<int>(next);
      json fields{{"op", step.op}, {"args", step.args}};
      if (!step.as.empty()) fields["as"] = step.as;
      send(rank, "step", fields);
    }
  }

  bool is_answered(const StepId& id) const {
    const auto& answers = record_.ranks[static_cast<std::size_t>(id.rank)].answers;
    return answers.size() > static_cast<std::size_t>(id.index);
  }

  bool is_anything_in_flight() const {
    for (std::size_t rank = 0; rank < adapters_.size(); ++rank) {
      if (states_[rank].has_stopped) continue;
      if (states_[rank].is_joining || record_.ranks[rank].in_flight) return true;
    }
    return false;
  }

  /// A closed connection is seen before the end of the process that held it.
  void await_exits() {
    const Clock::time_point limit = Clock::now() + kExitLimit;
    const auto is_leaving = [](Adapter* adapter) {
      return adapter->peer()->is_closed() && !adapter->exit();
    };
    while (std::ranges::any_of(adapters_, is_leaving) && Clock::now() < limit) fleet_.poll(limit);
    for (std::size_t rank = 0; rank < adapters_.size(); ++rank) {
      RankRecord& record = record_.ranks[rank];
      record.exit = adapters_[rank]->exit();
      record.has_crashed = record.exit.has_value() && !record.violation;
      if (is_leaving(adapters_[rank])) record.violation = "closed its connection and runs on";
    }
  }

  void ask_for_stacks() {
    std::vector<std::size_t> asked;
    for (std::size_t rank = 0; rank < adapters_.size(); ++rank) {
      if (states_[rank].has_stopped) continue;
      send(rank, "stacks", json::object());
      asked.push_back(rank);
    }
    const Clock::time_point limit = Clock::now() + kStacksLimit;
    const auto is_waiting = [&](std::size_t rank) {
      return !record_.ranks[rank].stacks && !adapters_[rank]->failure();
    };
    while (std::ranges::any_of(asked, is_waiting) && Clock::now() < limit) {
      fleet_.poll(limit);
      for (const std::size_t rank : asked) {
        // An answer to the step itself comes too late to count.
        while (std::optional<Reply> reply = adapters_[rank]->peer()->take_reply()) {
          if (auto* stacks = std::get_if<Stacks>(&reply->answer)) {
            record_.ranks[rank].stacks = std::move(stacks->text);
          }
        }
      }
    }
  }

  const Case& case_;
  const std::vector<Adapter*>& adapters_;
  Fleet& fleet_;
  const PlayOptions& options_;
  std::vector<RankState> states_;
  std::optional<Clock::time_point> grace_end_;
  Record record_;
};

}  // namespace

Record play(const Case& c,
            const std::vector<Adapter*>& adapters,
            Fleet& fleet,
            const PlayOptions& options) {
  return Playing(c, adapters, fleet, options).play();
}

}  // namespace tdconf
