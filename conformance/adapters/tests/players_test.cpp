// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <string>

#include "probe/probe.h"
#include "reference/files.h"
#include "reference/pipes.h"
#include "reference/reference.h"

namespace tdconf::adapter {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;

/// A player, what it is a player of, and the operations that the protocol gives to its like.
struct Contender {
  std::string name;
  std::set<std::string> operations;
};

std::ostream& operator<<(std::ostream& stream, const Contender& contender) {
  return stream << contender.name;
}

class Players : public testing::TestWithParam<Contender> {
 protected:
  Players() : player_(GetParam().name == "probe" ? probe_.player() : reference_.player()) {}

  json answer(const std::string& op, const json& args) const {
    return answer_step(player_, {.op = op, .args = args, .as = std::nullopt});
  }

  Probe probe_;
  Reference reference_;
  Player player_;
};

TEST_P(Players, ClaimExactlyTheOperationsThatTheyHave) {
  std::set<std::string> claimed;
  for (const std::string& capability : capabilities_of(player_)) {
    if (capability.starts_with("op:")) claimed.insert(capability.substr(3));
  }
  EXPECT_EQ(claimed, GetParam().operations);
}

TEST_P(Players, CarryOutEveryOperationThatTheyClaim) {
  for (const std::string& op : GetParam().operations) {
    const json refused = answer(op, json::object());
    EXPECT_EQ(refused["type"], "error") << op;
    EXPECT_THAT(refused["message"].get<std::string>(),
                AnyOf(HasSubstr("is missing"), HasSubstr("needs `as`")))
        << op;
  }
}

TEST_P(Players, RefuseAnOperationThatTheyDoNotClaim) {
  const json refused = answer("no_such_operation", json::object());
  EXPECT_EQ(refused, json({{"type", "unsupported"}, {"what", "op:no_such_operation"}}));
}

TEST_P(Players, RefuseAnUnknownArgumentOfEveryOperation) {
  for (const auto& [op, operation] : player_.operations) {
    const json refused = answer(op, {{"surprise", 1}});
    EXPECT_EQ(refused["type"], "error") << op;
    EXPECT_THAT(refused["message"].get<std::string>(), HasSubstr("unknown field `surprise`")) << op;
  }
}

TEST_P(Players, ClaimATranscript) {
  EXPECT_THAT(capabilities_of(player_), Contains("transcript"));
}

TEST_P(Players, ClaimNothingTwice) {
  const auto claims = capabilities_of(player_);
  EXPECT_EQ(std::set<std::string>(claims.begin(), claims.end()).size(), claims.size());
}

TEST_P(Players, RefuseAValueThatTheyDoNotHold) {
  const json refused = answer("wait", {{"works", "nobody"}});
  EXPECT_EQ(refused["type"], "error");
}

TEST_P(Players, RefuseATensorBeyondTheBound) {
  const json leaf{{"kind", "tensor"},
                  {"dtype", "int64"},
                  {"shape", {4294967296, 4294967296}},
                  {"fill", {{"const", 1}}}};
  const json tree{{"kind", "tensordict"},
                  {"batch_size", json::array()},
                  {"names", nullptr},
                  {"device", nullptr},
                  {"entries", json::array({json::array({"a", leaf})})},
                  {"consolidated", false},
                  {"locked", false}};
  const bool makes_trees = GetParam().operations.contains("make");
  const json refused = makes_trees
                           ? answer("make", {{"name", "x"}, {"tree", tree}})
                           : answer("c10d_recv", {{"tensor", leaf}, {"src", 0}, {"tag", 0}});
  EXPECT_EQ(refused["type"], "error") << refused;
  EXPECT_THAT(refused["message"].get<std::string>(),
              AllOf(HasSubstr("[4294967296,4294967296]"), HasSubstr("1073741824 bytes")));
}

std::set<std::string> with_pipes_if_built(std::set<std::string> operations) {
  if (Pipes::are_built()) operations.insert({"open_pipe", "close_pipe"});
  return operations;
}

INSTANTIATE_TEST_SUITE_P(OfThisRepository,
                         Players,
                         testing::Values(Contender{"probe",
                                                   {"c10d_send",
                                                    "c10d_isend",
                                                    "c10d_recv",
                                                    "c10d_irecv",
                                                    "c10d_result",
                                                    "c10d_gather_buffers",
                                                    "wait"}},
                                         Contender{"reference",
                                                   with_pipes_if_built({"make",
                                                                        "snapshot",
                                                                        "consolidate",
                                                                        "getitem",
                                                                        "wait",
                                                                        "send",
                                                                        "recv",
                                                                        "isend",
                                                                        "irecv",
                                                                        "gather_and_stack",
                                                                        "broadcast",
                                                                        "scatter",
                                                                        "all_gather",
                                                                        "all_reduce",
                                                                        "reduce",
                                                                        "init_remote",
                                                                        "from_remote_init"})}),
                         [](const auto& instance) { return instance.param.name; });

/// The values that a claim is about.
json leaf_of_form(const std::string& form) {
  return {{"kind", "tensor"},
          {"dtype", "float32"},
          {"shape", {2, 2}},
          {"fill", {{"const", 1}}},
          {"form", form}};
}

json tensordict_of(const json& leaf) {
  return {{"kind", "tensordict"},
          {"batch_size", {2}},
          {"names", nullptr},
          {"device", nullptr},
          {"entries", json::array({json::array({"a", leaf})})},
          {"consolidated", false},
          {"locked", false}};
}

class ReferenceClaims : public testing::Test {
 protected:
  ReferenceClaims() : player_(reference_.player()) {}

