// SPDX-License-Identifier: BSD-3-Clause
// What two ranks that compare do with transfers whose ends do not fit, and that they do nothing
// else.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/irecv.h>
#include <tdref/isend.h>
#include <tdref/recv.h>
#include <tdref/send.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <future>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "mismatches.h"
#include "ranks.h"
#include "trees.h"

namespace tdref {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using testing::one_leaf;
using namespace std::chrono_literals;

void wait(Works works) {
  for (auto& work : works) {
    work.wait();
  }
}

enum class Form { kBlocking, kAtOnce, kEarly };

const char* name_of(Form form) {
  return form == Form::kBlocking ? "Blocking" : form == Form::kAtOnce ? "AtOnce" : "Early";
}

void send_by(Form form, const World& world, const TensorDict& td, const IsendOptions& options) {
  if (form == Form::kBlocking) {
    send(world,
         td,
         {options.dst,
          options.group,
          options.group_dst,
          options.init_tag,
          options.pseudo_rand,
          options.consolidated});
    return;
  }
  auto with_form = options;
  with_form.return_early = form == Form::kEarly;
  auto result = isend(world, td, with_form);
  if (auto* works = std::get_if<Works>(&result)) {
    wait(std::move(*works));
  }
}

void receive_by(Form form, const World& world, TensorDict& td, const IrecvOptions& options) {
  if (form == Form::kBlocking) {
    recv(world,
         td,
         {options.src,
          options.group,
          options.group_src,
          options.init_tag,
          options.pseudo_rand,
          options.consolidated});
    return;
  }
  auto with_form = options;
  with_form.return_premature = form == Form::kEarly;
  if (auto works = irecv(world, td, with_form)) {
    wait(std::move(*works));
  }
}

void expect_sample(const TensorDict& td, int first) {
  EXPECT_TRUE(td.get("b").tensor().equal(testing::sample(first).get("b").tensor()));
  EXPECT_TRUE(td.get("a").tensor().equal(testing::sample(first).get("a").tensor()));
}

class Agreement : public ::testing::TestWithParam<std::tuple<Form, Form>> {
 protected:
  Form sender() const { return std::get<0>(GetParam()); }
  Form receiver() const { return std::get<1>(GetParam()); }
};

constexpr Form kForms[] = {Form::kBlocking, Form::kAtOnce, Form::kEarly};

INSTANTIATE_TEST_SUITE_P(Forms,
                         Agreement,
                         ::testing::Combine(::testing::ValuesIn(kForms),
                                            ::testing::ValuesIn(kForms)),
                         [](const auto& test) {
                           return std::string(name_of(std::get<0>(test.param))) + "To" +
                                  name_of(std::get<1>(test.param));
                         });

// The tags can be used again: nothing was posted.
TEST_P(Agreement, FailsOnBothSidesAlikeAndLeavesTheGroupUsable) {
  testing::run_ranks(2, [&](World& world, int rank) {
    for (const auto& mismatch : testing::mismatches()) {
      SCOPED_TRACE(mismatch.name);
      if (rank == 0) {
        const auto td = mismatch.sent();
        EXPECT_THAT(
            message_of<c10::ValueError>([&] {
              send_by(sender(), world, td, {.dst = 1, .consolidated = mismatch.send_consolidated});
            }),
            AllOf(HasSubstr("send to rank 1 with first tag 0: "), HasSubstr(mismatch.message)));
        send_by(sender(), world, testing::sample(7), {.dst = 1});
      } else {
        auto td = mismatch.received();
        const auto before = td.get(td.keys().front()).tensor().clone();
        EXPECT_THAT(
            message_of<c10::ValueError>([&] {
              receive_by(
                  receiver(), world, td, {.src = 0, .consolidated = mismatch.receive_consolidated});
            }),
            AllOf(HasSubstr("receipt from rank 0 with first tag 0: "),
                  HasSubstr(mismatch.message)));
        EXPECT_TRUE(td.get(td.keys().front()).tensor().equal(before));
        auto good = testing::poisoned_sample();
        receive_by(receiver(), world, good, {.src = 0});
        expect_sample(good, 7);
      }
    }
  });
}

TEST_P(Agreement, TellsTheReceiverWhatTheSenderRefused) {
  testing::run_ranks(2, [&](World& world, int rank) {
    auto td = testing::sample(1);
    if (rank == 0) {
      td.set("z", at::eye(2).to_sparse());
      EXPECT_THAT(message_of<c10::NotImplementedError>(
                      [&] { send_by(sender(), world, td, {.dst = 1, .init_tag = 3}); }),
                  AllOf(HasSubstr("leaf 'z' "), HasSubstr("(send to group rank 1)")));
      EXPECT_THROW(send_by(sender(), world, td, {.dst = 1, .pseudo_rand = true}),
                   c10::NotImplementedError);
      EXPECT_THROW(send_by(sender(), world, testing::sample(1), {.dst = 1, .init_tag = 2147483646}),
                   c10::ValueError);
      send_by(sender(), world, testing::sample(7), {.dst = 1, .init_tag = 3});
      return;
    }
    for (const bool pseudo_rand : {false, true}) {
      EXPECT_THAT(message_of<c10::ValueError>([&] {
                    receive_by(
                        receiver(),
                        world,
                        td,
                        {.src = 0, .init_tag = pseudo_rand ? 0 : 3, .pseudo_rand = pseudo_rand});
                  }),
                  HasSubstr("rank 0 refused: leaf 'z' cannot be transferred"));
    }
    auto short_td = one_leaf("a", at::zeros({2}));
    EXPECT_THAT(message_of<c10::ValueError>([&] {
                  receive_by(receiver(), world, short_td, {.src = 0, .init_tag = 2147483646});
                }),
                HasSubstr("rank 0 refused: the tag 2147483648 of leaf"));
    receive_by(receiver(), world, td, {.src = 0, .init_tag = 3});
    expect_sample(td, 7);
  });
}

TEST_P(Agreement, TellsTheSenderWhatTheReceiverRefused) {
  testing::run_ranks(2, [&](World& world, int rank) {
    auto td = testing::sample(1);
    if (rank == 0) {
      EXPECT_THAT(
          message_of<c10::ValueError>([&] { send_by(sender(), world, td, {.dst = 1}); }),
          HasSubstr("rank 1 refused: leaf 'a' cannot be received into: its elements share memory"));
      EXPECT_THAT(message_of<c10::ValueError>(
                      [&] { send_by(sender(), world, td, {.dst = 1, .consolidated = true}); }),
                  HasSubstr("rank 1 refused: "));
      return;
    }
    td.set("a", at::zeros({1}).expand({2}));
    EXPECT_THAT(message_of<c10::ValueError>([&] { receive_by(receiver(), world, td, {.src = 0}); }),
                AllOf(HasSubstr("leaf 'a' "), HasSubstr("(receipt from group rank 0)")));
    EXPECT_THROW(receive_by(receiver(), world, td, {.src = 0, .consolidated = true}), c10::Error);
  });
}

// The end without leaves returns at once; the tags can be used again.
TEST_P(Agreement, FailsWhereThereAreLeavesWhenTheOtherEndHasNone) {
  testing::run_ranks(2, [&](World& world, int rank) {
    TensorDict nothing;
    auto td = one_leaf("a", at::full({2}, -1, at::kFloat));
    if (rank == 0) {
      send_by(sender(), world, nothing, {.dst = 1});
      EXPECT_THAT(
          message_of<c10::ValueError>([&] { send_by(sender(), world, td, {.dst = 1}); }),
          HasSubstr("leaf 1 is float32[2] 'a' on rank 0, which sends, and nothing on rank 1"));
      send_by(sender(), world, one_leaf("a", at::ones({2})), {.dst = 1});
      return;
    }
    EXPECT_THAT(
        message_of<c10::ValueError>([&] { receive_by(receiver(), world, td, {.src = 0}); }),
        HasSubstr("leaf 1 is nothing on rank 0, which sends, and float32[2] 'a' on rank 1"));
    receive_by(receiver(), world, nothing, {.src = 0});
    receive_by(receiver(), world, td, {.src = 0});
    EXPECT_TRUE(td.get("a").tensor().equal(at::ones({2})));
  });
}

TEST_P(Agreement, CoversSubgroupsAndStandaloneGroups) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  testing::run_ranks(3, [&](World& world, int rank) {
    const auto pair = world.new_group({1, 2});
    if (rank == 0) {
      return;
    }
    const auto alone = open_standalone(store, rank - 1, 2, {.timeout = 20s});
    for (const auto& group : {pair, alone}) {
      const auto names = group == pair
                             ? AllOf(HasSubstr("on rank 1"), HasSubstr("on rank 2"))
                             : AllOf(HasSubstr("group rank 0"), HasSubstr("group rank 1"));
      auto td = one_leaf("a", at::ones({rank}));
      if (rank == 1) {
        EXPECT_THAT(message_of<c10::ValueError>(
                        [&] { send_by(sender(), world, td, {.group = group, .group_dst = 1}); }),
                    names);
      } else {
        EXPECT_THAT(message_of<c10::ValueError>([&] {
                      receive_by(receiver(), world, td, {.group = group, .group_src = 0});
                    }),
                    names);
      }
    }
    alone.all_gather(at::zeros({1}));  // neither rank leaves before the other is done
  });
}

