// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

namespace tdref {

struct Announcement;

/// Is told what operations do beside posting messages, in the order in which they do it.
class Observer {
 public:
  virtual ~Observer() = default;

  /// A transfer is about to be announced to its other end, or a collective to the other ranks, which
  /// may never come; see tdref/announcement.h. What is returned is let go once all its messages are
  /// posted, or when they never will be, before this rank learns of either: by any thread, which
  /// holds locks, so that letting it go must not call the library.
  virtual std::shared_ptr<void> announced(const Announcement& announcement) = 0;

  /// An object became this many bytes that are to travel: a tensordict, or the metadata of one.
  virtual void pickled(std::size_t nbytes) = 0;
  /// Such an object came from this many bytes of another rank.
  virtual void unpickled(std::size_t nbytes) = 0;
  /// Leaves were copied into a new storage of this many bytes.
  virtual void consolidated(std::size_t nbytes) = 0;
  /// Elements of this many bytes were copied between leaves and what travels, by no call of
  /// libtorch.
  virtual void copied(std::size_t nbytes) = 0;
};

/// Lets `observer` see what the calling thread does, until the guard goes; without one, nobody sees
/// it and nothing is spent on it.
class ObserverGuard {
 public:
  explicit ObserverGuard(Observer& observer);
  ~ObserverGuard();
  ObserverGuard(const ObserverGuard&) = delete;
  ObserverGuard& operator=(const ObserverGuard&) = delete;

 private:
  Observer* outer_;
};

}  // namespace tdref
