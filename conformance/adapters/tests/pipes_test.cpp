// SPDX-License-Identifier: BSD-3-Clause
#include "reference/pipes.h"

#include <gmock/gmock.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "common/fields.h"

namespace tdconf::adapter {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Pipes, RefusesAPortThatIsNone) {
  for (const std::string text : {"", "port", "0", "65536", "-1", "80 "}) {
    const c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
    store->set("pipe/1/0/1", text);
    Pipes pipes;
    EXPECT_THAT([&] { pipes.open("p", {.store = store, .rank = 0, .peer = 1}); },
                ThrowsMessage<BadRequest>(HasSubstr("'" + text + "' under pipe/1/0/1")));
  }
}

TEST(Pipes, AreBuilt) {
  EXPECT_TRUE(Pipes::are_built());
}

TEST(Pipes, SaysWhichThereAre) {
  Pipes pipes;
  EXPECT_THAT([&] { pipes.close("p"); },
              ThrowsMessage<BadRequest>(HasSubstr("no pipe called p; there are: none")));
}

}  // namespace
}  // namespace tdconf::adapter