TEST(AgreementInOrder, ComparesTheNthSendWithTheNthReceiptUnderATag) {
  testing::run_ranks(2, [](World& world, int rank) {
    std::vector<TensorDict> tds;
    std::vector<Works> works;
    for (const int size : {1, rank == 0 ? 2 : 3, 4}) {
      tds.push_back(one_leaf("a", at::full({size}, rank == 0 ? size : -1, at::kFloat)));
      works.push_back(
          rank == 0 ? std::get<Works>(isend(world, tds.back(), {.dst = 1, .return_early = true}))
                    : irecv(world, tds.back(), {.src = 0, .return_premature = true}).value());
    }
    wait(works[2]);
    EXPECT_THROW(wait(works[1]), c10::ValueError);
    EXPECT_THROW(wait(works[1]), c10::ValueError);
    wait(works[0]);
    EXPECT_TRUE(tds[0].get("a").tensor().equal(at::full({1}, 1, at::kFloat)));
    EXPECT_TRUE(tds[2].get("a").tensor().equal(at::full({4}, 4, at::kFloat)));
  });
}

// A receipt makes progress while its rank waits for something else.
TEST(AgreementOfEarlyForms, NeedsNobodyToWait) {
  testing::run_ranks(2, [](World& world, int rank) {
    const auto sent = testing::sample(10 * rank);
    auto received = testing::poisoned_sample();
    auto receipts = irecv(world, received, {.src = 1 - rank, .return_premature = true}).value();
    isend(world, sent, {.dst = 1 - rank});
    wait(std::move(receipts));
    expect_sample(received, 10 * (1 - rank));
  });
}

