// SPDX-License-Identifier: BSD-3-Clause
#include "pipe_ends.h"

#include <exception>
#include <future>

namespace tdref::testing {
namespace {

/// Plays one end that listens in another thread, and one that connects to its port. An end that
/// fails leaves the other alone, so that the error of the second is the better one; but if the
/// first does not come to listen, its error is the only one.
void meet(const std::function<void(const ListenOptions&)>& listen,
          const std::function<void(std::uint16_t)>& connect) {
  std::promise<std::uint16_t> port;
  auto listening = std::async(std::launch::async, [&] {
    bool is_told = false;
    const auto tell = [&](std::uint16_t chosen) {
      port.set_value(chosen);
      is_told = true;
    };
    try {
      listen({.on_listening = tell});
    } catch (...) {
      if (!is_told) {
        port.set_exception(std::current_exception());
      }
      throw;
    }
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
        try {
          auto pipe = TensorDictPipe::listen(0, listening, first_options);
          first(pipe);
          first_is_done.set_value();
        } catch (...) {
          first_is_done.set_exception(std::current_exception());
          throw;
        }
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
        const Deadline deadline(std::chrono::seconds(20));
        const auto end = Endpoint::connect("127.0.0.1", port, deadline);
        stranger(*end, deadline);
      });
}

}  // namespace tdref::testing
