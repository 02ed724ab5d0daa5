// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/case.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "engine/case/fixtures.h"
#include "engine/tests/support.h"
#include "values/text.h"

namespace tdconf {
namespace {

using namespace testing_support;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kHead = "id: p2p/x\nclauses: [c]\nlevel: must\nsays: s\n";

TEST(Expansion, NamesHoldTheAxesSortedByName) {
  const auto cases = parse(kHead + R"(world: 2
axes: {tag: [0, 5], early: [true]}
values: {v: {batch_size: [], entries: [[a, {data: [$tag, $early]}]]}}
ranks: {"*": []}
)");
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0].name, "p2p/x/early=true/tag=0");
  EXPECT_EQ(cases[1].name, "p2p/x/early=true/tag=5");
}

TEST(Expansion, AListOfMappingsIsTheUnionOfItsProducts) {
  const auto cases = parse(kHead + R"(world: 1
axes:
  - {a: [1], b: [2]}
  - {a: [3, 4], b: [5]}
values: {v: {batch_size: [$a, $b], entries: []}}
ranks: {"*": []}
)");
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0].name, "p2p/x/a=1/b=2");
  EXPECT_EQ(cases[1].name, "p2p/x/a=3/b=5");
  EXPECT_EQ(cases[2].name, "p2p/x/a=4/b=5");
}

TEST(Expansion, EachAxisIsUsed) {
  const auto error_with = [](const std::string& axes, const std::string& step) {
    return error_of(concat(kHead,
                           "world: 2\naxes: ",
                           axes,
                           "\nvalues: {v: {batch_size: [], entries: []}}\nranks:\n  1: []\n  0: ",
                           step,
                           "\n"));
  };
  const std::string refused =
      "case.yaml:6: in axes: got \"l\", allowed: axes that the case uses; `$l` stands nowhere";
  EXPECT_EQ(error_with("{l: [1, 2]}", "[{make: v}]"), refused);
  // `$long` is no use of `l`.
  EXPECT_EQ(error_with("{l: [1, 2], long: [u]}", "[{make: {value: v, name: $long}}]"), refused);
  EXPECT_EQ(error_with("[{l: [1]}]", "[{make: v}]"), refused);
  EXPECT_EQ(error_with("{l: [1]}", "[{make: v}, {send: {td: v, dst: $l}}]"), "no error");
  EXPECT_EQ(error_with("{l: [1]}", "[{make: v}, {send: {td: v, dst: 1, init_tag: $l+1}}]"),
            "no error");
  EXPECT_EQ(error_with("{l: [1]}", "[{make: v, expect: {equals: v@$l}}]"), "no error");
  EXPECT_EQ(error_with("{l: [v]}", "[{make: v, expect: {equals: $l@1}}]"), "no error");
}

TEST(Expansion, SubstitutesAxesRankAndWorld) {
  const auto cases = parse(kHead + R"(world: $n
axes: {n: [3], tag: [7]}
values: {v: {batch_size: [$n], entries: []}}
ranks:
  "*":
    - make: v
    - send: {td: v, dst: $rank+1, init_tag: $tag-1}
  $n-1:
    - make: v
    - recv: {td: v, src: $rank, init_tag: $world}
)");
  ASSERT_EQ(cases.size(), 1U);
  const auto& programs = cases[0].programs;
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_EQ(programs[0][1].args, nlohmann::json({{"td", "v"}, {"dst", 1}, {"init_tag", 6}}));
  EXPECT_EQ(programs[1][1].args["dst"], 2);
  EXPECT_EQ(programs[2][1].args, nlohmann::json({{"td", "v"}, {"src", 2}, {"init_tag", 3}}));
  EXPECT_EQ(programs[0][0].args["tree"]["batch_size"], nlohmann::json({3}));
}

TEST(Expansion, SubstitutesBothSidesOfAnAt) {
  const Case c = parse_one(kHead + R"(world: 2
axes: {kind: [v], from: [0]}
values: {v: {batch_size: [2], entries: []}}
ranks:
  "*":
    - make: $kind
      expect: {equals: $kind@$from}
)");
  EXPECT_EQ(c.programs[1][0].args["name"], "v");
  EXPECT_EQ(c.programs[1][0].expect_document["equals"], "v@0");
}

