// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/interrupt.h"

#include <initializer_list>

namespace tdconf {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void note(int) {
  interrupted = 1;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  sigset_t stops;
  sigemptyset(&stops);
  for (const int stop : {SIGINT, SIGTERM}) {
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
    sigdelset(&mask, SIGINT);
    sigdelset(&mask, SIGTERM);
    return mask;
  }();
  return kMask;
}

}  // namespace tdconf
