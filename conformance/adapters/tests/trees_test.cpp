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

json snapshot_of(const json& tree) {
  return snapshot_tensordict(make_tensordict(tree, "x"));
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

TEST(Trees, RefuseWhatIsNoTree) {
  json surprising = tensordict({2}, {});
  surprising["surprise"] = 1;
  EXPECT_THROW(make_tensordict(surprising, "x"), BadRequest);
  json unpaired = tensordict({2}, {});
  unpaired["entries"] = json::array({json::array({"a"})});
  EXPECT_THROW(make_tensordict(unpaired, "x"), BadRequest);
  EXPECT_THROW(make_tensordict(json::array(), "x"), BadRequest);
  json elsewhere = tensordict({2}, {});
  elsewhere["device"] = "cuda";
  EXPECT_THROW(make_tensordict(elsewhere, "x"), BadRequest);
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

TEST(Literals, ShowATupleAsAList) {
  EXPECT_EQ(to_json(tdref::Value::Tuple{{1, 2}}), json({1, 2}));
}

}  // namespace
}  // namespace tdconf::adapter
