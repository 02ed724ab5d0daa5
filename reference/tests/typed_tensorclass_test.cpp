// SPDX-License-Identifier: BSD-3-Clause
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <tdref/all_gather.h>
#include <tdref/broadcast.h>
#include <tdref/consolidate.h>
#include <tdref/from_remote_init.h>
#include <tdref/gather_and_stack.h>
#include <tdref/init_remote.h>
#include <tdref/irecv.h>
#include <tdref/isend.h>
#include <tdref/pickle.h>
#include <tdref/recv.h>
#include <tdref/scatter.h>
#include <tdref/send.h>
#include <tdref/tensorclass.h>

#include <functional>
#include <string>
#include <type_traits>

#include "ranks.h"
#include "trees.h"

namespace tdref {
namespace {

using ::testing::ElementsAre;
using testing::ramp;

struct Box {
  at::Tensor corners;
  std::string color = "red";

  static constexpr auto kDescription =
      Description<Box>("shapes", "Box").field("corners", &Box::corners).field("color", &Box::color);
};

struct Sample {
  at::Tensor image;
  Box box;
  std::optional<Box> other = std::nullopt;
  std::optional<at::Tensor> mask = std::nullopt;

  static constexpr auto kDescription = Description<Sample>("shapes", "Sample")
                                           .field("image", &Sample::image)
                                           .field("box", &Sample::box)
                                           .field("other", &Sample::other)
                                           .field("mask", &Sample::mask);
};

struct Inner {
  at::Tensor x;

  static constexpr auto kDescription =
      Description<Inner>("shapes", "Outer.Inner").field("x", &Inner::x);
};

// A field of each type.
struct Everything {
  bool flag = false;
  std::int64_t number = 0;
  double ratio = 0;
  std::string text = {};
  Value datum = {};
  NonTensor data = {};
  at::Tensor tensor = {};
  Jagged jagged = {};
  TensorDict items = TensorDict();
  AnyTensorDict any = TensorDict();
  std::optional<std::int64_t> maybe = std::nullopt;

