// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <tdref/consolidate.h>
#include <tdref/pipe.h>
#include <tdref/tensorclass.h>
#include <torch/csrc/distributed/c10d/exception.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <limits>
#include <stdexcept>

#include "pipe_ends.h"
#include "trees.h"

namespace tdref {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::pipe_between;

// In the order in which metadata has it: non-tensors, leaves, nested tensordicts.
TensorDict mixed() {
  TensorDict td({2}, at::Device(at::kCPU));
  td.set_names({"time"});
  td.set("text", NonTensor{Value("snö")});
  td.set("list", NonTensor{Value(Value::List{1, 2.5, Value(), true})});
  td.set("flag", at::eye(3, at::kBool).slice(0, 0, 2));
  td.set("half", at::ones({2, 1}, at::kBFloat16));
  td.set("none", at::empty({2, 0}, at::kLong));
  td.set("inner", TensorDict(Shape{2, 3}));
  return td;
}

LazyStackedTensorDict ragged_stack() {
  TensorDict wide;
  wide.set("x", testing::ramp(1, 3));
  TensorDict narrow;
  narrow.set("x", testing::ramp(10, 2));
  return LazyStackedTensorDict({AnyTensorDict(wide), AnyTensorDict(narrow)}, 0);
}

TEST(Pipe, CarriesContentAndStructureToAnEndThatKnowsNothing) {
  const std::vector<AnyTensorDict> sent{
      testing::sample(1), mixed(), TensorDict(Shape{3, 2}), TensorDict(), ragged_stack()};
  pipe_between(
      [&](TensorDictPipe& pipe) {
        for (const auto& td : sent) {
          pipe.send(*td);
        }
      },
      [&](TensorDictPipe& pipe) {
        for (const auto& td : sent) {
          const auto received = pipe.recv();
          EXPECT_TRUE(testing::same(*received, *td));
          EXPECT_TRUE(received->is_consolidated());
        }
      });
}

TEST(Pipe, GoesBothWays) {
  pipe_between(
      [](TensorDictPipe& pipe) {
        pipe.send(testing::sample(1));
        EXPECT_TRUE(testing::same(*pipe.recv(), testing::sample(2)));
        pipe.send(testing::sample(3));
      },
      [](TensorDictPipe& pipe) {
        EXPECT_TRUE(testing::same(*pipe.recv(), testing::sample(1)));
        pipe.send(testing::sample(2));
        EXPECT_TRUE(testing::same(*pipe.recv(), testing::sample(3)));
      });
}

TEST(Pipe, CarriesStoragesOfManyFragments) {
  TensorDict td;
  td.set("x", testing::ramp(0, 1 << 22));
  pipe_between(
      [&](TensorDictPipe& pipe) {
        pipe.send(td);
        pipe.close();
      },
      [&](TensorDictPipe& pipe) { EXPECT_TRUE(testing::same(*pipe.recv(), td)); });
}

TEST(Pipe, WritesWhatHasTheSameStructureIntoTheSameMemory) {
  pipe_between(
      [](TensorDictPipe& pipe) {
        pipe.send(testing::sample(1));
        pipe.send(testing::sample(2));
        pipe.send(mixed());
        pipe.send(testing::sample(3));
      },
      [](TensorDictPipe& pipe) {
        const auto first = pipe.recv();
        const auto second = pipe.recv();
        EXPECT_TRUE(second->consolidated().storage.is_alias_of(first->consolidated().storage));
        EXPECT_TRUE(testing::same(*first, testing::sample(2)));
        EXPECT_TRUE(testing::same(*pipe.recv(), mixed()));
        const auto last = pipe.recv();
        EXPECT_FALSE(last->consolidated().storage.is_alias_of(first->consolidated().storage));
        EXPECT_TRUE(testing::same(*first, testing::sample(2)));
        EXPECT_TRUE(testing::same(*last, testing::sample(3)));
      });
}

TEST(Pipe, ReceivesIntoATensorDictOfTheSameLayout) {
  pipe_between(
      [](TensorDictPipe& pipe) {
        for (int first = 1; first <= 3; ++first) {
          pipe.send(testing::sample(first));
        }
      },
      [](TensorDictPipe& pipe) {
        const auto one = consolidate(testing::sample(-100));
        const auto other = consolidate(testing::sample(-200));
        recv(pipe, one);
        EXPECT_TRUE(testing::same(one, testing::sample(1)));
        recv(pipe, other);
        EXPECT_TRUE(testing::same(other, testing::sample(2)));
        recv(pipe, TensorDict());  // fits nothing: goes where the last one went
        EXPECT_TRUE(testing::same(other, testing::sample(3)));
        EXPECT_TRUE(testing::same(one, testing::sample(1)));
      });
}

TEST(Pipe, LeavesATensorDictOfAnotherLayoutAlone) {
  pipe_between([](TensorDictPipe& pipe) { pipe.send(testing::sample(1)); },
               [](TensorDictPipe& pipe) {
                 auto td = testing::poisoned_sample();
                 const auto received = recv(pipe, td);
                 EXPECT_TRUE(testing::same(td, testing::poisoned_sample()));
                 EXPECT_TRUE(testing::same(*received, testing::sample(1)));
               });
}

TEST(Pipe, LeavesAConsolidatedTensorDictThatCouldNotTravelAlone) {
  TensorDict bytes;
  bytes.set("b", NonTensor{Value(Value::Bytes{"raw"})});
  TensorDict infinite;
  infinite.set("f", NonTensor{Value(std::numeric_limits<double>::infinity())});
  TensorDict no_text;
  no_text.set("t", NonTensor{Value("\xff")});
  const std::vector<TensorDict> receivers{
      consolidate(bytes), consolidate(infinite), consolidate(no_text)};
  pipe_between(
      [&](TensorDictPipe& pipe) {
        // First with a new structure, then with the one before.
        for (std::size_t i = 0; i < 2 * receivers.size(); ++i) {
          pipe.send(testing::sample(static_cast<int>(i)));
        }
      },
      [&](TensorDictPipe& pipe) {
        int first = 0;
        for (const auto& td : receivers) {
          for (int time = 0; time < 2; ++time) {
            EXPECT_TRUE(testing::same(*pipe.recv(td), testing::sample(first++)));
          }
        }
        EXPECT_FALSE(pipe.closed());
        EXPECT_TRUE(testing::same(receivers[0], bytes));
        EXPECT_TRUE(testing::same(receivers[1], infinite));
        EXPECT_TRUE(testing::same(receivers[2], no_text));
      });
}

TEST(Pipe, IgnoresOtherOptionsButRefusesASecondPeer) {
  pipe_between(
      [](TensorDictPipe& pipe) {
        const auto td = testing::sample(1);
        EXPECT_THROW(send(pipe, td, {.group_dst = 1}), c10::ValueError);
        EXPECT_THROW(send(pipe, td, {.dst = 1}), c10::ValueError);
        send(pipe, td, {.init_tag = 5, .pseudo_rand = true, .consolidated = true});
      },
      [](TensorDictPipe& pipe) {
        TensorDict td;
        EXPECT_THROW(recv(pipe, td, {.group_src = 0}), c10::ValueError);
        EXPECT_THROW(recv(pipe, td, {.src = 0}), c10::ValueError);
        EXPECT_TRUE(testing::same(*recv(pipe, td, {.consolidated = true}), testing::sample(1)));
      });
}

TEST(Pipe, StaysUsableWhenATensorDictCannotTravel) {
  pipe_between(
      [](TensorDictPipe& pipe) {
        TensorDict bytes;
        bytes.set("b", NonTensor{Value(Value::Bytes{"raw"})});
        EXPECT_THROW(pipe.send(bytes), c10::TypeError);
        TensorDict infinite;
        infinite.set("f", NonTensor{Value(std::numeric_limits<double>::infinity())});
        EXPECT_THROW(pipe.send(infinite), c10::ValueError);
        TensorDict reserved;
        reserved.set("_device", TensorDict());
        EXPECT_THROW(pipe.send(reserved), c10::NotImplementedError);
        pipe.send(testing::sample(1));
      },
      [](TensorDictPipe& pipe) { EXPECT_TRUE(testing::same(*pipe.recv(), testing::sample(1))); });
}

struct Point {
  at::Tensor x;