TEST(AgreementOfEarlyForms, WritesEveryWorkThatIsWaitedForInAnyOrder) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      wait(std::get<Works>(isend(world, testing::sample(4), {.dst = 1, .return_early = true})));
      return;
    }
    auto td = testing::poisoned_sample();
    auto works = irecv(world, td, {.src = 0, .return_premature = true}).value();
    for (auto work = works.rbegin(); work != works.rend(); ++work) {
      work->wait();
      work->wait();
    }
    expect_sample(td, 4);
  });
}

TEST(AgreementOfEarlyForms, EndsWithTheGroup) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      auto works =
          std::get<Works>(isend(world, testing::sample(1), {.dst = 1, .return_early = true}));
      world.default_group().close();
      EXPECT_THROW(works.front().wait(), c10::DistNetworkError);
    }
  });
}

TEST(AgreementAlone, WaitsForNothingWhenThereAreNoLeaves) {
  testing::run_ranks(2, [](World& world, int rank) {
    TensorDict td;
    if (rank == 0) {
      send(world, td, {.dst = 1});
      EXPECT_EQ(recv(world, td, {.src = 1}), -1);
    }
  });
}

TEST(AgreementAlone, NamesWhatNeverCameAndWhatCameInstead) {
  const auto options = GroupOptions{.timeout = 20s};
  testing::run_ranks(
      2,
      [](World& world, int rank) {
        if (rank == 0) {
          // The other rank gives up first, and says so.
          EXPECT_THAT(message_of<c10::DistNetworkError>(
                          [&] { send(world, testing::sample(1), {.dst = 1, .init_tag = 5}); }),
                      HasSubstr("the connection to rank 1 is lost: it waited "));
          return;
        }
        // Once this has been answered, the note of the send under tag 5 is there.
        auto other = testing::poisoned_sample();
        auto td = testing::poisoned_sample();
        auto works = irecv(world, td, {.src = 0, .return_premature = true}).value();
        EXPECT_THAT(message_of<c10d::TimeoutError>([&] { works[0].wait(300ms); }),
                    HasSubstr("receipt from rank 0 with first tag 0: rank 0 did not "
                              "begin its end within 300 ms"));
        EXPECT_THROW(recv(world, other, {.src = 0, .init_tag = 5}), c10::DistNetworkError);
      },
      options);
}