  bool claims(const std::string& capability) const {
    return std::find(player_.features.begin(), player_.features.end(), capability) !=
           player_.features.end();
  }

  json make(const json& tree) const {
    return answer_step(player_, {.op = "make", .args = {{"name", "x"}, {"tree", tree}}, .as = {}});
  }

  Reference reference_;
  Player player_;
};

TEST_F(ReferenceClaims, CoverTheLeavesThatItMakes) {
  for (const std::string form : {"requires_grad",
                                 "sparse_coo",
                                 "jagged",
                                 "meta",
                                 "parameter",
                                 "memmap",
                                 "subclass",
                                 "transposed",
                                 "expanded"}) {
    const json answer = make(tensordict_of(leaf_of_form(form)));
    if (claims("leaf:" + form)) {
      EXPECT_EQ(answer["type"], "returned") << form << ' ' << answer;
    } else {
      EXPECT_EQ(answer, json({{"type", "unsupported"}, {"what", "leaf:" + form}}));
    }
  }
}

TEST_F(ReferenceClaims, CoverTheKindsThatItMakes) {
  const json non_tensor{{"kind", "non_tensor"}, {"data", "text"}, {"batch_size", json::array()}};
  const json lazy_stack{{"kind", "lazy_stack"},
                        {"stack_dim", 1},
                        {"members", json::array({tensordict_of(leaf_of_form("plain"))})}};
  const json persistent{{"kind", "persistent"}, {"batch_size", {2}}, {"entries", json::array()}};
  EXPECT_EQ(make(tensordict_of(non_tensor))["type"], "returned");
  EXPECT_TRUE(claims("kind:non_tensor"));
  for (const json& tree : {lazy_stack, persistent}) {
    EXPECT_EQ(make(tree)["type"], "returned");
    EXPECT_EQ(make(tensordict_of(tree))["type"], "returned");
    EXPECT_TRUE(claims("kind:" + tree["kind"].get<std::string>()));
  }
  EXPECT_EQ(make(tensordict_of({{"kind", "surprise"}}))["what"], "kind:surprise");
  EXPECT_FALSE(claims("kind:surprise"));
}

TEST(ReferenceFiles, LieBesideTheStoreOfTheCase) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "reference_files";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  {
    Files files;
    files.lie_beside(folder / "store");
    EXPECT_EQ(std::filesystem::path(files.new_name()).parent_path().parent_path(), folder);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(ProbeBuffers, HaveHeadersWithinTheBound) {
  Probe probe;
  const json args{{"dst", 0}, {"header", 134217729}};
  const json refused =
      answer_step(probe.player(), {.op = "c10d_gather_buffers", .args = args, .as = std::nullopt});
  EXPECT_EQ(refused["type"], "error");
  EXPECT_EQ(refused["message"],
            "c10d_gather_buffers.header: [134217729] with 8 bytes an element exceeds 1073741824 "
            "bytes");
}

TEST(ProbeClaims, NoFormOfATensor) {
  Probe probe;
  const Player player = probe.player();
  for (const std::string& feature : player.features) EXPECT_FALSE(feature.starts_with("leaf:"));
}

}  // namespace
}  // namespace tdconf::adapter
