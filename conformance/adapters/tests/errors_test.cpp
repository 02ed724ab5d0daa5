// SPDX-License-Identifier: BSD-3-Clause
#include "common/errors.h"

#include <c10/util/Exception.h>
#include <gloo/common/error.h>
#include <gtest/gtest.h>
#include <tdref/errors.h>
#include <torch/csrc/distributed/c10d/exception.h>

#include <stdexcept>

namespace tdconf::adapter {
namespace {

template <typename Error>
Raised describe(const Error& error) {
  return describe_exception(std::make_exception_ptr(error));
}

template <typename Error>
Raised describe_torch() {
  return describe(Error({__func__, __FILE__, __LINE__}, "the text"));
}

TEST(DescribeException, SortsTheTypesThatPythonNames) {
  EXPECT_EQ(describe_torch<c10::ValueError>().category, "value");
  EXPECT_EQ(describe_torch<c10::TypeError>().category, "type");
  EXPECT_EQ(describe_torch<c10::NotImplementedError>().category, "not_implemented");
  EXPECT_EQ(describe_torch<c10::IndexError>().category, "index");
  EXPECT_EQ(describe_torch<tdref::KeyError>().category, "key");
  EXPECT_EQ(describe_torch<tdref::AttributeError>().category, "attribute");
}

TEST(DescribeException, TellsDeadlinesFromLostConnections) {
  EXPECT_EQ(describe_torch<c10d::TimeoutError>().category, "timeout");
  EXPECT_EQ(describe_torch<c10::DistNetworkError>().category, "connection");
  EXPECT_EQ(describe_torch<c10::DistBackendError>().category, "connection");
  EXPECT_EQ(describe_torch<c10::DistStoreError>().category, "connection");
  EXPECT_EQ(describe(gloo::IoException("broken")).category, "connection");
}

TEST(DescribeException, SortsTheStandardTypes) {
  EXPECT_EQ(describe(std::invalid_argument("x")).category, "value");
  EXPECT_EQ(describe(std::out_of_range("x")).category, "index");
  EXPECT_EQ(describe(std::runtime_error("x")).category, "runtime");
  EXPECT_EQ(describe(std::bad_alloc()).category, "other");
  EXPECT_EQ(describe(42).category, "other");
}

TEST(DescribeException, CallsAPlainTorchErrorRuntime) {
  const Raised raised = describe_torch<c10::Error>();
  EXPECT_EQ(raised.category, "runtime");
  EXPECT_EQ(raised.exception, "c10::Error");
}

TEST(DescribeException, LeavesTheBacktraceOut) {
  EXPECT_EQ(describe_torch<c10::ValueError>().message, "the text");
  EXPECT_EQ(describe_torch<c10::ValueError>().exception, "c10::ValueError");
}

TEST(DescribeException, SeesWhatLibtorchItselfThrows) {
  try {
    TORCH_CHECK_VALUE(false, "from a check");
  } catch (...) {
    const Raised raised = describe_exception(std::current_exception());
    EXPECT_EQ(raised.category, "value");
    EXPECT_EQ(raised.message, "from a check");
  }
}

}  // namespace
}  // namespace tdconf::adapter
