// SPDX-License-Identifier: BSD-3-Clause
#include "reference/pipes.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "common/fields.h"

namespace tdconf::adapter {
namespace {

constexpr const char* kHost = "127.0.0.1";

tdref::TensorDictPipe listen(const Pipes::Meeting& meeting, const std::string& key) {
  const auto tell = [&](std::uint16_t port) { meeting.store->set(key, std::to_string(port)); };
  return tdref::TensorDictPipe::listen(
      0, {.host = kHost, .on_listening = tell}, {.timeout = meeting.timeout});
}

std::uint16_t port_in(const std::string& text, const std::string& key) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc() || stop != end || port == 0) {
    throw BadRequest("open_pipe: the store has '" + text + "' under " + key +
                     "; allowed is a port, 1 to 65535");
  }
  return port;
}

tdref::TensorDictPipe connect(const Pipes::Meeting& meeting, const std::string& key) {
  const std::uint16_t port = port_in(meeting.store->get_to_str(key), key);
  return tdref::TensorDictPipe::connect(kHost, port, {.timeout = meeting.timeout});
}

}  // namespace

bool Pipes::are_built() {
  return true;
}

void Pipes::open(const std::string& name, const Meeting& meeting) {
  if (by_name_.contains(name)) throw BadRequest("this rank has a pipe called " + name + " already");
  const std::string key = next_key(meeting);
  by_name_.emplace(name,
                   std::make_shared<tdref::TensorDictPipe>(meeting.listen ? listen(meeting, key)
                                                                          : connect(meeting, key)));
}

void Pipes::send(const std::string& name,
                 const tdref::TensorDictBase& td,
                 const tdref::SendOptions& options) {
  tdref::send(named(name), td, options);
}

tdref::AnyTensorDict Pipes::recv(const std::string& name,
                                 const tdref::TensorDictBase& td,
                                 const tdref::RecvOptions& options) {
  return tdref::recv(named(name), td, options);
}

void Pipes::close(const std::string& name) {
  named(name).close();
}

std::string Pipes::next_key(const Meeting& meeting) {
  const auto [listener, other] = meeting.listen ? std::pair(meeting.rank, meeting.peer)
                                                : std::pair(meeting.peer, meeting.rank);
  const std::string ends = "pipe/" + std::to_string(listener) + '/' + std::to_string(other) + '/';
  return ends + std::to_string(++opened_[ends]);
}

tdref::TensorDictPipe& Pipes::named(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    throw BadRequest("this rank has no pipe called " + name + "; there are: " + names());
  }
  return *found->second;
}

std::string Pipes::names() const {
  std::string names;
  for (const auto& [name, pipe] : by_name_) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

void Pipes::clear() {
  by_name_.clear();
  opened_.clear();
}

}  // namespace tdconf::adapter