  static constexpr auto kDescription = Description<Point>("shapes", "Point").field("x", &Point::x);
};

TEST(Pipe, CarriesAStructWithoutItsClassAndNoClassBelow) {
  pipe_between(
      [](TensorDictPipe& pipe) {
        const auto point = to_tensorclass(Point{.x = testing::ramp(1, 3)});
        TensorDict holder;
        holder.set("point", point);
        EXPECT_THROW(pipe.send(holder), c10::TypeError);
        pipe.send(point);
      },
      [](TensorDictPipe& pipe) {
        const auto point = from_tensordict<Point>(testing::plain(pipe.recv()));
        EXPECT_TRUE(point.x.equal(testing::ramp(1, 3)));
      });
}

TEST(Pipe, RefusesToWorkOnceItIsClosed) {
  pipe_between(
      [](TensorDictPipe& pipe) {
        pipe.close();
        EXPECT_TRUE(pipe.closed());
        EXPECT_THROW(pipe.send(testing::sample(1)), c10::Error);
        EXPECT_THROW(pipe.recv(), c10::Error);
        pipe.close();
      },
      // Keeps the other end open until this one has closed.
      [](TensorDictPipe& pipe) { EXPECT_THROW(pipe.recv(), c10::DistNetworkError); });
}

TEST(Pipe, DeliversWhatWasSentBeforeItClosedAndThenRaises) {
  pipe_between(
      [](TensorDictPipe& pipe) {
        pipe.send(testing::sample(1));
        pipe.send(testing::sample(2));
        pipe.close();
      },
      [](TensorDictPipe& pipe) {
        EXPECT_TRUE(testing::same(*pipe.recv(), testing::sample(1)));
        EXPECT_TRUE(testing::same(*pipe.recv(), testing::sample(2)));
        EXPECT_THROW(pipe.recv(), c10::DistNetworkError);
        EXPECT_TRUE(pipe.closed());
      });
}

TEST(Pipe, RaisesWhenItsPeerIsKilled) {
  int ports[2] = {};
  ASSERT_EQ(::pipe(ports), 0);
  // No pipe is open now, so that the child misses no thread of UCX.
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::uint16_t port = 0;
    if (::read(ports[0], &port, sizeof(port)) == sizeof(port)) {
      auto pipe = TensorDictPipe::connect("127.0.0.1", port, {.timeout = 20s});
      pipe.send(testing::sample(1));
      ::pause();
    }
    ::_exit(1);
  }
  const auto tell = [&](std::uint16_t port) {
    EXPECT_EQ(::write(ports[1], &port, sizeof(port)), ssize_t{sizeof(port)});
  };
  auto pipe = TensorDictPipe::listen(0, {.on_listening = tell}, {.timeout = 20s});
  EXPECT_TRUE(testing::same(*pipe.recv(), testing::sample(1)));
  ::kill(child, SIGKILL);
  EXPECT_THROW(pipe.recv(), c10::DistNetworkError);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  ::close(ports[0]);
  ::close(ports[1]);
}

