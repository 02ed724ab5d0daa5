// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tdconf {

/// What an argument of an operation holds.
enum class ArgumentType {
  kTensorDict,
  /// A list of names of tensordicts.
  kTensorDicts,
  kInteger,
  kBool,
  kGroup,
  kWorks,
  kPipe,
  /// The name of a reduction.
  kReduceOp,
  kDevice,
  /// A list of integers and `[start, stop]`.
  kIndex
};

struct Argument {
  std::string name;
  ArgumentType type;
  bool is_required;
};

/// What an operation answers when it returns, which decides what a case may expect of it.
enum class Answers { kSnapshot, kWhatTheImplementationReturns, kTensor, kWorks, kBuffers, kNone };

/// How a bare operation uses its tensor.
enum class BareTensor { kNone, kSends, kReceives };

/// One row of the table of operations in the protocol.
struct Operation {
  std::string name;
  std::vector<Argument> arguments = {};
  Answers answers = Answers::kNone;
  BareTensor tensor = BareTensor::kNone;
  /// True when the case may give the only argument alone, without its name.
  bool takes_name_alone = false;
  /// True when it makes a tensordict or a pipe, so that the step needs a name for it in `as`.
  bool needs_as = false;
  /// True when it returns a tensordict rather than works.
  bool gives_tensordict = false;
  /// True when it makes one tensordict for each member of the group, kept under `AS.0`, `AS.1`, ...
  bool makes_one_for_each_member = false;
};

const std::vector<Operation>& all_operations();

/// Returns the operation, or null.
const Operation* find_operation(std::string_view name);

}  // namespace tdconf
