// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/ping_series.h"

namespace tdconf {

void PingSeries::begin(Peer& peer, std::int64_t step) {
  step_ = step;
  in_a_row_ = 0;
  ping_ = peer.send("ping");
}

void PingSeries::take(Peer& peer, std::int64_t seq, const Pong& pong) {
  if (seq != ping_) return;
  in_a_row_ = pong.step == step_ ? in_a_row_ + 1 : 0;
  if (is_complete()) {
    ping_.reset();
  } else {
    ping_ = peer.send("ping");
  }
}

}  // namespace tdconf
