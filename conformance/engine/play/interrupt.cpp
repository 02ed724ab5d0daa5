// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/interrupt.h"

#include <initializer_list>

namespace tdconf {
namespace {

constexpr std::initializer_list<int> kStops{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t interrupted = 0;

void note(int) {
  interrupted = 1;
}

/// `nohup` and its like make what they start deaf to a terminal that hangs up.
bool is_to_be_ignored(int stop) {
  struct sigaction present {};
  return stop == SIGHUP && sigaction(stop, nullptr, &present) == 0 && present.sa_handler == SIG_IGN;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  sigset_t stops;
  sigemptyset(&stops);
  for (const int stop : kStops) {
    if (is_to_be_ignored(stop)) continue;
    sigaction(stop, &action, nullptr);
    sigaddset(&stops, stop);
  }
  sigprocmask(SIG_BLOCK, &stops, nullptr);
}

bool is_interrupted() {
  return interrupted != 0;
}

const sigset_t& interruptible_mask() {
  static const sigset_t kMask = [] {
    sigset_t mask;
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    for (const int stop : kStops) sigdelset(&mask, stop);
    return mask;
  }();
  return kMask;
}

}  // namespace tdconf
