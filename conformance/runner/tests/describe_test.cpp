// SPDX-License-Identifier: BSD-3-Clause
#include "runner/describe.h"

#include <gmock/gmock.h>

#include "engine/case/case_parser.h"

namespace tdconf {
namespace {

using nlohmann::json;

std::vector<Case> parse(const std::string& yaml) {
  return parse_cases(parse_yaml(yaml, "case.yaml").at(0));
}

const std::string kFull = R"(id: p2p/x
clauses: [c]
level: compat
says: it works
broken_by: doing nothing
notes: because
world: 2
axes: {tag: [3]}
groups: {pair: {ranks: [0, 1]}}
values: {v: {batch_size: [], entries: [[a, {dtype: uint8, shape: [1], fill: {const: 7}}]]}}
roles: {1: probe}
deadline_s: 2.5
slow: it is
ranks:
  0:
    - {make: v}
    - {send: {td: v, dst: 1, init_tag: $tag, group: pair}, as: sent, expect: {blocks: 1.got, returns: none}}
  1:
    - {c10d_recv: {leaf: v@0, key: [a], src: 0, tag: $tag}, label: got}
    - {make: v, after: 0.sent_it}
messages: [{from: 0, to: 1, tag: $tag, leaf: v@0, key: [a]}]
transcript: {0: {pickles: 0}}
)";

TEST(Describe, HoldsAllThatACaseSays) {
  std::string yaml = kFull;
  yaml.replace(yaml.find("{make: v}"), 9, "{make: v, label: sent_it}");
  const std::vector<Case> cases = parse(yaml);
  ASSERT_EQ(cases.size(), 1U);
  json described = describe(cases.front());

  json& programs = described["programs"];
  EXPECT_EQ(programs[0][0]["args"]["tree"]["entries"][0][1]["fill"],
            json::parse(R"({"const": 7})"));
  programs[0][0].erase("args");
  programs[1][1].erase("args");
  EXPECT_EQ(programs, json::parse(R"([
    [{"op": "make", "as": null, "label": "sent_it", "after": [], "blocks": null, "expect": null,
      "equals": null},
     {"op": "send", "args": {"td": "v", "dst": 1, "init_tag": 3, "group": "pair"}, "as": "sent", "label": null,
      "after": [], "blocks": [1, 0], "expect": {"blocks": "1.got", "returns": "none"},
      "equals": null}],
    [{"op": "c10d_recv", "as": null, "label": "got", "after": [], "blocks": null, "expect": null,
      "args": {"src": 0, "tag": 3, "tensor": {"kind": "tensor", "dtype": "uint8", "shape": [1],
               "form": "plain", "fill": {"const": 7, "invert": true}}},
      "equals": {"kind": "tensor", "dtype": "uint8", "shape": [1], "form": "plain",
                 "fill": {"const": 7}}},
     {"op": "make", "as": null, "label": null, "after": [[0, 0]], "blocks": null, "expect": null,
      "equals": null}]
  ])"));
  described.erase("programs");

  const json document = described["document"];
  EXPECT_EQ(document["ranks"]["0"][1]["send"]["init_tag"], 3);
  EXPECT_FALSE(document.contains("axes"));
  EXPECT_FALSE(document.contains("name"));
  described.erase("document");

  // The digest of the byte 07.
  EXPECT_EQ(described, json::parse(R"({
    "name": "p2p/x/tag=3", "id": "p2p/x", "axes": {"tag": "3"}, "clauses": ["c"],
    "level": "compat", "says": "it works", "broken_by": "doing nothing", "notes": "because",
    "world": 2, "roles": {"1": "probe"}, "deadline_s": 2.5, "slow": "it is",
    "groups": [{"name": "default", "kind": "default", "backend": "gloo", "ranks": [0, 1]},
               {"name": "pair", "kind": "subgroup", "backend": "gloo", "ranks": [0, 1]}],
    "file": "case.yaml", "line": 1,
    "messages": [{"from": 0, "to": 1, "group": "default", "tag": 3, "dtype": "uint8", "bytes": 1,
                  "key": "a",
                  "sha256": "ca358758f6d27e6cf45272937977a748fd88391db679ceda7dc7bf1f005ee879"}],
    "transcript": {"0": {"calls": null, "pickles": 0, "consolidations": null}}
  })"));
}

TEST(Describe, HoldsTheValueThatAStepMustShow) {
  const std::string head =
      "id: p2p/x\nclauses: [c]\nlevel: must\nsays: s\nworld: 2\n"
      "values: {v: {batch_size: [], entries: [[a, {dtype: uint8, shape: [1], fill: {const: "
      "7}}]]},\n"
      "         w: {poison: v@0}}\nranks:\n  0:\n    - make: v\n    - make: w\n";
  const auto equals_of = [&](const std::string& step) {
    return describe(
        parse(head + "    - " + step + "\n  1: []\n").front())["programs"][0][2]["equals"];
  };
  const json made = equals_of("{snapshot: v, expect: {equals: v@0}}");
  EXPECT_EQ(made["entries"][0][1]["fill"], json::parse(R"({"const": 7})"));
  EXPECT_EQ(equals_of("{snapshot: v, expect: {unchanged: true}}"), made);
  const json stacked = equals_of("{snapshot: v, expect: {equals: {stack: [v@0, w@1]}}}");
  EXPECT_EQ(stacked["entries"][0][1]["fill"], json::parse(R"({"bits": "07f8"})"));
  EXPECT_EQ(equals_of("{snapshot: v, expect: {in_place: true}}"), nullptr);
  EXPECT_EQ(equals_of("{c10d_irecv: {leaf: v@0, key: [a], src: 1, tag: 0}, as: works}"), nullptr);
}

TEST(Describe, WhatACaseDoesNotSayIsNull) {
  const std::vector<Case> cases =
      parse("id: p2p/x\nclauses: [c]\nlevel: must\nsays: s\nworld: 1\nranks: {0: []}\n");
  const json described = describe(cases.front());
  for (const char* key : {"broken_by", "notes", "slow", "messages", "transcript"}) {
    ASSERT_TRUE(described.contains(key)) << key;
    EXPECT_TRUE(described[key].is_null()) << key;
  }
  EXPECT_EQ(described["programs"], json::parse("[[]]"));
  EXPECT_EQ(described["axes"], json::object());
  EXPECT_EQ(described["roles"], json::object());
  EXPECT_EQ(described["deadline_s"], 10);
}

}  // namespace
}  // namespace tdconf
