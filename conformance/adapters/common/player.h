// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/fields.h"
#include "common/messages.h"
#include "common/transcript.h"

namespace tdconf::adapter {

/// One operation of the protocol: the arguments that a step may give, and what carries it out.
struct Operation {
  std::vector<std::string> args;
  /// Returns the `value` of `returned`. The second argument is the step's `as`.
  std::function<json(const Fields& args, const std::optional<std::string>& as)> run;
};

/// Makes an operation of a member function that takes the arguments, and `as` if it wants it.
template <typename T, typename Member>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it does not see the move below.
Operation operation(T* self, Member member, std::vector<std::string> args) {
  return {.args = std::move(args),
          .run = [self, member](const Fields& given, const std::optional<std::string>& as) {
            if constexpr (std::is_invocable_v<Member, T*, const Fields&>) {
              return (self->*member)(given);
            } else {
              return (self->*member)(given, as);
            }
          }};
}

/// What is still held when a case ends.
struct Leftovers {
  std::size_t values = 0;
  /// Pending operations that nobody waited for.
  std::size_t works = 0;
};

/// Everything that tells one implementation's adapter from another's.
struct Player {
  std::string name;
  std::string version;
  /// What the adapter claims beside its operations, as `hello` spells it.
  std::vector<std::string> features;
  std::map<std::string, Operation> operations;
  std::function<void(const Join&)> join;
  std::function<Leftovers()> leftovers;
  /// Drops the values and closes the groups.
  std::function<void()> reset;
  /// Where the player's calls are noted; null for one that does not claim `transcript`.
  std::shared_ptr<Transcript> transcript = nullptr;
};

/// The claims of `hello`: `features`, `transcript` for a player that has one, and `op:NAME` for
/// each operation that exists.
std::vector<std::string> capabilities_of(const Player& player);

/// Carries out one step and returns the answer, without its `seq`.
///
/// Errors  none: whatever is thrown becomes `raised`, `unsupported` or `error`.
json answer_step(const Player& player, const Step& step);

/// Begins a new transcript, builds the groups of a case and returns the answer, without its `seq`.
json answer_join(const Player& player, const Join& join);

}  // namespace tdconf::adapter