TEST(Pipe, GivesUpAtItsTimeout) {
  pipe_between(
      [](TensorDictPipe& pipe) {
        EXPECT_THROW(pipe.recv(), c10d::TimeoutError);
        EXPECT_TRUE(pipe.closed());
      },
      // Waits for the other end to give up.
      [](TensorDictPipe& pipe) { EXPECT_THROW(pipe.recv(), c10::DistNetworkError); },
      {.timeout = 2s},
      {.timeout = 20s});
}

TEST(Pipe, GivesUpALargeTensorDictThatNobodyFetches) {
  TensorDict td;
  td.set("x", testing::ramp(0, 1 << 22));
  // The same timeout holds for the connection, which a busy machine makes slowly.
  pipe_between([&](TensorDictPipe& pipe) { EXPECT_THROW(pipe.send(td), c10d::TimeoutError); },
               [](TensorDictPipe&) {},
               {.timeout = 3s},
               {.timeout = 20s},
               testing::WhenDone::kSecondWaitsForFirst);
}

TEST(Pipe, ListensNoLongerThanItsTimeout) {
  try {
    TensorDictPipe::listen(0, {}, {.timeout = 100ms});
    FAIL() << "somebody connected";
  } catch (const c10d::TimeoutError& error) {
    EXPECT_THAT(error.what_without_backtrace(), HasSubstr("100 ms"));
  }
}

TEST(Pipe, RaisesWhatWhoIsToldThePortRaises) {
  std::uint16_t port = 0;
  const auto refuse = [&](std::uint16_t chosen) {
    port = chosen;
    throw std::runtime_error("refused");
  };
  EXPECT_THROW(TensorDictPipe::listen(0, {.on_listening = refuse}), std::runtime_error);
  EXPECT_THROW(TensorDictPipe::connect("127.0.0.1", port, {.timeout = 20s}), c10::DistNetworkError);
}

TEST(Pipe, RaisesWhereNobodyListens) {
  std::uint16_t port = 0;
  const auto note = [&](std::uint16_t chosen) { port = chosen; };
  EXPECT_THROW(TensorDictPipe::listen(0, {.on_listening = note}, {.timeout = 1ms}),
               c10d::TimeoutError);
  EXPECT_THROW(TensorDictPipe::connect("127.0.0.1", port, {.timeout = 20s}), c10::DistNetworkError);
  EXPECT_THROW(TensorDictPipe::connect("localhost", port), c10::ValueError);
}

}  // namespace
}  // namespace tdref
