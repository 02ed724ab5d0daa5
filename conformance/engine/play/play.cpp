// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/play.h"

#include <algorithm>
#include <map>
#include <optional>

#include "engine/input/json_reader.h"
#include "engine/play/close.h"
#include "engine/play/ping_series.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kGrace{1'000};
constexpr milliseconds kExitLimit{1'000};
/// A group that gives up before the deadline would turn a hang into a timeout error.
constexpr int kGroupTimeoutFactor = 5;

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
    for (int rank = 0; rank < c.world; ++rank) {
      const std::vector<Step>& program = c.programs[static_cast<std::size_t>(rank)];
      for (int index = 0; index < static_cast<int>(program.size()); ++index) {
        const Expect& expect = program[static_cast<std::size_t>(index)].expect;
        if (expect.blocks) blockers_.emplace(*expect.blocks, StepId{rank, index});
      }
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
    if (is_everything_answered()) {
      end_case(case_, adapters_, fleet_, options_.end_limit, record_);
    } else {
      look_at_ranks(case_, adapters_, fleet_, record_);
    }
    return std::move(record_);
  }

 private:
  struct RankState {
    bool is_joining = true;
    bool has_stopped = false;
    /// Whether its step in flight, which must block, does so.
    PingSeries pings;
  };

  void send_joins() {
    for (std::size_t rank = 0; rank < adapters_.size(); ++rank) {
      send(rank,
           "join",
           {{"rank", rank},
            {"world_size", case_.world},
            {"store", {{"kind", "file"}, {"path", options_.store_path}}},
            {"groups", to_json(case_.groups)},
            {"timeout_ms", kGroupTimeoutFactor * options_.deadline.count()}});
    }
  }

  std::optional<std::int64_t> send(std::size_t rank, const char* request, const json& fields) {
    try {
      return adapters_[rank]->peer()->send(request, fields);
    } catch (const ProtocolError& error) {
      violate(rank, error.what());
      return std::nullopt;
    }
  }

  void collect() {
    for (std::size_t rank = 0; rank < adapters_.size(); ++rank) {
      if (states_[rank].has_stopped) continue;
      Peer& peer = *adapters_[rank]->peer();
      while (std::optional<Reply> reply = peer.take_reply()) take(rank, std::move(*reply));
      if (states_[rank].has_stopped) continue;
      if (peer.violation()) {
        violate(rank, *peer.violation());
      } else if (peer.is_closed() || adapters_[rank]->exit()) {
        stop(rank);
      }
    }
  }

  void take(std::size_t rank, Reply reply) {
    if (reply.request == "ping") return take_pong(rank, reply);
    RankRecord& record = record_.ranks[rank];
    if (states_[rank].is_joining) {
      states_[rank].is_joining = false;
      if (!std::holds_alternative<Joined>(reply.answer)) stop(rank);
      record.join = std::move(reply.answer);
      return;
    }
    const Step& step = case_.programs[rank][static_cast<std::size_t>(*record.in_flight)];
    record.in_flight.reset();
    if (stops_the_case(reply.answer, step.expect)) stop(rank);
    record.answers.push_back(std::move(reply.answer));
    record.answered.push_back(next_place_++);
    if (options_.keeps_messages) record.messages.push_back(std::move(reply.message));
  }

  void take_pong(std::size_t rank, const Reply& reply) {
    if (const auto* pong = std::get_if<Pong>(&reply.answer)) {
      states_[rank].pings.take(*adapters_[rank]->peer(), reply.seq, *pong);
    } else {
      violate(rank, concat("`ping`: ", describe(reply.answer)));
    }
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
      if (is_released({static_cast<int>(rank), static_cast<int>(next)})) release(rank, next);
    }
  }

  void release(std::size_t rank, std::size_t index) {
    const Step& step = case_.programs[rank][index];
    RankRecord& record = record_.ranks[rank];
    json fields{{"op", step.op}, {"args", step.args}};
    if (!step.as.empty()) fields["as"] = step.as;
    record.in_flight = static_cast<int>(index);
    record.released.push_back(next_place_++);
    const std::optional<std::int64_t> seq = send(rank, "step", fields);
    if (!seq) return;
    record.seqs.push_back(*seq);
    if (step.expect.blocks) states_[rank].pings.begin(*adapters_[rank]->peer(), *seq);
  }

  bool is_released(const StepId& id) const {
    const Step& step =
        case_.programs[static_cast<std::size_t>(id.rank)][static_cast<std::size_t>(id.index)];
    const auto [first, last] = blockers_.equal_range(id);
    return std::ranges::all_of(step.after, [&](const StepId& a) { return is_answered(a); }) &&
           std::all_of(first, last, [&](const auto& b) { return has_blocked(b.second); });
  }

  /// True once a step was seen to block; also when it was answered, where there is nothing left to
  /// wait for.
  bool has_blocked(const StepId& id) const {
    const auto rank = static_cast<std::size_t>(id.rank);
    const bool is_in_flight = record_.ranks[rank].in_flight == id.index;
    return is_answered(id) || (is_in_flight && states_[rank].pings.is_complete());
  }

  bool is_answered(const StepId& id) const {
    const auto& answers = record_.ranks[static_cast<std::size_t>(id.rank)].answers;
    return answers.size() > static_cast<std::size_t>(id.index);
  }

  bool is_everything_answered() const {
    for (std::size_t rank = 0; rank < adapters_.size(); ++rank) {
      const RankRecord& record = record_.ranks[rank];
      const bool is_at_end = record.answers.size() == case_.programs[rank].size();
      if (states_[rank].has_stopped || !is_at_end) return false;
    }
    return true;
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
    const auto will_be_known = [&](Adapter* adapter) {
      return is_leaving(adapter) && !fleet_.failure_of_server(*adapter);
    };
    while (std::ranges::any_of(adapters_, will_be_known) && Clock::now() < limit)
      fleet_.poll(limit);
    for (std::size_t rank = 0; rank < adapters_.size(); ++rank) {
      RankRecord& record = record_.ranks[rank];
      record.exit = adapters_[rank]->exit();
      record.has_crashed = record.exit.has_value() && !record.violation;
      if (!is_leaving(adapters_[rank])) continue;
      const std::optional<std::string> failure = fleet_.failure_of_server(*adapters_[rank]);
      record.violation = failure ? concat("died with its fork server: ", *failure)
                                 : "closed its connection and runs on";
    }
  }

  const Case& case_;
  const std::vector<Adapter*>& adapters_;
  Fleet& fleet_;
  const PlayOptions& options_;
  std::vector<RankState> states_;
  /// The steps that must block, by the step that they block for.
  std::multimap<StepId, StepId> blockers_;
  std::optional<Clock::time_point> grace_end_;
  int next_place_ = 0;
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
