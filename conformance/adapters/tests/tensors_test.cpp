// SPDX-License-Identifier: BSD-3-Clause
#include "common/tensors.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <map>
#include <string>

#include "values/dtype.h"

namespace tdconf::adapter {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

json tree(const std::string& dtype,
          std::vector<std::int64_t> shape,
          const json& fill,
          const std::string& form = "plain") {
  return {{"kind", "tensor"}, {"dtype", dtype}, {"shape", shape}, {"fill", fill}, {"form", form}};
}

json ramp(std::int64_t start) {
  return {{"ramp", {{"start", start}, {"step", 1}}}};
}

at::Tensor make(const json& description) {
  return make_tensor(description, "x");
}

// The elements 1 and 2 of each dtype: little-endian, a bool is the lowest bit, a complex number has
// the negative as imaginary part.
const std::map<std::string, std::string> kOneTwo{
    {"bool", "0100"},
    {"uint8", "0102"},
    {"int8", "0102"},
    {"int16", "01000200"},
    {"uint16", "01000200"},
    {"int32", "0100000002000000"},
    {"uint32", "0100000002000000"},
    {"int64", "01000000000000000200000000000000"},
    {"uint64", "01000000000000000200000000000000"},
    {"float8_e4m3fn", "3840"},
    {"float8_e5m2", "3c40"},
    {"float16", "003c0040"},
    {"bfloat16", "803f0040"},
    {"float32", "0000803f00000040"},
    {"float64", "000000000000f03f0000000000000040"},
    {"complex32", "003c00bc004000c0"},
    {"complex64", "0000803f000080bf00000040000000c0"},
    {"complex128", "000000000000f03f000000000000f0bf000000000000004000000000000000c0"},
};

TEST(Tensors, EveryDtypeOfTheProtocolIsExpectedHere) {
  for (const DType& dtype : all_dtypes()) {
    EXPECT_TRUE(kOneTwo.contains(std::string(dtype.name))) << dtype.name;
  }
  EXPECT_EQ(kOneTwo.size(), all_dtypes().size());
}

TEST(Tensors, HoldTheBitsOfTheFill) {
  for (const auto& [dtype, bytes] : kOneTwo) {
    const json snapshot = snapshot_tensor(make(tree(dtype, {2}, ramp(1))));
    EXPECT_EQ(snapshot["bytes"], bytes) << dtype;
    EXPECT_EQ(snapshot["dtype"], dtype);
  }
}

TEST(Tensors, HoldTheNumbersOfTheFill) {
  for (const auto& [dtype, bytes] : kOneTwo) {
    if (dtype == "bool") continue;
    const at::Tensor tensor = make(tree(dtype, {2}, ramp(1))).to(at::kComplexDouble);
    EXPECT_EQ(at::real(tensor)[0].item<double>(), 1) << dtype;
    EXPECT_EQ(at::real(tensor)[1].item<double>(), 2) << dtype;
  }
}

TEST(Tensors, AreFilledInRowMajorOrderWhateverTheirStrides) {
  const at::Tensor plain = make(tree("int64", {2, 3}, ramp(0)));
  const at::Tensor transposed = make(tree("int64", {2, 3}, ramp(0), "transposed"));
  EXPECT_TRUE(plain.is_contiguous());
  EXPECT_EQ(transposed.strides(), at::IntArrayRef({1, 2}));
  EXPECT_EQ(plain[1][0].item<std::int64_t>(), 3);
  EXPECT_EQ(transposed[1][0].item<std::int64_t>(), 3);
  EXPECT_EQ(snapshot_tensor(transposed)["bytes"], snapshot_tensor(plain)["bytes"]);
}

TEST(Tensors, StoreAnExpandedRowOnce) {
  const at::Tensor expanded = make(tree("int16", {3, 1}, {{"const", 7}}, "expanded"));
  EXPECT_EQ(expanded.strides()[0], 0);
  EXPECT_EQ(snapshot_tensor(expanded)["bytes"], "070007000700");
}

TEST(Tensors, StoreEveryElementOfASparseOne) {
  const at::Tensor sparse = make(tree("float32", {2, 2}, ramp(0), "sparse_coo"));
  EXPECT_EQ(sparse._nnz(), 4);
  EXPECT_EQ(sparse.to_dense()[1][1].item<float>(), 3);
}

TEST(Tensors, GiveGradientsToAParameterThatCanHaveThem) {
  EXPECT_TRUE(make(tree("float32", {2}, ramp(0), "parameter")).requires_grad());
  EXPECT_FALSE(make(tree("int64", {2}, ramp(0), "parameter")).requires_grad());
}

TEST(Tensors, RefuseAFormThatTheElementsCannotHave) {
  EXPECT_THAT(
      [] {
        make(tree("int64", {3, 2}, ramp(0), "expanded"));
      },
      ThrowsMessage<BadRequest>(HasSubstr("must be filled alike")));
  EXPECT_THROW(make(tree("int64", {}, ramp(0), "expanded")), BadRequest);
  EXPECT_THROW(make(tree("int64", {1, 3}, ramp(0), "transposed")), BadRequest);
}

TEST(Tensors, RefuseAFormWithoutACounterpart) {
  for (const std::string form : {"jagged", "memmap", "subclass"}) {
    EXPECT_THAT([&] { make(tree("float32", {2}, ramp(0), form)); },
                ThrowsMessage<Unsupported>("leaf:" + form));
  }
}

TEST(Tensors, RefuseWhatIsNoTensorTree) {
  EXPECT_THROW(make(tree("float33", {2}, ramp(0))), BadRequest);
  EXPECT_THROW(make(tree("float32", {-1}, ramp(0))), BadRequest);
  EXPECT_THROW(make(tree("float32", {2}, {{"random", 1}})), BadRequest);
  json surprising = tree("float32", {2}, ramp(0));
  surprising["strides"] = {1};
  EXPECT_THROW(make(surprising), BadRequest);
}

TEST(Tensors, RefuseAShapeBeyondTheBound) {
  const std::vector<std::string> shapes{"[1000000000000]",
                                        "[4294967296,4294967296]",
                                        "[0,9223372036854775807,9223372036854775807]",
                                        "[134217729]"};
  for (const std::string& shape : shapes) {
    EXPECT_THAT([&] { make(tree("int64", json::parse(shape), ramp(0))); },
                ThrowsMessage<BadRequest>("x.shape: " + shape +
                                          " with 8 bytes an element exceeds 1073741824 bytes"));
  }
}

TEST(TensorSize, MayBeTheBoundItself) {
  EXPECT_NO_THROW(check_tensor_size({1 << 15, 1 << 15}, 1, "x"));
  EXPECT_THROW(check_tensor_size({1 << 15, (1 << 15) + 1}, 1, "x"), BadRequest);
  EXPECT_NO_THROW(check_tensor_size({1 << 26}, 16, "x"));
  EXPECT_THROW(check_tensor_size({(1 << 26) + 1}, 16, "x"), BadRequest);
  EXPECT_NO_THROW(check_tensor_size({0, 3}, 16, "x"));
  EXPECT_NO_THROW(check_tensor_size({}, 16, "x"));
}

TEST(TensorSnapshot, HasTheBytesUpTo1024AndADigestBeyond) {
  const json inlined = snapshot_tensor(make(tree("uint8", {1024}, {{"const", 1}})));
  EXPECT_EQ(inlined["bytes"].get<std::string>().size(), 2048u);
  EXPECT_FALSE(inlined.contains("sha256"));
  const json digested = snapshot_tensor(make(tree("uint8", {1025}, {{"const", 1}})));
  EXPECT_FALSE(digested.contains("bytes"));
  EXPECT_EQ(digested["sha256"].get<std::string>().size(), 64u);
}

TEST(TensorSnapshot, DescribesTheTensor) {
  const json snapshot = snapshot_tensor(make(tree("float32", {1, 2}, ramp(1), "requires_grad")));
  EXPECT_EQ(snapshot["kind"], "tensor");
  EXPECT_EQ(snapshot["shape"], json({1, 2}));
  EXPECT_EQ(snapshot["requires_grad"], true);
  EXPECT_EQ(snapshot["class"], "Tensor");
  EXPECT_EQ(snapshot["device"], "cpu");
  EXPECT_EQ(snapshot["layout"], "strided");
  EXPECT_EQ(snapshot["bytes"], "0000803f00000040");
}

TEST(TensorSnapshot, LeavesOutElementsThatCannotBeRead) {
  const json meta = snapshot_tensor(make(tree("float32", {2}, ramp(0), "meta")));
  EXPECT_EQ(meta["device"], "meta");
  EXPECT_FALSE(meta.contains("bytes"));
  EXPECT_FALSE(meta.contains("sha256"));
  EXPECT_TRUE(meta["token"].is_string());
}

TEST(TensorSnapshot, HoldsTheElementsOfASparseTensorAsIfItWereDense) {
  const json made = snapshot_tensor(make(tree("uint16", {1, 2}, ramp(1), "sparse_coo")));
  EXPECT_EQ(made["layout"], "sparse_coo");
  EXPECT_EQ(made["bytes"], "01000200");
  const auto bytes_of = [](const at::Tensor& indices, const at::Tensor& values) {
    return snapshot_tensor(at::sparse_coo_tensor(indices, values, {3, 2}))["bytes"];
  };
  // Whole rows, one of them with -0.
  EXPECT_EQ(bytes_of(at::tensor({2, 0}, at::kLong).view({1, 2}),
                     at::tensor({1.0F, -0.0F, 3.0F, 4.0F}).view({2, 2})),
            "0000404000008040"
            "0000000000000000"
            "0000803f00000080");
  // Elements at one place are added.
  EXPECT_EQ(
      bytes_of(at::tensor({1, 1, 0, 0}, at::kLong).view({2, 2}), at::tensor({3, 4}, at::kByte)),
      "000007000000");
  EXPECT_EQ(snapshot_tensor(make(tree("int8", {2, 0}, ramp(0), "sparse_coo")))["bytes"], "");
}

TEST(TensorSnapshot, HasEqualTokensExactlyForTheSameMemory) {
  const at::Tensor tensor = make(tree("float32", {4}, ramp(0)));
  const auto token = [](const at::Tensor& of) { return snapshot_tensor(of)["token"]; };
  EXPECT_EQ(token(tensor), token(tensor.view({2, 2})));
  EXPECT_NE(token(tensor), token(tensor.narrow(0, 1, 3)));
  EXPECT_NE(token(tensor), token(tensor.clone()));
}

TEST(StorageSnapshot, DescribesTheMemory) {
  const at::Tensor storage = make(tree("uint8", {3}, ramp(1)));
  const json snapshot = snapshot_storage(storage);
  EXPECT_EQ(snapshot["nbytes"], 3);
  EXPECT_EQ(snapshot["bytes"], "010203");
  EXPECT_EQ(snapshot["token"], snapshot_tensor(storage)["token"]);
}

TEST(Digests, CoverTheElementsInRowMajorOrder) {
  const at::Tensor column_of_abc = at::tensor({97, 120, 98, 120, 99, 120}, at::kByte).view({3, 2});
  EXPECT_EQ(digest_of(column_of_abc.select(1, 0)),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digests, CoverTheConjugateOfElementsThatAreOnlyMarkedAsConjugated) {
  const at::Tensor marked = make(tree("complex64", {1}, ramp(2))).conj();
  ASSERT_TRUE(marked.is_conj());
  EXPECT_EQ(snapshot_tensor(marked)["bytes"], "0000004000000040");
  EXPECT_EQ(digest_of(marked), digest_of(make(tree("float32", {2}, {{"const", 2}}))));
}

TEST(Digests, AreMissingWhereTheElementsCannotBeRead) {
  EXPECT_EQ(digest_of(at::empty({2}, at::kMeta)), std::nullopt);
  EXPECT_EQ(digest_of(at::ones({2}).to_sparse()), std::nullopt);
}

}  // namespace
}  // namespace tdconf::adapter
