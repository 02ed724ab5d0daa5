// SPDX-License-Identifier: BSD-3-Clause
#include "common/stacks.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <future>
#include <thread>

/// Has a name that a backtrace can be searched for.
__attribute__((noinline)) void blocks_until_released(std::future<void> released,
                                                     std::promise<void>& entered) {
  entered.set_value();
  released.wait();
}

namespace tdconf::adapter {
namespace {

using testing::HasSubstr;

TEST(Stacks, NameTheFunctionThatAThreadBlocksIn) {
  enable_stacks();
  std::promise<void> entered;
  std::promise<void> release;
  std::thread blocked([&] { blocks_until_released(release.get_future(), entered); });
  entered.get_future().wait();
  EXPECT_THAT(describe_stacks(), HasSubstr("blocks_until_released"));
  release.set_value();
  blocked.join();
}

TEST(Stacks, NameAThreadThatDoesNotAnswer) {
  enable_stacks();
  std::promise<void> entered;
  std::promise<void> release;
  std::thread deaf([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    blocks_until_released(release.get_future(), entered);
  });
  entered.get_future().wait();
  EXPECT_THAT(describe_stacks(), HasSubstr("no answer"));
  release.set_value();
  deaf.join();
}

}  // namespace
}  // namespace tdconf::adapter