TEST(AgreementAlone, NoticesAPeerThatIsGone) {
  std::promise<void> begun;
  testing::run_ranks(2, [&](World& world, int rank) {
    auto td = testing::sample(1);
    if (rank == 0) {
      auto works = std::get<Works>(isend(world, td, {.dst = 1, .return_early = true}));
      begun.set_value();
      EXPECT_THROW(works[0].wait(), c10::DistNetworkError);
      EXPECT_THROW(send(world, td, {.dst = 1}), c10::DistNetworkError);
    } else {
      begun.get_future().wait();
      world.default_group().close();
    }
  });
}

// The raw messages of rank 1 are those of a peer that knows nothing of this.
TEST(AgreementWith, NobodyElseSendsWhatWasAskedFor) {
  testing::run_ranks_with(
      {{.timeout = 20s}, testing::plain_options(), {.timeout = 20s}}, [](World& world, int rank) {
        const auto& group = world.default_group();
        if (rank == 0) {
          send(world, one_leaf("a", at::ones({2})), {.dst = 1});
          EXPECT_THROW(send(world, one_leaf("a", at::ones({2})), {.dst = 2}), c10::ValueError);
        } else if (rank == 1) {
          const auto bytes = at::zeros({8}, at::kByte);
          group.irecv(bytes, 0, 0).wait();
          EXPECT_TRUE(bytes.view(at::kFloat).equal(at::ones({2})));
        } else {
          auto td = one_leaf("a", at::zeros({3}));
          EXPECT_THROW(recv(world, td, {.src = 0}), c10::ValueError);
        }
        EXPECT_EQ(group.conversation_with(1 - rank % 2) != nullptr, false);
      });
}

TEST(AgreementWith, NobodyLeavesNothingInTheStore) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  open_standalone(store, 0, 1, {.timeout = 20s, .agree_on_structure = false});
  const auto keys_without = store->getNumKeys();
  const auto comparing = c10::make_intrusive<c10d::HashStore>();
  open_standalone(comparing, 0, 1, {.timeout = 20s});
  EXPECT_EQ(comparing->getNumKeys(), keys_without + 1);
}

}  // namespace
}  // namespace tdref