  static constexpr auto kDescription = Description<Everything>("shapes", "Everything")
                                           .field("flag", &Everything::flag)
                                           .field("number", &Everything::number)
                                           .field("ratio", &Everything::ratio)
                                           .field("text", &Everything::text)
                                           .field("datum", &Everything::datum)
                                           .field("data", &Everything::data)
                                           .field("tensor", &Everything::tensor)
                                           .field("jagged", &Everything::jagged)
                                           .field("items", &Everything::items)
                                           .field("any", &Everything::any)
                                           .field("maybe", &Everything::maybe);
};

template <typename T>
concept MayNameAFieldTwice = requires {
  typename std::bool_constant<(
      Description<T>("shapes", "T").field("a", &T::image).field("a", &T::box), true)>;
};
template <typename T>
concept MayNameTwoFields = requires {
  typename std::bool_constant<(
      Description<T>("shapes", "T").field("a", &T::image).field("b", &T::box), true)>;
};
static_assert(MayNameTwoFields<Sample> && !MayNameAFieldTwice<Sample>);
static_assert(fields::is_allowed<std::optional<Box>>());
static_assert(!fields::is_allowed<int>() && !fields::is_allowed<std::optional<float>>());

Sample sample(int first) {
  return {.image = ramp(first, 6).view({2, 3}), .box = {.corners = ramp(first + 10, 2)}};
}

Sample full_sample(int first) {
  auto full = sample(first);
  full.other = Box{.corners = ramp(first + 20, 4).view({2, 2}), .color = "blue"};
  full.mask = testing::false_true();
  return full;
}

Sample poisoned_sample() {
  return {.image = at::full({2, 3}, -1, at::kFloat),
          .box = {.corners = at::full({2}, -1, at::kFloat)}};
}

// Compares what travels.
bool same(const Sample& a, const Sample& b) {
  return testing::same(to_tensorclass(a, {2}), to_tensorclass(b, {2}));
}

TEST(ToTensorClass, HasTheFieldsInTheirOrder) {
  const auto td = to_tensorclass(full_sample(0), {2});
  EXPECT_EQ(td.cls(), (PythonClass{"shapes", "Sample"}));
  EXPECT_THAT(td.batch_size(), ElementsAre(2));
  EXPECT_THAT(td.contents().keys(), ElementsAre("image", "box", "other", "mask"));
  const auto* box = td.contents().get("box").nested()->as<TensorClass>();
  ASSERT_NE(box, nullptr);
  EXPECT_EQ(box->cls(), (PythonClass{"shapes", "Box"}));
  EXPECT_THAT(box->batch_size(), ElementsAre(2));
  EXPECT_THAT(box->contents().keys(), ElementsAre("corners", "color"));
  EXPECT_EQ(*box->contents().get("color").non_tensor(), NonTensor{.data = "red"});
}

TEST(ToTensorClass, HasTheTensorsOfTheStruct) {
  const auto value = full_sample(0);
  const auto td = to_tensorclass(value, {2});
  EXPECT_TRUE(td.contents().get("image").tensor().is_same(value.image));
  EXPECT_TRUE(td.contents().get("mask").tensor().is_same(*value.mask));
  EXPECT_TRUE(
      td.contents().get(KeyPath{"other", "corners"}).tensor().is_same(value.other->corners));
}

TEST(ToTensorClass, HasNoEntryForNone) {
  EXPECT_THAT(to_tensorclass(sample(0), {2}).contents().keys(), ElementsAre("image", "box"));
  EXPECT_THAT(to_tensorclass(Everything{.tensor = ramp(0, 1),
                                        .jagged = {.values = ramp(0, 3), .offsets = at::arange(4)}})
                  .contents()
                  .keys(),
              ElementsAre("flag", "number", "ratio", "text", "tensor", "jagged", "items", "any"));
}

TEST(ToTensorClass, NamesTheFieldThatItRefuses) {
  auto value = sample(0);
  value.box.corners = at::Tensor();
  try {
    to_tensorclass(value, {2});
    FAIL() << "an undefined tensor was taken";
  } catch (const c10::TypeError& error) {
    EXPECT_EQ(std::string(error.what_without_backtrace()),
              "the tensor for 'corners' is undefined (the field ('box', 'corners') of the "
              "tensorclass shapes.Sample)");
  }
  value.box.corners = ramp(0, 3);
  try {
    to_tensorclass(value, {2});
    FAIL() << "another batch size was taken";
  } catch (const c10::Error& error) {
    EXPECT_EQ(std::string(error.what_without_backtrace()),
              "the value under 'corners' has shape [3], but every shape in this tensordict begins "
              "with its batch size [2] (the field ('box', 'corners') of the tensorclass "
              "shapes.Sample)");
  }
}

TEST(FromTensorClass, HasTheTensorsOfTheTensorClass) {
  const auto td = to_tensorclass(full_sample(0), {2});
  const auto value = from_tensorclass<Sample>(td);
  EXPECT_TRUE(value.image.is_same(td.contents().get("image").tensor()));
  EXPECT_TRUE(value.box.corners.is_same(td.contents().get(KeyPath{"box", "corners"}).tensor()));
  EXPECT_EQ(value.box.color, "red");
  ASSERT_TRUE(value.other.has_value());
  EXPECT_TRUE(
      value.other->corners.is_same(td.contents().get(KeyPath{"other", "corners"}).tensor()));
  EXPECT_EQ(value.other->color, "blue");
  EXPECT_TRUE(value.mask->is_same(td.contents().get("mask").tensor()));
}

TEST(FromTensorClass, ReadsWhatIsNotThereAsNone) {
  const auto value = from_tensorclass<Sample>(to_tensorclass(sample(0), {2}));
  EXPECT_FALSE(value.other.has_value());
  EXPECT_FALSE(value.mask.has_value());
  auto td = to_tensorclass(full_sample(0), {2});
  td.edit_contents().set("other", NonTensor());
  EXPECT_FALSE(from_tensorclass<Sample>(td).other.has_value());
}

Everything everything() {
  TensorDict member({3});
  member.set("x", ramp(0, 3));
  return {.flag = true,
          .number = std::int64_t{1} << 40,
          .ratio = 2,
          .text = "text",
          .datum = Value::List{1, "two", nullptr},
          .data = {.data = Value::List{"a", "b"}, .stacked = true},
          .tensor = ramp(0, 2),
          .jagged = {.values = ramp(0, 5), .offsets = at::tensor({0, 2, 5}, at::kLong)},
          .items = testing::sample(4),
          .any = LazyStackedTensorDict({member, member}),
          .maybe = 7};
}

TEST(FromTensorClass, BringsBackAFieldOfEachType) {
  const auto td = to_tensorclass(everything(), {2});
  const auto value = from_tensorclass<Everything>(td);
  EXPECT_TRUE(testing::same(to_tensorclass(value, {2}), td));
  EXPECT_TRUE(value.flag);
  EXPECT_EQ(value.number, std::int64_t{1} << 40);
  EXPECT_EQ(value.ratio, 2.0);
  EXPECT_EQ(value.text, "text");
  EXPECT_EQ(value.datum, Value(Value::List{1, "two", nullptr}));
  EXPECT_TRUE(value.data.stacked);
  EXPECT_TRUE(value.jagged.values.equal(ramp(0, 5)));
  EXPECT_TRUE(testing::same(value.items, testing::sample(4)));
  EXPECT_EQ(value.any->as<LazyStackedTensorDict>()->members().size(), 2);
  EXPECT_EQ(value.maybe, 7);
}

TEST(FromTensorClass, BringsBackWhatIsNoneOrWasPickled) {
  auto before = everything();
  before.datum = Value();
  before.data = NonTensor();
  before.maybe = std::nullopt;
  const auto td = to_tensorclass(before, {2});
  const auto value = from_tensorclass<Everything>(*unpickle_tensordict(pickle_tensordict(td)));
  EXPECT_TRUE(testing::same(to_tensorclass(value, {2}), td));
  EXPECT_TRUE(value.datum.is_none());
  EXPECT_EQ(value.data, NonTensor());
  EXPECT_EQ(value.maybe, std::nullopt);
}

TEST(FromTensorClass, ViewsTheStorageOfAConsolidatedOne) {
  const auto td = consolidate(to_tensorclass(full_sample(0), {2}));
  const auto value = from_tensorclass<Sample>(td);
  EXPECT_TRUE(value.other->corners.is_alias_of(td.consolidated().storage));
  EXPECT_TRUE(same(value, full_sample(0)));
}

TEST(FromTensorClass, KnowsAClassWithinAClassByItsWholeName) {
  const auto td = to_tensorclass(Inner{.x = ramp(0, 2)});
  EXPECT_EQ(td.cls(), (PythonClass{"shapes", "Outer.Inner"}));
  const TensorClass arrived({"shapes.Outer", "Inner"}, td.contents());
  EXPECT_TRUE(from_tensorclass<Inner>(arrived).x.equal(ramp(0, 2)));
}

struct Wrong {
  const char* name;
  std::function<void(TensorClass&)> change;
  const char* message;
  bool is_of_type = true;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.name;
}

class FromAnotherTensorClass : public ::testing::TestWithParam<Wrong> {};

TEST_P(FromAnotherTensorClass, SaysWhatIsWrongWhere) {
  auto td = to_tensorclass(full_sample(0), {2});
  GetParam().change(td);
  try {
    from_tensorclass<Sample>(td);
    FAIL() << "it was taken";
  } catch (const c10::TypeError& error) {
    EXPECT_TRUE(GetParam().is_of_type);
    EXPECT_EQ(std::string(error.what_without_backtrace()), GetParam().message);
  } catch (const c10::ValueError& error) {
    EXPECT_FALSE(GetParam().is_of_type);
    EXPECT_EQ(std::string(error.what_without_backtrace()), GetParam().message);
  }
}

// Puts another entry under a key of the root, or of the box.
std::function<void(TensorClass&)> with(const std::string& key, const Entry& entry) {
  return [=](TensorClass& td) { td.edit_contents().set(key, entry); };
}

std::function<void(TensorClass&)> with_in_box(const std::string& key, const Entry& entry) {
  return [=](TensorClass& td) { td.edit_contents().edit_nested("box").set(key, entry); };
}

INSTANTIATE_TEST_SUITE_P(
    Wrongs,
    FromAnotherTensorClass,
    ::testing::Values(
        Wrong{"AnotherClass",
              [](TensorClass& td) {
                td = {{"shapes", "Sampler"}, td.contents()};
              },
              "the tensordict is the tensorclass shapes.Sampler; allowed is the tensorclass "
              "shapes.Sample"},
        Wrong{"AnotherClassBelow",
              with("other", to_tensorclass(sample(0), {2})),
              "the field 'other' of the tensorclass shapes.Sample is the tensorclass "
              "shapes.Sample; allowed is the tensorclass shapes.Box or None"},
        Wrong{"NoClassBelow",
              with("box", testing::sample(0)),
              "the field 'box' of the tensorclass shapes.Sample is a TensorDict; allowed is the "
              "tensorclass shapes.Box"},
        Wrong{"ATensorForATensorClass",
              with("box", ramp(0, 2)),
              "the field 'box' of the tensorclass shapes.Sample is a tensor; allowed is the "
              "tensorclass shapes.Box"},
        Wrong{"ATensorForText",
              with_in_box("color", ramp(0, 2)),
              "the field ('box', 'color') of the tensorclass shapes.Sample is a tensor; allowed "
              "is str"},
        Wrong{"AnotherDatum",
              with_in_box("color", NonTensor{.data = 3}),
              "the field ('box', 'color') of the tensorclass shapes.Sample is int; allowed is str"},
        Wrong{"ADatumForEachRow",
              with_in_box("color", NonTensor{.data = Value::List{"red", "blue"}, .stacked = true}),
              "the field ('box', 'color') of the tensorclass shapes.Sample is a list with a datum "
              "for each row; allowed is str"},
        Wrong{"TextForATensor",
              with("mask", NonTensor{.data = "text"}),
              "the field 'mask' of the tensorclass shapes.Sample is str; allowed is a tensor or "
              "None"},
        Wrong{"NoneForATensor",
              with("image", NonTensor()),
              "the field 'image' of the tensorclass shapes.Sample is None; allowed is a tensor"},
        Wrong{"AJaggedTensorForATensor",
              with("image", Jagged{.values = ramp(0, 3), .offsets = at::arange(3)}),
              "the field 'image' of the tensorclass shapes.Sample is a jagged tensor; allowed is a "
              "tensor"},
        Wrong{"AFieldTooMany",
              with_in_box("more", ramp(0, 2)),
              "the field ('box', 'more') of the tensorclass shapes.Sample is a tensor; allowed are "
              "the fields corners, color",
              false},
        Wrong{
            "AFieldTooFew",
            [](TensorClass& td) { td.edit_contents().edit_nested("box").erase("corners"); },
            "the field ('box', 'corners') of the tensorclass shapes.Sample is missing; allowed is "
            "a tensor",
            false}),
    [](const auto& test) { return test.param.name; });

class FromAnotherKindOfField : public ::testing::TestWithParam<Wrong> {};

TEST_P(FromAnotherKindOfField, SaysWhatIsAllowed) {
  auto td = to_tensorclass(everything(), {2});
  GetParam().change(td);
  try {
    from_tensorclass<Everything>(td);
    FAIL() << "it was taken";
  } catch (const c10::TypeError& error) {
    EXPECT_EQ(std::string(error.what_without_backtrace()),
              std::string("the field '") + GetParam().name +
                  "' of the tensorclass shapes.Everything is " + GetParam().message);
  }
}

const NonTensor kRows{.data = Value::List{1, 2}, .stacked = true};

INSTANTIATE_TEST_SUITE_P(
    Fields,
    FromAnotherKindOfField,
    ::testing::Values(
        Wrong{"flag", with("flag", NonTensor{1}), "int; allowed is bool"},
        Wrong{"number", with("number", NonTensor{true}), "bool; allowed is int"},
        Wrong{"ratio", with("ratio", NonTensor{1}), "int; allowed is float"},
        Wrong{"maybe", with("maybe", NonTensor{1.0}), "float; allowed is int or None"},
        Wrong{"datum",
              with("datum", kRows),
              "a list with a datum for each row; allowed is one datum for all rows"},
        Wrong{"data", with("data", ramp(0, 2)), "a tensor; allowed is non-tensor data"},
        Wrong{"jagged", with("jagged", ramp(0, 2)), "a tensor; allowed is a jagged tensor"},
        Wrong{"any", with("any", ramp(0, 2)), "a tensor; allowed is a tensordict"},
        Wrong{"items",
              with("items", LazyStackedTensorDict({TensorDict(), TensorDict()})),
              "a LazyStackedTensorDict; allowed is a TensorDict"}),
    [](const auto& test) { return test.param.name; });

TEST(FromTensorClass, RefusesATensordictWithoutAClass) {
  EXPECT_THROW(from_tensorclass<Sample>(to_tensorclass(sample(0), {2}).contents()), c10::TypeError);
  EXPECT_THROW(from_tensorclass<Sample>(LazyStackedTensorDict({to_tensorclass(sample(0), {2})})),
               c10::TypeError);
}

TEST(FromTensorDict, NeedsNoClassAtTheRootAlone) {
  auto td = to_tensorclass(full_sample(0), {2}).contents();
  EXPECT_TRUE(same(from_tensordict<Sample>(td), full_sample(0)));
  EXPECT_TRUE(from_tensordict<Sample>(td).image.is_same(td.get("image").tensor()));
  td.set("box", td.get("box").nested()->as<TensorClass>()->contents());
  EXPECT_THROW(from_tensordict<Sample>(td), c10::TypeError);
}

TEST(TransferOfAStruct, ReceivesIntoItsTensors) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      send(world, to_tensorclass(sample(1), {2}), {.dst = 1});
      isend(world, to_tensorclass(sample(2), {2}), {.dst = 1});
      return;
    }
    auto value = poisoned_sample();
    auto td = to_tensorclass(value, {2});
    EXPECT_EQ(recv(world, td, {.src = 0}), 1);
    EXPECT_TRUE(same(value, sample(1)));
    irecv(world, td, {.src = 0});
    EXPECT_TRUE(same(value, sample(2)));
  });
}

