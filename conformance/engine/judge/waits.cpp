// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/waits.h"

#include <algorithm>

#include "engine/judge/calls.h"
#include "values/text.h"

namespace tdconf {
namespace {

/// Writes `0, 1 and 2`.
std::string enumerate(const std::vector<int>& ranks) {
  const std::vector<int> front(ranks.begin(), ranks.end() - 1);
  return front.empty() ? concat(ranks.back()) : concat(join(front, ", "), " and ", ranks.back());
}

std::string name_ranks(const std::vector<int>& ranks) {
  return concat(ranks.size() == 1 ? "rank " : "ranks ", enumerate(ranks));
}

/// One rank that waits, and whom it waits for.
struct Link {
  int rank = 0;
  /// Null when no call was reported.
  const Event* call = nullptr;
  /// More than one only for a collective call; the first is the one to look at.
  std::vector<int> awaited;

  bool is_sending() const { return call != nullptr && call->event == "send"; }
};

class Explainer {
 public:
  Explainer(const Case& c, const Record& record) : case_(c), record_(record) {}

  std::string sentence_about(int rank) const {
    const std::vector<Link> chain = chain_from(rank);
    if (is_circle(chain)) return describe_circle(chain);
    const Link& first = chain.front();
    if (first.call == nullptr) {
      return concat(places_from(rank), "; rank ", rank, " reported no pending call");
    }
    std::string sentence = concat("rank ", rank, " ", describe_link(first, std::nullopt));
    for (std::size_t next = 1; next < chain.size(); ++next) {
      const Link& before = chain[next - 1];
      sentence += concat(which(before), describe_link(chain[next], before.rank));
    }
    return sentence + end_of(chain);
  }

 private:
  const RankRecord& seen(int rank) const { return record_.ranks[static_cast<std::size_t>(rank)]; }

  const std::vector<Step>& program(int rank) const {
    return case_.programs[static_cast<std::size_t>(rank)];
  }

  /// Says where a rank is, and where the others are that have not answered either.
  std::string places_from(int rank) const {
    std::vector<std::string> places{concat("rank ", rank, " ", place_of(rank))};
    for (int other = 0; other < case_.world; ++other) {
      if (other == rank || !has_not_answered(seen(other))) continue;
      places.push_back(concat("rank ", other, " ", describe_link(link_of(other), std::nullopt)));
    }
    return join(places, ", ");
  }

  bool is_waiting(int rank) const { return seen(rank).in_flight && has_not_answered(seen(rank)); }

  Link link_of(int rank) const {
    Link link{rank, call_waited_in(case_, record_, rank), {}};
    if (link.call == nullptr) return link;
    if (!is_collective(*link.call)) {
      link.awaited = {*link.call->peer};
      return link;
    }
    link.awaited = absent_members(case_, record_, rank, *link.call);
    // Whoever does not wait itself is the cause.
    std::ranges::stable_partition(link.awaited, [&](int member) { return !is_waiting(member); });
    return link;
  }

  /// Goes from each waiting rank to the one that it waits for, until somebody does not wait or comes
  /// up again.
  std::vector<Link> chain_from(int rank) const {
    std::vector<Link> chain{link_of(rank)};
    while (!chain.back().awaited.empty()) {
      const int next = chain.back().awaited.front();
      const bool is_known = std::ranges::find(chain, next, &Link::rank) != chain.end();
      if (is_known || !is_waiting(next)) break;
      chain.push_back(link_of(next));
    }
    return chain;
  }

  static bool is_circle(const std::vector<Link>& chain) {
    const auto& last = chain.back().awaited;
    return chain.size() > 1 && !last.empty() && last.front() == chain.front().rank &&
           std::ranges::none_of(chain, &Link::is_sending);
  }

  static std::string describe_circle(const std::vector<Link>& chain) {
    std::vector<int> ranks;
    std::vector<std::string> waits;
    for (const Link& link : chain) {
      ranks.push_back(link.rank);
      waits.push_back(concat("rank ", link.rank, " ", object_of(link)));
    }
    return concat(name_ranks(ranks),
                  ranks.size() == 2 ? " wait for each other: " : " wait in a circle: ",
                  join(waits, ", "));
  }

  /// What stands behind `waits`.
  static std::string object_of(const Link& link) {
    const Event& call = *link.call;
    if (!is_collective(call)) {
      return concat("for tag ", *call.tag, " from rank ", *call.peer, in_group(call.group));
    }
    const std::string what = concat("in ", call.event, in_group(call.group));
    return link.awaited.empty() ? what : concat(what, " for ", name_ranks(link.awaited));
  }

  /// Says what a waiting rank does, without naming the rank that has just been named.
  std::string describe_link(const Link& link, std::optional<int> named) const {
    if (link.call == nullptr) return place_of(link.rank);
    const Event& call = *link.call;
    if (!link.is_sending()) return concat("waits ", object_of(link));
    const std::string what = concat("sends tag ", *call.tag);
    return concat(
        what, named == call.peer ? "" : concat(" to rank ", *call.peer), in_group(call.group));
  }