TEST(Groups, TheDefaultGroupIsImpliedAndComesFirst) {
  const Case c = parse_one(kHead + R"(world: 3
groups:
  pair: {ranks: [2, 1], backend: "cpu:gloo"}
  alone: {ranks: [0, 2], kind: standalone}
ranks: {"*": []}
messages:
  - {from: 1, to: 2, tag: 0, dtype: uint8, bytes: 1, group: pair}
  - {from: 0, to: 2, tag: 0, dtype: uint8, bytes: 1, group: alone}
)");
  ASSERT_EQ(c.groups.size(), 3U);
  EXPECT_EQ(c.groups[0].name, "default");
  EXPECT_EQ(c.groups[0].backend, "gloo");
  EXPECT_THAT(c.groups[0].ranks, ElementsAre(0, 1, 2));
  EXPECT_EQ(c.groups[1].kind, "subgroup");
  EXPECT_THAT(c.groups[1].ranks, ElementsAre(1, 2));
  EXPECT_EQ(c.groups[2].kind, "standalone");
}

TEST(Groups, EachIsUsed) {
  const auto error_with = [](const std::string& axes, const std::string& step) {
    return error_of(concat(kHead,
                           "world: 2\ngroups: {pair: {ranks: [0, 1]}}\naxes: ",
                           axes,
                           "\nvalues: {v: {batch_size: [], entries: []}}\nranks:\n  \"*\":\n"
                           "    - make: v\n    - ",
                           step,
                           "\n"));
  };
  EXPECT_EQ(
      error_with("{n: [v]}", "{all_reduce: {td: $n}}"),
      "case.yaml:6: in groups: got \"pair\", allowed: groups that a step names; `group: pair` "
      "stands nowhere");
  EXPECT_EQ(error_with("{n: [v]}", "{all_reduce: {td: $n, group: pair}}"), "no error");
  EXPECT_EQ(error_with("{n: [default, pair]}", "{all_reduce: {td: v, group: $n}}"), "no error");
  EXPECT_EQ(error_with("{n: [v]}", "{snapshot: v, expect: {equals: {reduced: $n, group: pair}}}"),
            "no error");
}

TEST(Groups, TheDefaultGroupCanBeLeftOut) {
  const Case c = parse_one(kHead + "world: 2\ngroups: {default: none}\nranks: {\"*\": []}\n");
  EXPECT_TRUE(c.groups.empty());
}

TEST(Steps, AfterNamesStepsOfOtherRanks) {
  const Case c = case_of(2,
                         "  v: {batch_size: [], entries: []}\n",
                         "  0: [{make: v, label: made}]\n"
                         "  1: [{make: v}, {snapshot: v, after: 0.made}]\n");
  EXPECT_THAT(c.programs[1][1].after, ElementsAre(StepId{0, 0}));
}

TEST(Steps, BareReceivesArePoisonedFirst) {
  const Case c = case_of(2,
                         "  v: {batch_size: [], entries: [[a, {dtype: int32, shape: [2]}]]}\n",
                         "  0: []\n"
                         "  1: [{c10d_recv: {leaf: v@0, key: [a], src: 0, tag: 3}}]\n");
  const Step& step = c.programs[1][0];
  EXPECT_EQ(step.args["tensor"]["fill"],
            nlohmann::json({{"ramp", {{"start", 1001}, {"step", 1}}}, {"invert", true}}));
  EXPECT_FALSE(std::get<TensorLeaf>(step.receives).parts[0].fill.invert);
  EXPECT_EQ(step.receives_key, "a");
}

TEST(Steps, TheResultOfAnIrecvIsWhatItWasToReceive) {
  const Case c = case_of(2,
                         "  v: {batch_size: [], entries: [[a, {dtype: int32, shape: [2]}]]}\n",
                         "  0: []\n"
                         "  1:\n"
                         "    - {c10d_irecv: {leaf: v@0, key: [a], src: 0, tag: 3}, as: w}\n"
                         "    - wait: w\n"
                         "    - c10d_result: w\n");
  EXPECT_TRUE(std::holds_alternative<TensorLeaf>(c.programs[1][2].receives));
}

TEST(Steps, StoragesTravelAsOneTensorOfBytes) {
  const Case c = case_of(2,
                         "  v: {batch_size: [], entries: [[a, {dtype: uint8, shape: [3]}]]}\n",
                         "  0: [{c10d_send: {storage: v@0, dst: 1, tag: 0}}]\n"
                         "  1: []\n");
  EXPECT_EQ(c.programs[0][0].args["tensor"]["shape"], nlohmann::json({8}));
  // 1001, 1002, 1003 modulo 256, then five bytes of padding.
  EXPECT_EQ(c.programs[0][0].args["tensor"]["fill"]["bits"], "e9eaeb0000000000");
}

