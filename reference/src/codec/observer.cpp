// SPDX-License-Identifier: BSD-3-Clause
#include "codec/observer.h"

namespace tdref {
namespace {

// One for each thread, since a test plays each rank in a thread of its own.
thread_local Observer* observer_of_this_thread = nullptr;

}  // namespace

Observer* current_observer() {
  return observer_of_this_thread;
}

void note_copied(std::size_t nbytes) {
  if (Observer* observer = current_observer()) {
    observer->copied(nbytes);
  }
}

ObserverGuard::ObserverGuard(Observer& observer) : outer_(observer_of_this_thread) {
  observer_of_this_thread = &observer;
}

ObserverGuard::~ObserverGuard() {
  observer_of_this_thread = outer_;
}

}  // namespace tdref
