// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <tdref/gather_and_stack.h>
#include <tdref/pickle.h>
#include <tdref/plan.h>
#include <tdref/recv.h>

#include <filesystem>
#include <fstream>

#include "ops/gather_wire.h"
#include "ranks.h"
#include "trees.h"

namespace tdref {
namespace {

class Persistent : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name) const { return directory_ / name; }

  PersistentTensorDict sample() const {
    return PersistentTensorDict::from_dict(testing::sample(1), file("sample.h5"));
  }

  const std::filesystem::path directory_ =
      std::filesystem::path(::testing::TempDir()) / "tdref-persistent-test";
};

TEST_F(Persistent, HoldsWhatItsFileHoldsInTheOrderOfTheNames) {
  sample();
  const PersistentTensorDict td({.filename = file("sample.h5")}, {2});
  EXPECT_THAT(td.contents().keys(), ::testing::ElementsAre("a", "b", "n"));
  for (const auto& key : {KeyPath{"a"}, KeyPath{"b"}, KeyPath{"n", "c"}}) {
    const auto expected = testing::sample(1).get(key).tensor();
    EXPECT_TRUE(td.contents().get(key).tensor().equal(expected));
    EXPECT_EQ(td.contents().get(key).tensor().scalar_type(), expected.scalar_type());
  }
}

TEST_F(Persistent, OpensAGroupOfAFile) {
  sample();
  const PersistentTensorDict td({.filename = file("sample.h5"), .group = "/n"}, {2});
  EXPECT_TRUE(td.contents().get("c").tensor().equal(testing::false_true()));
}

TEST_F(Persistent, KeepsEveryDtypeThatItTakes) {
  TensorDict td;
  for (const auto dtype : {at::kBool,
                           at::kByte,
                           at::kChar,
                           at::kShort,
                           at::kInt,
                           at::kLong,
                           at::kUInt16,
                           at::kUInt32,
                           at::kUInt64,
                           at::kHalf,
                           at::kFloat,
                           at::kDouble}) {
    td.set(c10::toString(dtype), at::tensor({0, 1, 1}, at::kLong).to(dtype));
    td.set(std::string("scalar ") + c10::toString(dtype), at::ones({}, dtype));
    td.set(std::string("empty ") + c10::toString(dtype), at::ones({2, 0}, dtype));
  }
  const auto persistent = PersistentTensorDict::from_dict(td, file("dtypes.h5"));
  for (const auto& [key, value] : td.items()) {
    const auto& read = persistent.contents().get(key).tensor();
    EXPECT_EQ(read.scalar_type(), value.tensor().scalar_type()) << key;
    EXPECT_TRUE(read.to(at::kDouble).equal(value.tensor().to(at::kDouble))) << key;
  }
}

TEST_F(Persistent, RefusesWhatHasNoPlaceInAFile) {
  TensorDict bfloat;
  bfloat.set("a", at::zeros({1}, at::kBFloat16));
  TensorDict list;
  list.set("a", NonTensor{Value(Value::List{1})});
  TensorDict slash;
  slash.set("a/b", at::zeros({1}));
  for (const auto& td : {bfloat, list, slash}) {
    EXPECT_THROW(PersistentTensorDict::from_dict(td, file("refused.h5")), c10::NotImplementedError);
  }
  EXPECT_FALSE(std::filesystem::exists(file("refused.h5")));
  EXPECT_THROW(PersistentTensorDict::from_dict(TensorDict(), file("no/such/place.h5")),
               c10::ValueError);
}

TEST_F(Persistent, KeepsNonTensorData) {
  TensorDict td({2});
  for (const auto& [key, data] :
       std::vector<std::pair<std::string, Value>>{{"bool", true},
                                                  {"bytes", Value::Bytes{"ab"}},
                                                  {"float", 0.5},
                                                  {"int", std::int64_t{1} << 60},
                                                  {"no bytes", Value::Bytes{}},
                                                  {"no text", ""},
                                                  {"text", "snö"}}) {
    td.set(key, NonTensor{data});
    td.set("rows of " + key, NonTensor{Value::List{data, data}, true});
  }
  const auto file_of_td = to_h5(td, file("data.h5"));
  for (const auto& [key, value] : td.items()) {
    EXPECT_EQ(*file_of_td.contents().get(key).non_tensor(), *value.non_tensor()) << key;
  }
}