TEST(Steps, CollectiveOperationsPassWhatTheCaseGives) {
  const Case c =
      case_of(2,
              "  v: {batch_size: [], entries: []}\n",
              "  0:\n"
              "    - make: v\n"
              "    - {reduce: {td: v, dst: 1, op: MAX, async_op: true, "
              "return_premature: true, bucket_bytes: 100}, as: w}\n"
              "    - wait: w\n"
              "    - {scatter: {td: v, src: 0, tensordicts: [v, v], device: cpu}, as: s}\n"
              "    - {getitem: {td: s, index: [0, [1, 3]]}, as: i}\n"
              "    - {init_remote: {td: i, dst: 1, use_broadcast: true, device: cpu}}\n"
              "  1: []\n");
  const auto& program = c.programs[0];
  EXPECT_EQ(program[1].args,
            nlohmann::json({{"td", "v"},
                            {"dst", 1},
                            {"op", "MAX"},
                            {"async_op", true},
                            {"return_premature", true},
                            {"bucket_bytes", 100}}));
  EXPECT_EQ(program[3].args["tensordicts"], nlohmann::json({"v", "v"}));
  EXPECT_EQ(program[3].args["device"], "cpu");
  EXPECT_EQ(program[4].args["index"], nlohmann::json::parse("[0, [1, 3]]"));
  EXPECT_EQ(program[5].args["use_broadcast"], true);
}

TEST(Steps, AnAllGatherNamesOneValueForEachMemberOfItsGroup) {
  const auto looks_at = [](const std::string& group, const std::string& expect, int number) {
    return error_of(concat(kHead,
                           "world: 3\ngroups: {pair: {ranks: [0, 2]}}\n"
                           "messages: [{from: 0, to: 2, tag: 0, storage: v, group: pair}]\n"
                           "values: {v: {batch_size: [], entries: []}}\nranks:\n  1: []\n  2: []\n"
                           "  0:\n    - make: v\n    - {all_gather: {td: v",
                           group,
                           "}, as: all",
                           expect,
                           "}\n    - snapshot: all.",
                           number,
                           "\n"));
  };
  EXPECT_EQ(looks_at(", group: default", "", 2), "no error");
  EXPECT_THAT(looks_at(", group: default", "", 3),
              HasSubstr("case.yaml:15: in td: got \"all.3\", allowed: a value that rank 0 made"));
  EXPECT_EQ(looks_at(", group: pair", "", 1), "no error");
  EXPECT_THAT(looks_at(", group: pair", "", 2), HasSubstr("got \"all.2\""));
  const std::string three = ", expect: {returns: {tensordicts: 3}}";
  EXPECT_EQ(looks_at(", group: pair", three, 2), "no error");
}

TEST(Capabilities, FollowFromStepsValuesAndGroups) {
  const Case c = case_of(1,
                         "  v:\n"
                         "    batch_size: [2]\n"
                         "    entries:\n"
                         "      - [a, {dtype: int32, shape: [2], form: transposed}]\n"
                         "      - [b, {data: x}]\n"
                         "      - [c, {stack_dim: 0, members: [{batch_size: [], entries: []}]}]\n",
                         "  0: [{make: v}]\n");
  EXPECT_THAT(needed_capabilities(c, 0),
              ElementsAre("backend:gloo",
                          "group:default",
                          "kind:lazy_stack",
                          "kind:non_tensor",
                          "kind:tensordict",
                          "leaf:transposed",
                          "op:make"));
}

struct Broken {
  const char* name;
  const char* yaml;
  const char* message;
};

void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.name;
}

class BrokenCase : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenCase, IsRefusedWithItsPlace) {
  EXPECT_THAT(error_of(kHead + GetParam().yaml), HasSubstr(GetParam().message));
}

