// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/check_wire.h"

#include "engine/judge/check_collectives.h"
#include "engine/judge/check_messages.h"
#include "engine/judge/check_transcript.h"

namespace tdconf {
namespace {

bool is_played_to_the_end(const Case& c, const Record& record) {
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    if (record.ranks[rank].answers.size() != c.programs[rank].size()) return false;
  }
  return true;
}

}  // namespace

std::vector<WireDifference> check_wire(const Case& c, const Record& record) {
  std::vector<WireDifference> differences = check_both_ends(c, record);
  const auto append = [&](const std::vector<WireDifference>& more) {
    differences.insert(differences.end(), more.begin(), more.end());
  };
  append(check_collectives(c, record));
  if (!is_played_to_the_end(c, record)) return differences;
  append(check_senders(record));
  append(check_messages(c, record));
  append(check_transcript(c, record));
  return differences;
}

}  // namespace tdconf
