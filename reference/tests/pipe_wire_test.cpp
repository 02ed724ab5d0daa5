// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <cstring>

#include "codec/json.h"
#include "pipe/peer_info.h"
#include "pipe/schema.h"
#include "pipe_ends.h"

namespace tdref {
namespace {

using ::testing::HasSubstr;

ConstBytes bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string u64(std::uint64_t number) {
  std::string text(8, '\0');
  std::memcpy(text.data(), &number, 8);
  return text;
}

const std::string kNew(1, '\0');
const std::string kSame(1, '\1');

std::string metadata(const std::string& leaves, const std::string& more) {
  return R"({"cls": "TensorDict", "non_tensors": {}, "leaves": {)" + leaves +
         R"(}, "cls_metadata": {"device": null, "names": [null], "batch_size": [2], "is_locked": false})" +
         more + "}";
}

const std::string kLeaf = R"("a": ["torch.int32", [2], 0, 8, 0])";
const std::string kTotal = R"(, "_total_bytes": 8, "_device": "cpu")";

std::vector<std::string> message(const std::string& json, const std::string& storage) {
  return {kNew, u64(json.size()), json, storage};
}

void send_all(Endpoint& endpoint, const std::vector<std::string>& messages, Deadline deadline) {
  for (const auto& text : messages) {
    endpoint.send(bytes(text), deadline);
  }
  endpoint.flush(deadline);
}

/// The pipe may close after any of the messages.
void send_until_closed(Endpoint& endpoint,
                       const std::vector<std::string>& messages,
                       Deadline deadline) {
  send_all(endpoint, messages, deadline);
  endpoint.next_size(deadline);
}

TEST(PipeWire, IsThatOfTensordict) {
  testing::pipe_to_stranger(
      [](TensorDictPipe& pipe) {
        const auto first = pipe.recv();
        EXPECT_TRUE(first->as<TensorDict>()->get("a").tensor().equal(at::tensor({1, 2}, at::kInt)));
        pipe.recv();
        EXPECT_TRUE(first->as<TensorDict>()->get("a").tensor().equal(at::tensor({3, 4}, at::kInt)));
        pipe.send(*first);
        pipe.send(*first);
      },
      [](Endpoint& endpoint, Deadline deadline) {
        const std::string one_two("\1\0\0\0\2\0\0\0", 8);
        const std::string three_four("\3\0\0\0\4\0\0\0", 8);
        send_all(endpoint, message(metadata(kLeaf, kTotal), one_two), deadline);
        send_all(endpoint, {kSame, three_four}, deadline);
        const auto next = [&] {
          std::string text(endpoint.next_size(deadline), '\0');
          endpoint.receive(std::as_writable_bytes(std::span(text)), deadline);
          return text;
        };
        EXPECT_EQ(next(), kNew);
        const auto length = next();
        const auto json = next();
        EXPECT_EQ(length, u64(json.size()));
        EXPECT_EQ(from_json(json), from_json(metadata(kLeaf, kTotal)));
        EXPECT_EQ(next(), three_four);
        EXPECT_EQ(next(), kSame);
        EXPECT_EQ(next(), three_four);
      });
}

struct Hostile {
  const char* name;
  std::vector<std::string> messages;
  const char* complaint;
};

std::vector<Hostile> hostile_messages() {
  const std::string storage(8, '\0');
  const auto with = [&](const std::string& leaves, const std::string& more) {
    return message(metadata(leaves, more), storage);
  };
  const std::string jagged =
      R"("<NJT_VALUES>j": ["torch.uint8", [3], 0, 8, 5], "<NJT_OFFSETS>j": ["torch.int64", [3], 8, 32, 0, 1])";
  const auto rows = [&](std::uint64_t second, std::uint64_t end) {
    return message(metadata(jagged, R"(, "_total_bytes": 32, "_device": "cpu")"),
                   u64(0) + u64(0) + u64(second) + u64(end));
  };
  return {
      {"FlagOfTwoBytes", {std::string(2, '\0')}, "2 bytes"},
      {"AnUnknownFlag", {std::string(1, '\2'), storage}, "0 or 1, got 2"},
      {"LengthOfFourBytes", {kNew, std::string(4, '\0')}, "4 bytes"},
      {"EndlessMetadata", {kNew, u64(~std::uint64_t{0})}, "at most"},
      {"LongMetadataThatIsShort", {kNew, u64(1 << 20), "{}"}, "sends 2"},
      {"NoJson", message("{'cls'", storage), "no JSON"},
      {"NothingAtAll", message("", storage), "no JSON"},
      {"AList", message("[]", storage), "not a dict"},
      {"Bottomless", message(std::string(100000, '['), storage), "deeper"},
      {"AKeyTwice", message(R"({"cls": 1, "cls": 2})", storage), "twice"},
      {"AHugeInteger", message(R"({"cls": 123456789012345678901})", storage), "64 bits"},
      {"NoTotal", with(kLeaf, ""), "_total_bytes"},
      {"LessThanNothing", with(kLeaf, R"(, "_total_bytes": -8)"), "-8 bytes"},
      {"MoreThanAllowed", with(kLeaf, R"(, "_total_bytes": 1000000000000000)"), "allows"},
      {"MoreThanIsSent", with(kLeaf, R"(, "_total_bytes": 16)"), "sends 8"},
      {"LessThanIsSent", with("", R"(, "_total_bytes": 0)"), "sends 8"},
      {"AnotherDevice", with(kLeaf, R"(, "_total_bytes": 8, "_device": "cuda:0")"), "cuda:0"},
      {"ALeafOutside", with(R"("a": ["torch.int32", [2], 8, 16, 0])", kTotal), "storage of 8"},
      {"ALeafBefore", with(R"("a": ["torch.int32", [2], -8, 0, 0])", kTotal), "bytes -8 to 0"},
      {"AHugeLeaf",
       with(R"("a": ["torch.int32", [2, 4611686018427387904], 0, 8, 0])", kTotal),
       "large"},
      {"TwoLeavesAtOnePlace",
       with(kLeaf + R"(, "b": ["torch.int32", [2], 0, 8, 0])", kTotal),
       "same bytes"},
      {"AnUnknownDtype", with(R"("a": ["torch.int33", [2], 0, 8, 0])", kTotal), "torch.int33"},
      {"AnUnknownClass",
       message(R"({"cls": "os.system", "_total_bytes": 8})", storage),
       "os.system"},
      {"RowsBeyondTheValues", rows(1, 4), "does not lie within its 3 values"},
      {"RowsOutOfOrder", rows(3, 2), "does not lie within its 3 values"},
      {"AnotherBatch",
       with(R"("a": ["torch.int32", [1, 2], 0, 8, 0])", kTotal),
       "its batch size [2]"},
  };
}

class HostilePeer : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostilePeer, IsRefusedWithOneErrorThatClosesThePipe) {
  testing::pipe_to_stranger(
      [](TensorDictPipe& pipe) {
        try {
          pipe.recv();
          FAIL() << "it was taken";
        } catch (const c10::ValueError& error) {
          EXPECT_THAT(error.what_without_backtrace(), HasSubstr(GetParam().complaint));
        }
        EXPECT_TRUE(pipe.closed());
      },
      [](Endpoint& endpoint, Deadline deadline) {
        EXPECT_THROW(send_until_closed(endpoint, GetParam().messages, deadline),
                     c10::DistNetworkError);
      });
}

INSTANTIATE_TEST_SUITE_P(,
                         HostilePeer,
                         ::testing::ValuesIn(hostile_messages()),
                         [](const auto& hostile) { return hostile.param.name; });

TEST(PipeWire, RefusesTheStructureBeforeWhereThereWasNone) {
  testing::pipe_to_stranger(
      [](TensorDictPipe& pipe) {
        try {
          pipe.recv();
          FAIL() << "it was taken";
        } catch (const c10::Error& error) {
          EXPECT_THAT(error.what_without_backtrace(), HasSubstr("there was none"));
        }
        EXPECT_TRUE(pipe.closed());
      },
      [&](Endpoint& endpoint, Deadline deadline) {
        EXPECT_THROW(send_until_closed(endpoint, {kSame, std::string(8, '\0')}, deadline),
                     c10::DistNetworkError);
      });
}

TEST(PipeWire, ChecksumIsTheBeginOfTheSha1OfATuple) {
  // hashlib.sha1(repr((tag,)).encode()).hexdigest()[:16]
  EXPECT_EQ(checksum_of(1), 0xe744faf73c5747fdu);
  EXPECT_EQ(checksum_of(~std::uint64_t{0}), 0x81ca8f731742cb98u);
  EXPECT_THROW(check({.tag = 1, .checksum = checksum_of(2)}), c10::ValueError);
  EXPECT_NO_THROW(check(new_peer_info()));
}

}  // namespace
}  // namespace tdref