// The head has four lines, so that `world` stands in line 5.
INSTANTIATE_TEST_SUITE_P(
    CaseParser,
    BrokenCase,
    ::testing::Values(
        Broken{"key",
               "world: 1\nrank: {}\nranks: {}\n",
               "case.yaml:6: in a case: got key \"rank\", allowed: id, clauses"},
        Broken{"twice",
               "world: 1\nworld: 2\nranks: {}\n",
               "case.yaml:6: in a mapping: got key \"world\" twice"},
        Broken{
            "world", "world: 17\nranks: {}\n", "case.yaml:5: in world: got 17, allowed: 1 to 16"},
        Broken{"axis", "world: $n\nranks: {}\n", "case.yaml:5: in a substitution: got `$n`"},
        Broken{"empty_axis",
               "world: 1\naxes: {n: []}\nranks: {}\n",
               "case.yaml:6: in axis `n`: got [], allowed: at least one value"},
        Broken{"slash", "world: 1\naxes: {n: [a/b]}\nranks: {}\n", "in axis `n`: got \"a/b\""},
        Broken{
            "sum", "world: 1\naxes: {n: [a]}\nranks: {$n+1: []}\n", "allowed: integers to add to"},
        Broken{"overflow",
               "world: 1\naxes: {n: [1]}\nranks: {$n+9223372036854775807: []}\n",
               "numbers of at most 64 bits"},
        Broken{"long_deadline",
               "world: 1\ndeadline_s: 1e300\nslow: never\nranks: {0: []}\n",
               "in deadline_s: got 1e+300, allowed: a positive number, at most 3600"},
        Broken{"utf8", "world: 1\nnotes: \xff\nranks: {0: []}\n", "not UTF-8"},
        Broken{"rank",
               "world: 1\nranks: {1: []}\n",
               "case.yaml:6: in ranks: got 1, allowed: ranks 0 to 0"},
        Broken{"no_rank", "world: 2\nranks: {1: []}\n", "rank 0 has no steps"},
        Broken{"deadline",
               "world: 1\ndeadline_s: 3\nranks: {0: []}\n",
               "`deadline_s` and `slow` are needed together"},
        Broken{"yes",
               "world: 1\nroles: {0: yes}\nranks: {0: []}\n",
               "got `yes`, allowed: true, false"},
        Broken{"subgroup",
               "world: 1\ngroups: {default: none, g: {ranks: [0]}}\nranks: {0: []}\n",
               "subgroups only beside a default group"},
        Broken{"backend",
               "world: 1\ngroups: {g: {ranks: [0], backend: nccl}}\nranks: {0: []}\n",
               "in backend: got \"nccl\", allowed: gloo, cpu:gloo, undefined"},
        Broken{"op",
               "world: 1\nranks: {0: [{sent: {}}]}\n",
               "case.yaml:6: in a step: got {\"sent\":{}}, allowed: one of the operations make, "
               "snapshot"},
        Broken{"two_ops",
               "world: 1\nranks: {0: [{wait: w, snapshot: v}]}\n",
               "allowed: one operation"},
        Broken{"value",
               "world: 1\nranks: {0: [{make: v}]}\n",
               "in a reference: got `v`, allowed: the values "},
        Broken{"yaml", "world: [\n", "not YAML"}));

std::string list_of(int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return concat("[", join(numbers, ","), "]");
}

TEST(CaseParser, RefusesMoreCombinationsThanItsLimit) {
  const auto axes = [](int a, int b) {
    return concat(kHead,
                  "world: 1\naxes: {a: ",
                  list_of(a),
                  ", b: ",
                  list_of(b),
                  "}\nranks: {0: []}\n"
                  "values: {v: {batch_size: [$a, $b], entries: []}}\n");
  };
  EXPECT_THAT(error_of(axes(33, 32)), HasSubstr("more than 1024 combinations"));
  EXPECT_EQ(error_of(axes(32, 32)), "no error");
}

TEST(CaseParser, RefusesAliasesThatUnfoldToALargeFile) {
  std::string yaml = kHead + "world: 1\nnotes:\n  - &a0 [x]\n";
  for (int i = 0; i < 18; ++i) {
    yaml += concat("  - &a", i + 1, " [*a", i, ", *a", i, "]\n");
  }
  EXPECT_THAT(error_of(yaml), HasSubstr("more values, allowed: 200000 values"));
}

TEST(CaseParser, TakesACaseThatNamesNoClauseButNoEmptyList) {
  const std::string rest = "level: must\nsays: s\nworld: 1\nranks: {0: []}\n";
  const auto cases = parse("id: p2p/x\n" + rest);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_THAT(cases[0].clauses, IsEmpty());
  EXPECT_THAT(error_of("id: p2p/x\nclauses: []\n" + rest), HasSubstr("at least one clause"));
}

