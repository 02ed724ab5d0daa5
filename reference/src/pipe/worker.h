// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ucp/api/ucp.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tdref {

/// When a call gives up.
struct Deadline {
  explicit Deadline(std::chrono::milliseconds given)
      : timeout(given), at(std::chrono::steady_clock::now() + given) {}

  std::chrono::milliseconds timeout;  // what was given, which errors tell
  std::chrono::steady_clock::time_point at;
};

/// Throws what UCX reports, as an error of the network.
///
/// Errors  c10::DistNetworkError: `status` is not UCS_OK.
void check_ucx(ucs_status_t status, const std::string& what);

/// UCX for one pipe, with a thread that moves data while nobody waits for it: what was sent leaves,
/// and the other end gets the answers that its UCX needs, whatever this program does meanwhile. The
/// thread sleeps while nothing comes.
class UcxWorker {
 public:
  using Lock = std::unique_lock<std::mutex>;

  UcxWorker();
  ~UcxWorker();
  UcxWorker(const UcxWorker&) = delete;
  UcxWorker& operator=(const UcxWorker&) = delete;

  /// Whoever calls UCX holds this lock; UCX calls back with it held.
  Lock lock() { return Lock(mutex_); }

  ucp_worker_h handle() const { return worker_; }

  /// Waits until `is_done`, which is called with the lock held.
  ///
  /// Errors  c10d::TimeoutError: not before the deadline. What `is_done` throws.
  void wait_until(Lock& lock,
                  const std::function<bool()>& is_done,
                  Deadline deadline,
                  const std::string& what);

  /// From here on nothing moves any more, so that UCX writes into no buffer; called with the lock
  /// held.
  void stop();

 private:
  void run();

  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  int event_fd_ = -1;
  std::mutex mutex_;
  std::condition_variable moved_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace tdref
