// SPDX-License-Identifier: BSD-3-Clause
// What all ranks that compare do with a collective that they do not mean alike, and that they do
// nothing else.
#include "group/collective_agreement.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/recv.h>
#include <tdref/send.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <future>

#include "mismatches.h"
#include "ops/collective.h"
#include "ranks.h"

namespace tdref {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;
using namespace std::chrono_literals;

// A part in an all_gather of which nothing but `operation` and `leaves` must be the same.
Collective part(const Group& group, std::string operation, std::string leaves = "") {
  return {.group = group, .operation = std::move(operation), .leaves = std::move(leaves)};
}

// The group still serves all its ranks.
void expect_usable(const Group& group) {
  agree(part(group, "all_gather"));
  const auto ranks = group.all_gather(at::tensor({group.group_rank()}));
  for (int rank = 0; rank < group.size(); ++rank) {
    EXPECT_EQ(ranks[static_cast<std::size_t>(rank)].item<int>(), rank);
  }
}

void refuse(const Group& group, const std::string& operation, const std::string& reason) {
  EXPECT_THAT(message_of<c10::NotImplementedError>([&] {
                plan_collective(part(group, operation),
                                [&](Collective&) { TORCH_CHECK_NOT_IMPLEMENTED(false, reason); });
              }),
              AllOf(HasSubstr(reason), HasSubstr('(' + operation + ')')));
}

class CollectiveAgreements : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(Ranks,
                         CollectiveAgreements,
                         ::testing::Values(2, 3),
                         ::testing::PrintToStringParamName());

TEST_P(CollectiveAgreements, LetsRanksGoOnThatMeanTheSame) {
  testing::run_ranks(GetParam(), [](World& world, int) {
    const auto& group = world.default_group();
    ASSERT_NE(group.collectives(), nullptr);
    for (const char* leaves : {"", "\nfloat32[2] 'a'"}) {
      agree(part(group, "all_gather", leaves));
    }
    expect_usable(group);
  });
}

TEST_P(CollectiveAgreements, RaisesOnEveryRankWhateverRankMeansSomethingElse) {
  const int size = GetParam();
  for (int other = 0; other < size; ++other) {
    testing::run_ranks(size, [&](World& world, int rank) {
      const auto& group = world.default_group();
      const auto operation = rank == other ? "scatter" : "broadcast";
      const auto text = message_of<c10::ValueError>([&] { agree(part(group, operation)); });
      const auto expected =
          other == 0
              ? "the operation is scatter on rank 0 and broadcast on rank 1"
              : "the operation is broadcast on rank 0 and scatter on rank " + std::to_string(other);
      EXPECT_THAT(text,
                  AllOf(HasSubstr(std::string(operation) + ": "),
                        HasSubstr(expected),
                        HasSubstr("; nothing of it was sent")));
      expect_usable(group);
    });
  }
}

TEST_P(CollectiveAgreements, NamesTheFirstLeafThatDiffers) {
  testing::run_ranks(GetParam(), [&](World& world, int rank) {
    const auto& group = world.default_group();
    const bool is_last = rank == group.size() - 1;
    const auto last = " on rank " + std::to_string(group.size() - 1);
    EXPECT_THAT(
        message_of<c10::ValueError>([&] {
          agree(part(group,
                     "all_reduce",
                     is_last ? "\nint8[1] 'a'\nint8[2] 'b'" : "\nint8[1] 'a'\nint8[3] 'b'"));
        }),
        HasSubstr("leaf 2 is int8[3] 'b' on rank 0 and int8[2] 'b'" + last));
    EXPECT_THAT(message_of<c10::ValueError>(
                    [&] { agree(part(group, "all_reduce", is_last ? "" : "\nint8[1] 'a'")); }),
                HasSubstr("leaf 1 is int8[1] 'a' on rank 0 and nothing" + last));
    expect_usable(group);
  });
}

TEST_P(CollectiveAgreements, TellsEveryRankWhatAnyRankRefused) {
  const int size = GetParam();
  for (int refuser = 0; refuser < size; ++refuser) {
    testing::run_ranks(size, [&](World& world, int rank) {
      const auto& group = world.default_group();
      if (rank == refuser) {
        refuse(group, "broadcast", "leaf 'z' cannot travel");
      } else {
        EXPECT_THAT(message_of<c10::ValueError>([&] { agree(part(group, "broadcast")); }),
                    AllOf(HasSubstr("broadcast: rank " + std::to_string(refuser) +
                                    " refused: leaf 'z' cannot travel"),
                          HasSubstr("; nothing of it was sent")));
      }
      expect_usable(group);
    });
  }
}

TEST_P(CollectiveAgreements, LetAllRanksRefuse) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    const auto& group = world.default_group();
    refuse(group, "scatter", c10::str("no list on rank ", rank));
    expect_usable(group);
  });
}

TEST_P(CollectiveAgreements, PostInTheOrderOfTheCallsWhateverIsWaitedForFirst) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    const auto& group = world.default_group();
    std::vector<at::Tensor> sums;
    Works works;
    for (int factor : {1, 10, 100}) {
      sums.push_back(at::tensor({factor * (rank + 1)}));
      const auto tensor = sums.back();
      auto posted = start(part(group, "all_reduce"), 1, [group, tensor] {
        return Works{group.all_reduce(tensor, c10d::ReduceOp::SUM)};
      });
      works.push_back(posted.front());
    }
    const int sum = group.size() * (group.size() + 1) / 2;
    expect_usable(group);
    for (std::size_t i = works.size(); i-- > 0;) {
      works[i].wait();
    }
    EXPECT_EQ(sums[0].item<int>(), sum);
    EXPECT_EQ(sums[1].item<int>(), 10 * sum);
    EXPECT_EQ(sums[2].item<int>(), 100 * sum);
  });
}

