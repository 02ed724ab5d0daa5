// SPDX-License-Identifier: BSD-3-Clause
#include "reference/trees.h"

#include <gmock/gmock.h>

#include "reference/literals.h"

namespace tdconf::adapter {
namespace {

using testing::ElementsAre;

json leaf(const std::string& dtype, std::vector<std::int64_t> shape, std::int64_t start) {
  return {{"kind", "tensor"},
          {"dtype", dtype},
          {"shape", shape},
          {"fill", {{"ramp", {{"start", start}, {"step", 1}}}}},
          {"form", "plain"}};
}

json tensordict(std::vector<std::int64_t> batch_size,
                const std::vector<std::pair<std::string, json>>& entries) {
  json pairs = json::array();
  for (const auto& [key, tree] : entries) pairs.push_back(json::array({key, tree}));
  return {{"kind", "tensordict"},
          {"batch_size", batch_size},
          {"names", nullptr},
          {"device", nullptr},
          {"entries", std::move(pairs)},
          {"consolidated", false},
          {"locked", false}};
}

tdref::AnyTensorDict make(const json& tree) {
  Files files;
  return make_tensordict(tree, "x", files);
}

json snapshot_of(const json& tree) {
  return snapshot_tensordict(*make(tree));
}

std::vector<std::string> keys_of(const json& snapshot) {
  std::vector<std::string> keys;
  for (const json& item : snapshot["entries"]) keys.push_back(item[0]);
  return keys;
}

TEST(Trees, KeepTheOrderOfTheEntries) {
  const json tree = tensordict({2}, {{"z", leaf("uint8", {2}, 1)}, {"a", leaf("uint8", {2}, 3)}});
  const json snapshot = snapshot_of(tree);
  EXPECT_THAT(keys_of(snapshot), ElementsAre("z", "a"));
  EXPECT_EQ(snapshot["entries"][0][1]["bytes"], "0102");
  EXPECT_EQ(snapshot["entries"][1][1]["bytes"], "0304");
}

TEST(Trees, DescribeATensordictAndWhatItHolds) {
  json tree = tensordict(
      {2},
      {{"n", tensordict({2, 1}, {})},
       {"s", {{"kind", "non_tensor"}, {"data", "text"}, {"batch_size", json::array({2})}}}});
  tree["names"] = {"time"};
  tree["device"] = "cpu";
  const json snapshot = snapshot_of(tree);
  EXPECT_EQ(snapshot["kind"], "tensordict");
  EXPECT_EQ(snapshot["class"], "TensorDict");
  EXPECT_EQ(snapshot["batch_size"], json({2}));
  EXPECT_EQ(snapshot["names"], json::array({"time"}));
  EXPECT_EQ(snapshot["device"], "cpu");
  EXPECT_EQ(snapshot["locked"], false);
  EXPECT_EQ(snapshot["consolidated"], nullptr);
  EXPECT_EQ(snapshot["entries"][0][1]["batch_size"], json({2, 1}));
  EXPECT_FALSE(snapshot["entries"][0][1].contains("consolidated"));
  EXPECT_EQ(snapshot["entries"][1][1],
            json({{"kind", "non_tensor"}, {"data", "text"}, {"batch_size", {2}}}));
}

TEST(Trees, LockWhatIsLocked) {
  json tree = tensordict({2}, {});
  tree["locked"] = true;
  EXPECT_EQ(snapshot_of(tree)["locked"], true);
}

TEST(Trees, ShowTheStorageOfAConsolidatedTensordict) {
  json tree = tensordict({2}, {{"z", leaf("uint8", {2}, 1)}, {"a", leaf("int16", {2}, 3)}});
  tree["consolidated"] = true;
  const json snapshot = snapshot_of(tree);
  EXPECT_EQ(snapshot["locked"], true);
  EXPECT_EQ(snapshot["consolidated"]["nbytes"], 16);
  // Two bytes and six of padding, then four and four.
  EXPECT_EQ(snapshot["consolidated"]["bytes"], "01020000000000000300040000000000");
  EXPECT_EQ(snapshot["consolidated"]["token"], snapshot["entries"][0][1]["token"]);
}

TEST(Trees, CallAParameterByItsClass) {
  json parameter = leaf("float32", {2}, 1);
  parameter["form"] = "parameter";
  const json snapshot = snapshot_of(tensordict({2}, {{"w", parameter}}));
  EXPECT_EQ(snapshot["entries"][0][1]["class"], "Parameter");
  EXPECT_EQ(snapshot["entries"][0][1]["requires_grad"], true);
}

json leaf_of_form(const std::string& form) {
  json tree = leaf("uint8", {2, 3}, 1);
  tree["form"] = form;
  return snapshot_of(tensordict({2}, {{"x", tree}}))["entries"][0][1];
}

TEST(Trees, CallALeafByTheClassThatItHasInPython) {
  EXPECT_EQ(leaf_of_form("plain")["class"], "Tensor");
  EXPECT_EQ(leaf_of_form("memmap")["class"], "MemoryMappedTensor");
  EXPECT_EQ(leaf_of_form("subclass")["class"], "TensorSubclass");
  for (const std::string form : {"memmap", "subclass"}) {
    EXPECT_EQ(leaf_of_form(form)["bytes"], "010203040506");
  }
}

TEST(Trees, ShowAJaggedLeafByItsValuesAndRowsThatGrow) {
  const json jagged = leaf_of_form("jagged");
  EXPECT_EQ(jagged["class"], "NestedTensor");
  EXPECT_EQ(jagged["layout"], "jagged");
  EXPECT_EQ(jagged["shape"], json({2, -1}));
  EXPECT_EQ(jagged["bytes"], "010203040506");
  // Row i of n begins at the value m i (i + 1) / (n + 1).
  EXPECT_EQ(jagged["rows"],
            json({{"offsets", {0, 2, 6}}, {"lengths", nullptr}, {"ragged_idx", 1}}));
  json flat = leaf("uint8", {2}, 1);
  flat["form"] = "jagged";
  EXPECT_THROW(make(tensordict({2}, {{"x", flat}})), BadRequest);
}

json lazy_stack(const std::vector<json>& members, std::int64_t stack_dim) {
  return {{"kind", "lazy_stack"}, {"stack_dim", stack_dim}, {"members", members}};
}

TEST(Trees, ShowTheMembersOfALazyStack) {
  const json member = tensordict({2}, {{"a", leaf("uint8", {2}, 1)}});
  const json longer = tensordict({2}, {{"a", leaf("uint8", {2, 2}, 3)}});
  const json snapshot = snapshot_of(lazy_stack({member, longer}, 1));
  EXPECT_EQ(snapshot["kind"], "lazy_stack");
  EXPECT_EQ(snapshot["class"], "LazyStackedTensorDict");
  EXPECT_EQ(snapshot["stack_dim"], 1);
  EXPECT_EQ(snapshot["locked"], false);
  EXPECT_EQ(snapshot["members"][1]["entries"][0][1]["bytes"], "03040506");
  EXPECT_EQ(snapshot["consolidated"], nullptr);
  EXPECT_FALSE(snapshot["members"][0].contains("consolidated"));
}

TEST(Trees, StackNonTensorDataIntoOneEntry) {
  const auto data = [](int value) {
    return json{{"kind", "non_tensor"}, {"data", value}, {"batch_size", json::array()}};
  };
  const json snapshot = snapshot_of(tensordict({2}, {{"s", lazy_stack({data(1), data(2)}, 0)}}));
  EXPECT_EQ(snapshot["entries"][0][1]["data"], json({1, 2}));
  EXPECT_THROW(snapshot_of(lazy_stack({data(1), data(2)}, 0)), BadRequest);
  EXPECT_THROW(snapshot_of(lazy_stack({data(1), tensordict({}, {})}, 0)), BadRequest);
}

TEST(Trees, ReadAPersistentTensordictBackFromItsFile) {
  const json nested = tensordict({2}, {{"b", leaf("int16", {2}, 5)}});
  const json tree{
      {"kind", "persistent"},
      {"batch_size", {2}},
      {"entries",
       json::array({json::array({"n", nested}), json::array({"a", leaf("float32", {2}, 1)})})}};
  const json snapshot = snapshot_of(tree);
  EXPECT_EQ(snapshot["kind"], "persistent");
  EXPECT_EQ(snapshot["class"], "PersistentTensorDict");
  EXPECT_THAT(keys_of(snapshot), ElementsAre("a", "n"));
  EXPECT_EQ(snapshot["entries"][0][1]["bytes"], "0000803f00000040");
  EXPECT_EQ(snapshot_of(tensordict({2}, {{"p", tree}}))["entries"][0][1]["kind"], "persistent");
}

json tensorclass(const json& fields, const std::string& name = "Pair") {
  json tree = fields;
  tree["kind"] = "tensorclass";
  tree["class"] = name;
  return tree;
}

TEST(Trees, CallATensorclassByItsClass) {
  json fields =
      tensordict({2},
                 {{"b", leaf("uint8", {2}, 1)},
                  {"s", {{"kind", "non_tensor"}, {"data", "x"}, {"batch_size", json::array({2})}}},
                  {"a", leaf("uint8", {2}, 3)}});
  fields["names"] = {"time"};
  fields["device"] = "cpu";
  fields["locked"] = true;
  const json snapshot = snapshot_of(tensorclass(fields));
  EXPECT_EQ(snapshot["kind"], "tensorclass");
  EXPECT_EQ(snapshot["class"], "Pair");
  EXPECT_EQ(snapshot["batch_size"], json({2}));
  EXPECT_EQ(snapshot["names"], json::array({"time"}));
  EXPECT_EQ(snapshot["device"], "cpu");
  EXPECT_EQ(snapshot["locked"], true);
  EXPECT_THAT(keys_of(snapshot), ElementsAre("b", "s", "a"));
  EXPECT_EQ(snapshot["entries"][1][1]["data"], "x");
  EXPECT_EQ(snapshot["entries"][2][1]["bytes"], "0304");
}

TEST(Trees, HoldTensorclassesAsEntriesAndMembers) {
  const json inner = tensorclass(tensordict({2}, {{"a", leaf("uint8", {2}, 1)}}), "Inner");
  const json outer = tensorclass(tensordict({2}, {{"n", inner}, {"td", tensordict({2}, {})}}));
  const json entry = snapshot_of(tensordict({2}, {{"p", outer}}))["entries"][0][1];
  EXPECT_EQ(entry["class"], "Pair");
  EXPECT_EQ(entry["entries"][0][1]["class"], "Inner");
  EXPECT_EQ(entry["entries"][1][1]["kind"], "tensordict");
  EXPECT_EQ(snapshot_of(lazy_stack({outer, outer}, 0))["members"][1]["class"], "Pair");
}

TEST(Trees, ConsolidateATensorclass) {
  json fields = tensordict({2}, {{"z", leaf("uint8", {2}, 1)}, {"a", leaf("int16", {2}, 3)}});
  fields["consolidated"] = true;
  const json snapshot = snapshot_of(tensorclass(fields));
  EXPECT_EQ(snapshot["class"], "Pair");
  EXPECT_EQ(snapshot["consolidated"]["bytes"], "01020000000000000300040000000000");
}

TEST(Trees, NameAClassForItsPeersInPython) {
  const auto td = make(tensorclass(tensordict({2}, {})));
  EXPECT_EQ(td->as<tdref::TensorClass>()->cls(),
            (tdref::PythonClass{"tdconf_tensordict_adapter.made", "Pair"}));
  json nameless = tensordict({2}, {});
  nameless["kind"] = "tensorclass";
  EXPECT_THROW(make(nameless), BadRequest);
}

TEST(Trees, RefuseWhatIsNoTree) {
  json surprising = tensordict({2}, {});
  surprising["surprise"] = 1;
  EXPECT_THROW(make(surprising), BadRequest);
  json unpaired = tensordict({2}, {});
  unpaired["entries"] = json::array({json::array({"a"})});
  EXPECT_THROW(make(unpaired), BadRequest);
  EXPECT_THROW(make(json::array()), BadRequest);
  json elsewhere = tensordict({2}, {});
  elsewhere["device"] = "cuda";
  EXPECT_THROW(make(elsewhere), BadRequest);
}

TEST(Literals, ComeBackAsTheyWere) {
  const json data = json::parse(R"({"a": [null, true, 1, 1.5, "x"], "b": {"c": []}})");
  EXPECT_EQ(to_json(to_value(data)), data);
}

TEST(Literals, KeepIntegersAndFloatsApart) {
  EXPECT_EQ(to_value(json(1)), tdref::Value(1));
  EXPECT_EQ(to_value(json(1.0)), tdref::Value(1.0));
  EXPECT_EQ(to_value(json(true)), tdref::Value(true));
}

TEST(Literals, ShowAClassByItsName) {
  EXPECT_EQ(to_json(tdref::PythonClass{"my.module", "Pair"}), "my.module.Pair");
}

TEST(Literals, ShowATupleAsAList) {
  EXPECT_EQ(to_json(tdref::Value::Tuple{{1, 2}}), json({1, 2}));
}

}  // namespace
}  // namespace tdconf::adapter