  static std::string which(const Link& link) {
    return link.awaited.size() == 1 ? ", which "
                                    : concat(", of which rank ", link.awaited.front(), " ");
  }

  /// What became of the one that the last of a chain waits for.
  std::string end_of(const std::vector<Link>& chain) const {
    const Link& last = chain.back();
    if (last.call == nullptr) return "";
    if (last.awaited.empty()) return ", which every member has begun";
    const int awaited = last.awaited.front();
    if (std::ranges::find(chain, awaited, &Link::rank) != chain.end()) return "";
    const std::string fate = fate_of(awaited, last);
    const bool is_over = !is_held_back(awaited) && !seen(awaited).has_crashed;
    if (last.is_sending() && is_over && !is_met(record_, last.rank, *last.call)) {
      return concat(which(last), "never receives it (it ", fate, ")");
    }
    return concat(which(last), fate);
  }

  bool is_held_back(int rank) const { return seen(rank).answers.size() < program(rank).size(); }

  std::string fate_of(int rank, const Link& link) const {
    const RankRecord& record = seen(rank);
    if (record.has_crashed) {
      return concat(record.exit->signal ? "was " : "", describe(*record.exit));
    }
    if (record.violation) return "broke the protocol";
    if (!record.join) return "has not joined";
    if (const std::string raise = describe_raise(rank); !raise.empty()) return raise;
    if (is_held_back(rank)) return describe_release(rank);
    return describe_end(rank, link);
  }

  /// A step that raised and made no difference to what was called later is no explanation.
  std::string describe_raise(int rank) const {
    const auto& answers = seen(rank).answers;
    const std::size_t last_call = step_of_last_call(rank);
    for (std::size_t index = answers.size(); index > last_call; --index) {
      const auto* raised = std::get_if<Raised>(&answers[index - 1]);
      if (raised == nullptr) continue;
      return concat("raised ", raised->exception, " in ", program(rank)[index - 1].op);
    }
    return "";
  }

  std::size_t step_of_last_call(int rank) const {
    int last = 0;
    for (const Event& event : seen(rank).transcript.value_or(Transcript())) {
      if (is_call(event)) last = std::max(last, event.step.value_or(0));
    }
    return static_cast<std::size_t>(last);
  }

  std::string describe_release(int rank) const {
    const Step& next = program(rank)[seen(rank).answers.size()];
    for (const StepId& id : next.after) {
      if (seen(id.rank).answers.size() > static_cast<std::size_t>(id.index)) continue;
      return concat("is not to ", next.op, " before the answer of ", describe_step(case_, id));
    }
    return concat("is not told to ", next.op);
  }

  std::string describe_end(int rank, const Link& link) const {
    const RankRecord& record = seen(rank);
    if (!record.transcript || is_collective(*link.call)) return "finished";
    if (!link.is_sending() && is_met(record_, link.rank, *link.call)) return "sent it and finished";
    const std::string kind = link.is_sending() ? "recv" : "send";
    const Event* last = last_message(record, kind, link.rank, link.call->group);
    if (last != nullptr) return concat("finished after tag ", *last->tag);
    return concat("finished without a ", kind);
  }

  std::string silence_of(int rank) const {
    return seen(rank).is_silent ? concat(" and ", kSilence) : "";
  }

  /// Writes `is in recv(src=0)`.
  std::string place_of(int rank) const {
    if (!seen(rank).in_flight) return concat("is in join", silence_of(rank));
    const Step& step = program(rank)[static_cast<std::size_t>(*seen(rank).in_flight)];
    std::vector<std::string> arguments;
    for (const auto& [name, value] : step.args.items()) {
      if (value.is_primitive() && name != "td") {
        arguments.push_back(
            concat(name, "=", value.is_string() ? value.get<std::string>() : value.dump()));
      }
    }
    return concat("is in ", step.op, "(", join(arguments, ", "), ")", silence_of(rank));
  }

  const Case& case_;
  const Record& record_;
};

}  // namespace

Hang explain_hang(const Case& c, const Record& record) {
  const Explainer explainer(c, record);
  Hang hang;
  for (int rank = 0; rank < c.world; ++rank) {
    const RankRecord& seen = record.ranks[static_cast<std::size_t>(rank)];
    if (!has_not_answered(seen)) continue;
    std::string op = "join";
    if (seen.in_flight) {
      op = c.programs[static_cast<std::size_t>(rank)][static_cast<std::size_t>(*seen.in_flight)].op;
    }
    hang.ranks.push_back(
        {rank, seen.in_flight, op, pending_calls(seen), explainer.sentence_about(rank)});
  }
  if (!hang.ranks.empty()) hang.sentence = hang.ranks.front().sentence;
  return hang;
}

}  // namespace tdconf