TEST(CaseParser, TakesLongTextsButNotLongIds) {
  const std::string text(100'000, 'x');
  EXPECT_EQ(error_of(concat(kHead, "world: 1\nnotes: ", text, "\nranks: {0: []}\n")), "no error");
  EXPECT_THAT(
      error_of(concat(
          "id: a/", text, "\nclauses: [c]\nlevel: must\nsays: s\nworld: 1\nranks: {0: []}\n")),
      HasSubstr("128 characters in all"));
}

const std::string kMade =
    "world: 1\nvalues:\n  v: {batch_size: [2], entries: [[a, {dtype: int32, shape: "
    "[2]}]]}\nranks:\n  0:\n    - make: v\n";

class BrokenStep : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenStep, IsRefusedWithItsPlace) {
  EXPECT_THAT(error_of(kHead + kMade + "    - " + GetParam().yaml), HasSubstr(GetParam().message));
}

// The step in question stands in line 11.
INSTANTIATE_TEST_SUITE_P(
    StepParser,
    BrokenStep,
    ::testing::Values(
        Broken{"argument",
               "send: {td: v, dest: 1}",
               "case.yaml:11: in send: got key \"dest\", allowed: td, dst"},
        Broken{"missing", "send: {dst: 1}", "in send: `td` is missing"},
        Broken{
            "held", "snapshot: w", "in td: got \"w\", allowed: a value that rank 0 made or kept"},
        Broken{"group", "send: {td: v, dst: 0, group: g}", "allowed: the groups default"},
        Broken{"works", "wait: w", "allowed: the `as` of an earlier operation"},
        Broken{"result", "{c10d_result: w}", "allowed: the `as` of an earlier c10d_irecv"},
        Broken{"expect",
               "{snapshot: v, expect: {equal: v}}",
               "got key \"equal\", allowed: blocks, raises, equals"},
        Broken{"not_of_this",
               "{send: {td: v, dst: 0}, expect: {equals: v}}",
               "expect of send: got key \"equals\""},
        Broken{"raises",
               "{send: {td: v}, expect: {raises: ValueError}}",
               "got \"ValueError\", allowed: value, type"},
        Broken{"both",
               "{send: {td: v}, expect: {raises: value, returns: none}}",
               "got key \"returns\""},
        Broken{"false",
               "{snapshot: v, expect: {in_place: false}}",
               "allowed: true, or leave the key out"},
        Broken{"at", "{snapshot: v, expect: {equals: v@1}}", "the rank after `@`"},
        Broken{"label", "{snapshot: v, after: 0.never}", "allowed: the labels"},
        Broken{"circle", "{snapshot: v, label: me, after: 0.me}", "waits in a circle"},
        Broken{"key", "{c10d_send: {leaf: v, key: [b], dst: 0, tag: 0}}", "allowed: the tensors a"},
        Broken{
            "bare", "{c10d_send: {leaf: v, dst: 0, tag: 0}}", "exactly one of `leaf` with `key`"},
        Broken{"pipe_needs_as", "open_pipe: {peer: 1, listen: true}", "allowed: `as` beside it"},
        Broken{"pipe_to_itself", "{open_pipe: {peer: 0, listen: true}, as: p}", "another rank"},
        Broken{"pipe_to_nobody", "{open_pipe: {peer: -1, listen: true}, as: p}", "another rank"},
        Broken{"no_such_pipe", "send: {td: v, pipe: p}", "the `as` of an earlier open_pipe"},
        Broken{"no_pipe_to_close", "close_pipe: v", "the `as` of an earlier open_pipe"},
        Broken{"returns_what_nobody_holds",
               "{recv: {td: v, src: 0}, expect: {returns: {td: w}}}",
               "a value that rank 0 made or kept earlier"},
        Broken{"needs_as", "from_remote_init: {src: 0}", "allowed: `as` beside it"},
        Broken{"new_needs_as",
               "{recv: {td: v, src: 0}, expect: {returns: tensordict}}",
               "in returns: tensordict: "},
        Broken{"new_as_held",
               "{recv: {td: v, src: 0}, as: v, expect: {returns: tensordict}}",
               "case.yaml:11: in as: got `v` again"},
        Broken{
            "self_as_itself",
            "{broadcast: {td: v, src: 0}, as: v, expect: {returns: self}}",
            "case.yaml:11: in as: got `v` again, allowed: a name that the rank does not hold yet"},
        Broken{
            "held_as_itself",
            "{make: {value: v, name: u}}\n    - {recv: {td: u, src: 0}, as: v, expect: {returns: "
            "{td: v}}}",
            "case.yaml:12: in as: got `v` again"},
        Broken{"snapshot_of_works",
               "{isend: {td: v, dst: 0, return_early: true}, as: w}\n    - snapshot: w",
               "case.yaml:12: in td: got \"w\", allowed: a value that rank 0 made or kept earlier"},
        Broken{"snapshot_of_bare_works",
               "{c10d_isend: {storage: v, dst: 0, tag: 0}, as: w}\n    - snapshot: w",
               "case.yaml:12: in td: got \"w\""},
        Broken{"snapshot_of_what_shall_be_works",
               "{recv: {td: v, src: 0}, as: w, expect: {returns: works}}\n    - snapshot: w",
               "case.yaml:12: in td: got \"w\""},
        Broken{"wait_for_a_tensordict",
               "{broadcast: {td: v, src: 0}, as: w}\n    - wait: w",
               "case.yaml:12: in wait: got \"w\", allowed: the `as` of an earlier operation"},
        Broken{"reduce_op",
               "all_reduce: {td: v, op: MEAN}",
               "case.yaml:11: in op: got \"MEAN\", allowed: SUM, AVG, PRODUCT, MIN, MAX, BAND"},
        Broken{"device",
               "{broadcast: {td: v, src: 0, device: gpu}, as: b}",
               "case.yaml:11: in device: got \"gpu\", allowed: cpu, cuda or meta"},
        Broken{"broadcast_needs_as", "broadcast: {td: v, src: 0}", "allowed: `as` beside it"},
        Broken{"scatter_needs_as", "scatter: {td: v, src: 0}", "allowed: `as` beside it"},
        Broken{"gather_needs_as", "all_gather: {td: v}", "allowed: `as` beside it"},
        Broken{"getitem_needs_as", "getitem: {td: v, index: [0]}", "allowed: `as` beside it"},
        Broken{"scatters_what_nobody_holds",
               "{scatter: {td: v, src: 0, tensordicts: [v, w]}, as: s}",
               "case.yaml:11: in tensordicts: got \"w\", allowed: a value that rank 0 made"},
        Broken{"index_of_nothing",
               "{getitem: {td: v, index: []}, as: i}",
               "in index: got [], allowed: a list of integers and pairs [start, stop]"},
        Broken{"index_of_three",
               "{getitem: {td: v, index: [[0, 1, 2]]}, as: i}",
               "in index: got [[0,1,2]], allowed: a list of integers and pairs [start, stop]"},
        Broken{"index_of_a_word",
               "{getitem: {td: v, index: [a]}, as: i}",
               "in index: got \"a\", allowed: an integer"},
        Broken{"unchanged_item",
               "{getitem: {td: v, index: [0]}, as: i, expect: {unchanged: true}}",
               "`unchanged` only of a value that"},
        Broken{
            "unchanged_later",
            "{getitem: {td: v, index: [0]}, as: i}\n    - {snapshot: i, expect: {unchanged: true}}",
            "`unchanged` only of a value that"},
        Broken{"gathered_as_held",
               "{all_gather: {td: v}, as: all}\n    - {all_gather: {td: v}, as: all, expect: "
               "{returns: {tensordicts: 1}}}",
               "case.yaml:12: in as: got `all.0` again"},
        Broken{"gathered_is_no_value",
               "{all_gather: {td: v}, as: all}\n    - snapshot: all",
               "case.yaml:12: in td: got \"all\""},
        Broken{"gathers_fewer_than_none",
               "{all_gather: {td: v}, as: all, expect: {returns: {tensordicts: -1}}}",
               "case.yaml:11: in tensordicts: got -1, allowed: 0 and more"},
        Broken{"fewer_works_than_none",
               "{all_reduce: {td: v, async_op: true}, as: w, expect: {returns: {works: -1}}}",
               "case.yaml:11: in works: got -1, allowed: 0 and more"},
        Broken{"never_seen",
               "{from_remote_init: {src: 0}, as: w}\n    - {snapshot: w, expect: {in_place: true}}",
               "`in_place` only of a value made or shown earlier"},
        Broken{"unchanged",
               "{from_remote_init: {src: 0}, as: w}\n    - {snapshot: w}\n    - "
               "{snapshot: w, expect: {unchanged: true}}",
               "`unchanged` only of a value that"},
        Broken{"as",
               "{c10d_recv: {leaf: v, key: [a], src: 0, tag: 0}, as: x}",
               "whose result can be kept"}));

