// SPDX-License-Identifier: BSD-3-Clause
#include "pipe/endpoint.h"

#include <c10/util/Exception.h>

#include <utility>

#include "pipe/listener.h"
#include "pipe/peer_info.h"
#include "pipe/socket_address.h"

namespace tdref {
namespace {

constexpr ucp_tag_t kWholeTag = ~ucp_tag_t{0};

/// Lets go of a lock for as long as this object lives.
class Unlocked {
 public:
  explicit Unlocked(UcxWorker::Lock& lock) : lock_(lock) { lock_.unlock(); }
  ~Unlocked() { lock_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  UcxWorker::Lock& lock_;
};

}  // namespace

std::unique_ptr<Endpoint> Endpoint::connect(const std::string& host,
                                            std::uint16_t port,
                                            Deadline deadline) {
  const SocketAddress address(host, port);
  std::unique_ptr<Endpoint> endpoint(new Endpoint());
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_SOCK_ADDR | UCP_EP_PARAM_FIELD_FLAGS;
  params.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
  params.sockaddr = address.for_ucx();
  auto lock = endpoint->worker_.lock();
  endpoint->open(params);
  endpoint->exchange_tags(lock, /*listens=*/false, deadline);
  return endpoint;
}

std::unique_ptr<Endpoint> Endpoint::accept(const std::string& host,
                                           std::uint16_t port,
                                           const std::function<void(std::uint16_t)>& on_listening,
                                           Deadline deadline) {
  std::unique_ptr<Endpoint> endpoint(new Endpoint());
  auto lock = endpoint->worker_.lock();
  Listener listener(endpoint->worker_, SocketAddress(host, port));
  if (on_listening != nullptr) {
    const auto port_chosen = listener.port();
    const Unlocked unlocked(lock);
    on_listening(port_chosen);
  }
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST | UCP_EP_PARAM_FIELD_FLAGS;
  params.flags = UCP_EP_PARAMS_FLAGS_NO_LOOPBACK;
  params.conn_request = listener.wait_for_peer(lock, deadline);
  endpoint->open(params);
  endpoint->exchange_tags(lock, /*listens=*/true, deadline);
  return endpoint;
}

void Endpoint::open(ucp_ep_params_t params) {
  params.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.arg = this;
  params.err_handler.cb = [](void* self, ucp_ep_h, ucs_status_t status) {
    static_cast<Endpoint*>(self)->peer_status_ = status;
  };
  check_ucx(ucp_ep_create(worker_.handle(), &params, &endpoint_), "connecting a pipe");
}

Endpoint::~Endpoint() {
  const auto lock = worker_.lock();
  if (next_ != nullptr) {
    // A message that was taken out of the queue is freed by receiving it, here into nothing.
    const ucp_request_param_t params{};
    const auto request = ucp_tag_msg_recv_nbx(worker_.handle(), nullptr, 0, next_, &params);
    if (UCS_PTR_IS_PTR(request)) {
      abandon(request);
    }
  }
  disconnect();
}

void Endpoint::disconnect() {
  if (endpoint_ == nullptr) {
    return;
  }
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_EP_CLOSE_FLAG_FORCE;
  const auto request = ucp_ep_close_nbx(std::exchange(endpoint_, nullptr), &params);
  if (UCS_PTR_IS_PTR(request)) {
    // A forced close asks nothing of the peer: it is over as soon as this side has moved.
    finish(request);
  }
}

void Endpoint::exchange_tags(UcxWorker::Lock& lock, bool listens, Deadline deadline) {
  const PeerInfo ours = new_peer_info();
  PeerInfo theirs;
  if (listens) {
    stream_send(lock, bytes_of(ours), deadline);
    stream_receive(lock, writable_bytes_of(theirs), deadline);
  } else {
    stream_receive(lock, writable_bytes_of(theirs), deadline);
    stream_send(lock, bytes_of(ours), deadline);
  }
  check(theirs);
  own_tag_ = ours.tag;
  peer_tag_ = theirs.tag;
}

void Endpoint::stream_send(UcxWorker::Lock& lock, ConstBytes bytes, Deadline deadline) {
  const ucp_request_param_t params{};
  wait(lock,
       ucp_stream_send_nbx(endpoint_, bytes.data(), bytes.size(), &params),
       deadline,
       "connecting a pipe");
}

void Endpoint::stream_receive(UcxWorker::Lock& lock, MutableBytes buffer, Deadline deadline) {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_STREAM_RECV_FLAG_WAITALL;
  std::size_t received = 0;
  wait(lock,
       ucp_stream_recv_nbx(endpoint_, buffer.data(), buffer.size(), &received, &params),
       deadline,
       "connecting a pipe");
}

void Endpoint::send(ConstBytes message, Deadline deadline) {
  auto lock = worker_.lock();
  check_peer("sending through a pipe");
  const ucp_request_param_t params{};
  wait(lock,
       ucp_tag_send_nbx(endpoint_, message.data(), message.size(), peer_tag_, &params),
       deadline,
       "sending through a pipe");
}

std::size_t Endpoint::next_size(Deadline deadline) {
  auto lock = worker_.lock();
  wait_for_next(lock, deadline);
  return next_size_;
}

void Endpoint::wait_for_next(UcxWorker::Lock& lock, Deadline deadline) {
  const std::string what = "receiving from a pipe";
  worker_.wait_until(
      lock,
      [&] {
        if (next_ == nullptr) {
          ucp_tag_recv_info_t info{};
          next_ = ucp_tag_probe_nb(worker_.handle(), own_tag_, kWholeTag, /*remove=*/1, &info);
          next_size_ = info.length;
        }
        // What came before the peer closed is still there to be received.
        if (next_ == nullptr) {
          check_peer(what);
        }
        return next_ != nullptr;
      },
      deadline,
      what);
}

void Endpoint::receive(MutableBytes buffer, Deadline deadline) {
  auto lock = worker_.lock();
  wait_for_next(lock, deadline);
  TORCH_CHECK_VALUE(next_size_ == buffer.size(),
                    "a message of ",
                    next_size_,
                    " bytes came through a pipe where one of ",
                    buffer.size(),
                    " was announced");
  const ucp_request_param_t params{};
  const auto message = std::exchange(next_, nullptr);
  wait(lock,
       ucp_tag_msg_recv_nbx(worker_.handle(), buffer.data(), buffer.size(), message, &params),
       deadline,
       "receiving from a pipe");
}

void Endpoint::flush(Deadline deadline) {
  auto lock = worker_.lock();
  const ucp_request_param_t params{};
  try {
    wait(lock, ucp_ep_flush_nbx(endpoint_, &params), deadline, "sending through a pipe");
  } catch (const c10::DistNetworkError&) {
    // A peer that has all it wanted may close at once.
    if (peer_status_ == UCS_OK) {
      throw;
    }
  }
}

void Endpoint::wait(UcxWorker::Lock& lock,
                    ucs_status_ptr_t request,
                    Deadline deadline,
                    const std::string& what) {
  if (request == nullptr) {
    return;
  }
  if (UCS_PTR_IS_ERR(request)) {
    check_peer(what);
    check_ucx(UCS_PTR_STATUS(request), what);
  }
  const auto is_over = [&] { return ucp_request_check_status(request) != UCS_INPROGRESS; };
  try {
    worker_.wait_until(
        lock, [&] { return is_over() || (check_peer(what), false); }, deadline, what);
  } catch (...) {
    abandon(request);
    throw;
  }
  const auto status = ucp_request_check_status(request);
  ucp_request_free(request);
  if (status != UCS_OK) {
    check_peer(what);
  }
  check_ucx(status, what);
}

void Endpoint::abandon(ucs_status_ptr_t request) {
  ucp_request_cancel(worker_.handle(), request);
  disconnect();
  // Nearly every request ends with the connection. What is left must not write into the buffer when
  // it is the caller's again.
  finish(request);
}

void Endpoint::finish(ucs_status_ptr_t request) {
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    if (ucp_request_check_status(request) != UCS_INPROGRESS) {
      ucp_request_free(request);
      return;
    }
    ucp_worker_progress(worker_.handle());
  }
  worker_.stop();
}

void Endpoint::check_peer(const std::string& what) const {
  check_ucx(peer_status_, what + ": the peer has closed or is gone");
}

}  // namespace tdref