TEST(TransferOfAStruct, ReceivesIntoTheStorageThatItViews) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      init_remote(world, to_tensorclass(sample(1), {2}), {.dst = 1});
      send(world, consolidate(to_tensorclass(sample(2), {2})), {.dst = 1, .consolidated = true});
      return;
    }
    auto td = from_remote_init(world, {.src = 0});
    const auto value = from_tensorclass<Sample>(*td);
    EXPECT_TRUE(same(value, sample(1)));
    recv(world, *td, {.src = 0, .consolidated = true});
    EXPECT_TRUE(same(value, sample(2)));
  });
}

TEST(InitRemoteOfAStruct, BringsItsTypeWithWhatIsNoneAndWhatIsNot) {
  testing::run_ranks(2, [](World& world, int rank) {
    for (const auto& sent : {sample(1), full_sample(1)}) {
      for (const bool use_broadcast : {false, true}) {
        if (rank == 0) {
          init_remote(world, to_tensorclass(sent, {2}), {.dst = 1, .use_broadcast = use_broadcast});
          continue;
        }
        const auto td = from_remote_init(world, {.src = 0, .use_broadcast = use_broadcast});
        EXPECT_TRUE(same(from_tensorclass<Sample>(*td), sent));
      }
    }
  });
}

TEST(BroadcastOfAStruct, BringsItsTypeFromEachRankInTurn) {
  testing::run_ranks(3, [](World& world, int rank) {
    for (int src = 0; src < 3; ++src) {
      const auto td = to_tensorclass(rank == src ? full_sample(src) : sample(9), {2});
      const auto result = broadcast(world, td, {.src = src});
      EXPECT_TRUE(
          same(from_tensorclass<Sample>(*std::get<AnyTensorDict>(result)), full_sample(src)));
    }
  });
}