class BrokenValue : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenValue, IsRefusedWithItsPlace) {
  const std::string yaml =
      std::string("world: 1\nvalues:\n  v: ") + GetParam().yaml + "\nranks: {0: [{make: v}]}\n";
  EXPECT_THAT(error_of(kHead + yaml), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    ValueParser,
    BrokenValue,
    ::testing::Values(
        Broken{"dtype",
               "{batch_size: [], entries: [[a, {dtype: float, shape: []}]]}",
               "case.yaml:7: in value `v`: unknown dtype `float`, allowed: bool"},
        Broken{
            "key", "{batch_size: [], entries: [], locked: true, colour: 1}", "got key \"colour\""},
        Broken{"form",
               "{batch_size: [], entries: [[a, {dtype: bool, shape: [], form: dense}]]}",
               "in form: got \"dense\""},
        Broken{"twice",
               "{batch_size: [], entries: [[a, {data: 1}], [a, {data: 2}]]}",
               "allowed: each key once"},
        Broken{"huge",
               "{batch_size: [], entries: [[a, {dtype: int64, shape: [1000000000000]}]]}",
               "got 1000000000000 elements, allowed: tensors of at most 2^28 bytes"},
        Broken{"overflow",
               "{batch_size: [], entries: [[a, {dtype: bool, shape: [4294967296, 4294967296]}]]}",
               "more than 2^63 - 1 elements"},
        Broken{"size", "{batch_size: [-1], entries: []}", "sizes of 0 and more"},
        Broken{"root",
               "{dtype: bool, shape: []}",
               "a tensordict (entries), a lazy stack (members) or poison"},
        Broken{"fill",
               "{batch_size: [], entries: [[a, {dtype: float16, shape: [], fill: {const: 2049}}]]}",
               "2049, which float16 cannot represent exactly"},
        Broken{"two_fills",
               "{batch_size: [], entries: [[a, {dtype: bool, shape: [], fill: {const: 1, scramble: "
               "1}}]]}",
               "one of ramp, const, bits, scramble"},
        Broken{"bits",
               "{batch_size: [], entries: [[a, {dtype: uint8, shape: [], fill: {bits: 12}}]]}",
               "hex digits in quotes"},
        Broken{
            "keyword",
            "{kind: tensorclass, class: C, batch_size: [], entries: [[from, {data: 1}]]}",
            "case.yaml:7: in a field: got \"from\", allowed: a word that is no keyword of Python"},
        Broken{"own_poison", "{poison: v}", "values that do not refer to themselves"},
        Broken{"names",
               "{batch_size: [2], names: [x, y], entries: []}",
               "one name (or null) for each batch dimension"},
        Broken{
            "inner",
            "{batch_size: [], entries: [[n, {batch_size: [], entries: [], consolidated: true}]]}",
            "only at the root"}));

/// A case whose value `v` holds a tensor below so many tensordicts.
std::string error_of_nested(int levels) {
  std::string value = "{dtype: int8, shape: []}";
  for (int level = 0; level < levels; ++level) {
    value = concat("{batch_size: [], entries: [[k, ", value, "]]}");
  }
  return error_of(concat(kHead, "world: 1\nvalues:\n  v: ", value, "\nranks: {0: [{make: v}]}\n"));
}

TEST(ValueParser, RefusesWhatNestsDeeperThanARequestMay) {
  // The tensor, its fill and its ramp are three levels, each tensordict has three, and the request and
  // its arguments are two: 3 + 19 · 3 + 2 = 62, and one tensordict more makes 65.
  EXPECT_EQ(error_of_nested(19), "no error");
  EXPECT_EQ(
      error_of_nested(20),
      "case.yaml:7: in value `v`: got 63 levels of JSON, as the protocol writes it, allowed: at "
      "most 62, about 20 levels of tensordicts");
}

TEST(Steps, APipeHasANameOfItsOwn) {
  const auto open_again = [](const std::string& name) {
    return error_of(concat(kHead,
                           "world: 2\nranks:\n  1: []\n  0:\n"
                           "    - {open_pipe: {peer: 1, listen: true}, as: p}\n"
                           "    - close_pipe: p\n"
                           "    - {open_pipe: {peer: 1, listen: true}, as: ",
                           name,
                           "}\n"));
  };
  EXPECT_EQ(open_again("q"), "no error");
  EXPECT_EQ(
      open_again("p"),
      "case.yaml:11: in as: got `p` again, allowed: a name of its own for each pipe of a rank, "
      "also after close_pipe");
}

TEST(CaseParser, CutsWhatItShowsBetweenTwoLetters) {
  // Two-byte letters behind one more byte, or none: the limit falls into one of them.
  for (const std::string start : {"", "x"}) {
    std::string text = start;
    for (int i = 0; i < 60; ++i) text += "\xc3\xa9";
    const std::string error = error_of(concat(kHead, "world: ", text, "\nranks: {0: []}\n"));
    EXPECT_THAT(error, HasSubstr("..."));
    EXPECT_NO_THROW(static_cast<void>(nlohmann::json(error).dump()));
  }
}

TEST(Fixtures, TheSameIdTwiceIsRefused) {
  const std::string yaml = kHead + "world: 1\nranks: {0: []}\n";
  const std::string folder = ::testing::TempDir() + "/twice";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/a.yaml") << yaml << "---\n" << yaml;
  try {
    load_fixtures({folder});
    FAIL() << "two cases with one id were accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("a.yaml:8: in id: got `p2p/x` again, first at "));
  }
}

const std::string kLends = "values: {v: {batch_size: [7], entries: []}}\n---\n";
const std::string kBorrows = kHead + "world: 1\nranks: {0: [{make: v}]}\n";

TEST(Fixtures, ADocumentOfValuesLendsThemToTheCasesAfterIt) {
  const std::string folder = ::testing::TempDir() + "/lends";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/a.yaml") << kLends << kBorrows;
  const auto cases = load_fixtures({folder});
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].programs[0][0].args["tree"]["batch_size"], nlohmann::json({7}));
}

