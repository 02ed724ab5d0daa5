// SPDX-License-Identifier: BSD-3-Clause
#include "pipe_ends.h"

#include <future>

namespace tdref::testing {
namespace {

/// Plays one end that listens and, in another thread, one that connects to its port. An end that
/// fails leaves the other alone, so that the error of the second is the better one.
void meet(const std::function<void(const ListenOptions&)>& listen,
          const std::function<void(std::uint16_t)>& connect) {
  std::promise<std::uint16_t> port;
  auto listening = std::async(std::launch::async, [&] {
    listen({.on_listening = [&](std::uint16_t chosen) { port.set_value(chosen); }});
  });
  connect(port.get_future().get());
  listening.get();
}

}  // namespace

void pipe_between(const std::function<void(TensorDictPipe&)>& first,
                  const std::function<void(TensorDictPipe&)>& second,
                  const PipeOptions& first_options,
                  const PipeOptions& second_options,
                  WhenDone when_done) {
  std::promise<void> first_is_done;
  meet(
      [&](const ListenOptions& listening) {
        auto pipe = TensorDictPipe::listen(0, listening, first_options);
        first(pipe);
        first_is_done.set_value();
      },
      [&](std::uint16_t port) {
        auto pipe = TensorDictPipe::connect("127.0.0.1", port, second_options);
        second(pipe);
        if (when_done == WhenDone::kSecondWaitsForFirst) {
          first_is_done.get_future().wait();
        }
      });
}

void pipe_to_stranger(const std::function<void(TensorDictPipe&)>& pipe,
                      const std::function<void(Endpoint&, Deadline)>& stranger) {
  meet(
      [&](const ListenOptions& listening) {
        auto end = TensorDictPipe::listen(0, listening, {.timeout = std::chrono::seconds(20)});
        pipe(end);
      },
      [&](std::uint16_t port) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        const auto end = Endpoint::connect("127.0.0.1", port, deadline);
        stranger(*end, deadline);
      });
}

}  // namespace tdref::testing
