// SPDX-License-Identifier: BSD-3-Clause
#include "pipe/listener.h"

#include <utility>

namespace tdref {

Listener::Listener(UcxWorker& worker, const SocketAddress& address) : worker_(worker) {
  ucp_listener_params_t params{};
  params.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
  params.sockaddr = address.for_ucx();
  params.conn_handler.arg = this;
  params.conn_handler.cb = [](ucp_conn_request_h request, void* self) {
    static_cast<Listener*>(self)->take(request);
  };
  check_ucx(ucp_listener_create(worker_.handle(), &params, &listener_), "listening for a pipe");
}

Listener::~Listener() {
  if (request_ != nullptr) {
    ucp_listener_reject(listener_, request_);
  }
  ucp_listener_destroy(listener_);
}

std::uint16_t Listener::port() const {
  ucp_listener_attr_t attributes{};
  attributes.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
  check_ucx(ucp_listener_query(listener_, &attributes), "listening for a pipe");
  return port_of(attributes.sockaddr);
}

void Listener::take(ucp_conn_request_h request) {
  if (has_peer_) {
    ucp_listener_reject(listener_, request);
    return;
  }
  has_peer_ = true;
  request_ = request;
}

ucp_conn_request_h Listener::wait_for_peer(UcxWorker::Lock& lock, Deadline deadline) {
  worker_.wait_until(
      lock, [&] { return has_peer_; }, deadline, "listening for a pipe");
  return std::exchange(request_, nullptr);
}

}  // namespace tdref
