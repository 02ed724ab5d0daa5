// SPDX-License-Identifier: BSD-3-Clause
#include "pipe/worker.h"

#include <c10/util/Exception.h>
#include <poll.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <algorithm>

namespace tdref {
namespace {

// UCX has timers of its own, and not each of them wakes who sleeps.
constexpr int kLongestSleepMs = 500;

ucp_context_h open_context() {
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_TAG | UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP;
  ucp_config_t* config = nullptr;
  check_ucx(ucp_config_read(nullptr, nullptr, &config), "UCX's configuration");
  ucp_context_h context = nullptr;
  const auto status = ucp_init(&params, config, &context);
  ucp_config_release(config);
  check_ucx(status, "starting UCX");
  return context;
}

}  // namespace

void check_ucx(ucs_status_t status, const std::string& what) {
  if (status != UCS_OK) {
    C10D_THROW_ERROR(DistNetworkError, c10::str(what, ": ", ucs_status_string(status)));
  }
}

UcxWorker::UcxWorker() : context_(open_context()) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  auto status = ucp_worker_create(context_, &params, &worker_);
  if (status == UCS_OK) {
    status = ucp_worker_get_efd(worker_, &event_fd_);
    if (status != UCS_OK) {
      ucp_worker_destroy(worker_);
    }
  }
  if (status != UCS_OK) {
    ucp_cleanup(context_);
  }
  check_ucx(status, "starting UCX");
  thread_ = std::thread([this] { run(); });
}

UcxWorker::~UcxWorker() {
  {
    const auto held = lock();
    stop();
  }
  thread_.join();
  ucp_worker_destroy(worker_);
  ucp_cleanup(context_);
}

void UcxWorker::stop() {
  is_stopping_ = true;
  ucp_worker_signal(worker_);
}

void UcxWorker::run() {
  auto held = lock();
  while (!is_stopping_) {
    while (ucp_worker_progress(worker_) != 0) {
    }
    moved_.notify_all();
    const bool may_sleep = ucp_worker_arm(worker_) != UCS_ERR_BUSY;
    held.unlock();
    pollfd event{event_fd_, POLLIN, 0};
    ::poll(&event, 1, may_sleep ? kLongestSleepMs : 0);
    held.lock();
  }
}

void UcxWorker::wait_until(Lock& held,
                           const std::function<bool()>& is_done,
                           Deadline deadline,
                           const std::string& what) {
  // What the caller has just asked of UCX is for the thread to carry on.
  ucp_worker_signal(worker_);
  if (!moved_.wait_until(held, deadline.at, is_done)) {
    C10D_THROW_ERROR(
        TimeoutError,
        c10::str(what, ": not within the timeout of the pipe, ", deadline.timeout.count(), " ms"));
  }
}

}  // namespace tdref