TEST(GatherOfStructs, BringsTheTypeBelowTheRootAlone) {
  testing::run_ranks(2, [](World& world, int rank) {
    const auto gathered = all_gather(world, to_tensorclass(full_sample(rank), {2}));
    ASSERT_EQ(gathered.size(), 2);
    for (int from = 0; from < 2; ++from) {
      const auto td = testing::plain(gathered[static_cast<std::size_t>(from)]);
      EXPECT_TRUE(same(from_tensordict<Sample>(td), full_sample(from)));
    }
  });
}

TEST(ScatterOfStructs, BringsTheTypeBelowTheRootAlone) {
  testing::run_ranks(2, [](World& world, int rank) {
    ScatterOptions options{.src = 1};
    if (rank == 1) {
      options.tensordicts = {to_tensorclass(full_sample(0), {2}), to_tensorclass(sample(1), {2})};
    }
    const auto td = testing::plain(scatter(world, options));
    EXPECT_TRUE(same(from_tensordict<Sample>(td), rank == 0 ? full_sample(0) : sample(1)));
  });
}

TEST(InitRemoteOfAStruct, BringsTheTypeBelowOtherTensordicts) {
  testing::run_ranks(2, [](World& world, int rank) {
    if (rank == 0) {
      TensorDict member({2});
      member.set("sample", to_tensorclass(full_sample(1), {2}));
      init_remote(world, LazyStackedTensorDict({member}), {.dst = 1});
      return;
    }
    const auto td = from_remote_init(world, {.src = 0});
    const auto member = testing::plain(td->as<LazyStackedTensorDict>()->members().front());
    EXPECT_TRUE(same(from_tensorclass<Sample>(*member.get("sample").nested()), full_sample(1)));
  });
}

TEST(GatherAndStackOfStructs, WritesTheRowsIntoTheTensorsOfDst) {
  testing::run_ranks(3, [](World& world, int rank) {
    for (int dst = 0; dst < 3; ++dst) {
      Inner value{.x = rank == dst ? at::full({2, 2}, -1, at::kFloat) : ramp(10 * rank, 2)};
      auto td = to_tensorclass(value, rank == dst ? Shape{2} : Shape{});
      gather_and_stack(world, td, {.dst = dst});
      if (rank == dst) {
        EXPECT_TRUE(
            value.x.equal(at::stack({ramp(dst == 0 ? 10 : 0, 2), ramp(dst == 2 ? 10 : 20, 2)})));
      }
    }
  });
}

}  // namespace
}  // namespace tdref