TEST_P(CollectiveAgreements, LetOnlyThePartFailThatDoesNotFit) {
  testing::run_ranks(GetParam(), [](World& world, int rank) {
    const auto& group = world.default_group();
    Works works;
    std::vector<at::Tensor> sums;
    for (const char* leaves : {"", rank == 0 ? "\nint8[1] 'a'" : "\nint8[1] 'b'", ""}) {
      const auto tensor = sums.emplace_back(at::ones({1}));
      works.push_back(start(part(group, "all_reduce", leaves), 1, [group, tensor] {
                        return Works{group.all_reduce(tensor, c10d::ReduceOp::SUM)};
                      }).front());
    }
    works[2].wait();
    EXPECT_THROW(works[1].wait(), c10::ValueError);
    works[0].wait();
    EXPECT_EQ(sums[0].item<int>(), group.size());
    EXPECT_EQ(sums[1].item<int>(), 1);
    EXPECT_EQ(sums[2].item<int>(), group.size());
  });
}

TEST(CollectiveAgreementInSubgroups, LeavesOutWhoIsNotAMember) {
  testing::run_ranks(3, [](World& world, int rank) {
    const auto pair = world.new_group({1, 2});
    if (rank == 0) {
      EXPECT_EQ(pair.collectives(), nullptr);
    } else {
      const auto operation = rank == 1 ? "all_gather" : "all_reduce";
      EXPECT_THAT(message_of<c10::ValueError>([&] { agree(part(pair, operation)); }),
                  HasSubstr("the operation is all_gather on rank 1 and all_reduce on rank 2"));
      expect_usable(pair);
    }
    expect_usable(world.default_group());
  });
}

TEST(CollectiveAgreementWithTransfers, SharesAConnection) {
  testing::run_ranks(2, [](World& world, int rank) {
    const auto& group = world.default_group();
    for (int round = 0; round < 3; ++round) {
      const auto shape = at::ones({rank + 1});
      if (rank == 0) {
        EXPECT_THROW(send(world, testing::one_leaf("a", shape), {.dst = 1}), c10::ValueError);
      } else {
        auto td = testing::one_leaf("a", shape);
        EXPECT_THROW(recv(world, td, {.src = 0}), c10::ValueError);
      }
      expect_usable(group);
    }
  });
}

// Where one rank does not compare, a refusal is that of its rank alone.
TEST(CollectiveAgreementOfSome, IsNone) {
  testing::run_ranks_with({{.timeout = 20s}, testing::plain_options(), {.timeout = 20s}},
                          [](World& world, int rank) {
                            const auto& group = world.default_group();
                            EXPECT_EQ(group.collectives(), nullptr);
                            agree(part(group, rank == 0 ? "scatter" : "broadcast"));
                            refuse(group, "broadcast", "leaf 'z' cannot travel");
                            expect_usable(group);
                            if (rank == 2) {
                              EXPECT_NE(group.conversation_with(0), nullptr);
                            }
                          });
}

TEST(CollectiveAgreementAlone, NeedsNobody) {
  testing::run_ranks(1, [](World& world, int) {
    EXPECT_EQ(world.default_group().collectives(), nullptr);
    expect_usable(world.default_group());
  });
}

TEST(CollectiveAgreementAlone, NamesTheRankThatNeverCame) {
  testing::run_ranks(3, [](World& world, int rank) {
    const auto& group = world.default_group();
    if (rank == 1) {
      return;
    }
    auto work = start(part(group, "all_reduce"), 1, [] { return Works{}; }).front();
    EXPECT_THAT(message_of<c10d::TimeoutError>([&] { work.wait(300ms); }),
                HasSubstr("all_reduce: waited 300 ms for rank 1 to begin all_reduce"));
    EXPECT_THROW(work.wait(), c10d::TimeoutError);
    EXPECT_THAT(message_of<c10::DistNetworkError>([&] { agree(part(group, "broadcast")); }),
                HasSubstr("the collectives of the group are over: this rank waited 300 ms"));
  });
}

TEST(CollectiveAgreementAlone, NoticesARankThatIsGone) {
  std::promise<void> begun;
  testing::run_ranks(3, [&](World& world, int rank) {
    const auto& group = world.default_group();
    if (rank == 1) {
      begun.get_future().wait();
      group.close();
      return;
    }
    auto work = start(part(group, "all_reduce"), 1, [] { return Works{}; }).front();
    if (rank == 0) {
      begun.set_value();
    }
    EXPECT_THAT(message_of<c10::DistNetworkError>([&] { work.wait(); }),
                HasSubstr("the connection to rank 1 is lost: "));
  });
}

TEST(CollectiveAgreementAlone, EndsWithTheGroup) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      const auto& group = world.default_group();
      auto work = start(part(group, "all_reduce"), 1, [] { return Works{}; }).front();
      group.close();
      EXPECT_THROW(work.wait(), c10::DistNetworkError);
    }
  });
}

// What is posted may hold the last handle of the group.
TEST(CollectiveAgreementAlone, OutlivesItsGroup) {
  testing::run_ranks(2, [](World& world, int) {
    auto group = std::make_optional(world.new_group({0, 1}));
    const auto tensor = at::ones({1});
    auto work = start(part(*group, "all_reduce"), 1, [group = *group, tensor] {
                  return Works{group.all_reduce(tensor, c10d::ReduceOp::SUM)};
                }).front();
    group.reset();
    work.wait();
    EXPECT_EQ(tensor.item<float>(), 2);
  });
}

}  // namespace
}  // namespace tdref