TEST_F(Persistent, HasTheLargestBatchSizesUnlessOneIsGiven) {
  TensorDict td({2});
  td.set("a", at::ones({2, 3}));
  TensorDict nested({2});
  nested.set("c", at::ones({2, 3, 4}));
  td.set("n", nested);
  EXPECT_THAT(to_h5(td, file("td.h5")).batch_size(), ::testing::ElementsAre(2));
  const auto opened = from_h5(file("td.h5"));
  EXPECT_THAT(opened.batch_size(), ::testing::ElementsAre(2, 3));
  EXPECT_THAT(opened.contents().get("n").nested()->batch_size(), ::testing::ElementsAre(2, 3, 4));
}

TEST_F(Persistent, IsOpenedByManyThreads) {
  sample();
  testing::run_ranks(4, [&](World&, int) {
    for (int i = 0; i < 4; ++i) {
      const PersistentTensorDict td({.filename = file("sample.h5")}, {2});
      EXPECT_TRUE(td.contents().get("b").tensor().equal(testing::sample(1).get("b").tensor()));
    }
  });
}

TEST_F(Persistent, RejectsFilesThatAreNone) {
  std::ofstream(file("text.h5")) << "text";
  mkfifo(file("pipe.h5").c_str(), 0600);
  sample();
  std::filesystem::copy_file(file("sample.h5"), file("cut.h5"));
  std::filesystem::resize_file(file("cut.h5"), std::filesystem::file_size(file("cut.h5")) / 2);
  for (const auto& name : {"text.h5", "pipe.h5", "cut.h5", "missing.h5", ""}) {
    EXPECT_THROW(PersistentTensorDict({.filename = file(name)}, {2}), c10::ValueError) << name;
  }
  EXPECT_THROW(PersistentTensorDict({.filename = file("sample.h5"), .group = "/m"}, {2}),
               c10::ValueError);
  EXPECT_THROW(PersistentTensorDict({.filename = file("sample.h5")}, {3}), c10::Error);
}

TEST_F(Persistent, NamesTheFileThatCannotBeRead) {
  sample();
  try {
    const PersistentTensorDict opened({.filename = file("sample.h5"), .group = "/m"}, {2});
    ADD_FAILURE() << "a group that is not there was opened";
  } catch (const c10::ValueError& error) {
    EXPECT_EQ(error.what_without_backtrace(),
              "HDF5 cannot open or make the group '/m' (HDF5 file '" + file("sample.h5") + "')");
  }
}

TEST_F(Persistent, PicklesTheNameOfItsFile) {
  TensorDict td({2});
  td.set("p", Entry(AnyTensorDict(sample())));
  const auto pickle = pickle_tensordict(td);
  EXPECT_NE(pickle.find(file("sample.h5")), std::string::npos);
  EXPECT_TRUE(testing::same(*unpickle_tensordict(pickle), td));
  std::filesystem::remove(file("sample.h5"));
  EXPECT_THROW(unpickle_tensordict(pickle), c10::ValueError);
}

TEST_F(Persistent, IsReadFromSixtyFourFilesOfOnePickleAtMost) {
  TensorDict td({2});
  for (int i = 0; i < 64; ++i) {
    td.set(std::to_string(i), sample());
  }
  EXPECT_NO_THROW(unpickle_tensordict(pickle_tensordict(td)));
  td.set("64", sample());
  EXPECT_THROW(unpickle_tensordict(pickle_tensordict(td)), c10::ValueError);
}

TEST_F(Persistent, MakesItsRankPickleAndItsRowArrives) {
  EXPECT_EQ(encode(sample(), GatherWire::kStorages).kind, GatherKind::kPickle);
  const auto row = sample();
  testing::run_ranks(2, [&](World& world, int rank) {
    if (rank == 1) {
      auto copy = row;
      gather_and_stack(world, copy, {.dst = 0});
      return;
    }
    TensorDict td({1, 2});
    gather_and_stack(world, td, {.dst = 0});
    EXPECT_TRUE(td.get("b").tensor()[0].equal(testing::sample(1).get("b").tensor()));
  });
}

TEST_F(Persistent, IsSentByItsLeavesAndNeverWritten) {
  auto td = sample();
  EXPECT_EQ(plan_transfer(td).size(), 3U);
  EXPECT_THROW(td.update_in_place(testing::sample(2)), c10::Error);
  testing::run_ranks(2, [&](World& world, int rank) {
    auto copy = td;
    EXPECT_THROW(recv(world, copy, {.src = 1 - rank}), c10::NotImplementedError);
  });
}

}  // namespace
}  // namespace tdref