TEST(Fixtures, WhatIsLentIsNotSaidAgain) {
  const std::string folder = ::testing::TempDir() + "/lends_twice";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/a.yaml")
      << kLends << kBorrows << "values: {v: {batch_size: [1], entries: []}}\n";
  try {
    load_fixtures({folder});
    FAIL() << "a value that the file lends was defined again";
  } catch (const InputError& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr("a.yaml:9: in values: got `v`, which the file lends, allowed: each name"));
  }
}

TEST(Fixtures, FilesAndFoldersWithoutACaseAreRefused) {
  const std::string folder = ::testing::TempDir() + "/empty";
  std::filesystem::create_directories(folder);
  EXPECT_THROW(load_fixtures({folder}), InputError);
  std::ofstream(folder + "/a.yaml") << "# nothing here\n";
  EXPECT_THROW(load_fixtures({folder}), InputError);
  std::ofstream(folder + "/a.yaml") << kLends;
  EXPECT_THROW(load_fixtures({folder}), InputError);
  EXPECT_THROW(load_fixtures({folder + "/no-such-file.yaml"}), InputError);
}

TEST(Fixtures, AnotherExtensionIsNotPassedOver) {
  const std::string folder = ::testing::TempDir() + "/extension";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/a.yml") << kHead << "world: 1\nranks: {0: []}\n";
  EXPECT_THROW(load_fixtures({folder}), InputError);
}

TEST(Fixtures, UnknownClausesAreRefused) {
  const std::vector<Case> cases = parse(kHead + "world: 1\nranks: {0: []}\n");
  EXPECT_NO_THROW(check_clauses(cases, {"c"}));
  EXPECT_THROW(check_clauses(cases, {"d"}), InputError);
}

TEST(Manifest, DependsOnWhatTheCasesSayAndNotOnTheirOrder) {
  const auto a = parse(kHead + "world: 1\naxes: {n: [1, 2]}\nvalues: {v: $n}\nranks: {0: []}\n");
  EXPECT_EQ(manifest_digest(a), manifest_digest({a[1], a[0]}));
  EXPECT_NE(manifest_digest(a), manifest_digest({a[0]}));
  const auto other =
      parse(kHead + "world: 2\naxes: {n: [1, 2]}\nvalues: {v: $n}\nranks: {\"*\": []}\n");
  EXPECT_NE(manifest_digest(a), manifest_digest(other));
}

}  // namespace
}  // namespace tdconf
