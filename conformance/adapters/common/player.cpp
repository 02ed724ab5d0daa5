// SPDX-License-Identifier: BSD-3-Clause
#include "common/player.h"

#include <exception>
#include <stdexcept>

#include "common/errors.h"

namespace tdconf::adapter {
namespace {

/// Turns what `action` throws into an answer: the adapter's own exceptions are never `raised`.
template <typename Action>
json answered(const Action& action) {
  try {
    return action();
  } catch (const BadRequest& error) {
    return {{"type", "error"}, {"message", error.what()}};
  } catch (const Unsupported& missing) {
    return {{"type", "unsupported"}, {"what", missing.what()}};
  } catch (...) {
    const Raised raised = describe_exception(std::current_exception());
    return {{"type", "raised"},
            {"category", raised.category},
            {"exception", raised.exception},
            {"message", raised.message}};
  }
}

}  // namespace

std::vector<std::string> capabilities_of(const Player& player) {
  std::vector<std::string> capabilities = player.features;
  if (player.transcript) capabilities.push_back("transcript");
  for (const auto& [name, operation] : player.operations) capabilities.push_back("op:" + name);
  return capabilities;
}

json answer_step(const Player& player, const Step& step) {
  return answered([&]() -> json {
    const auto found = player.operations.find(step.op);
    if (found == player.operations.end()) throw Unsupported("op:" + step.op);
    const Fields args(step.args, step.op, found->second.args);
    return {{"type", "returned"}, {"value", found->second.run(args, step.as)}};
  });
}

json answer_join(const Player& player, const Join& join) {
  return answered([&]() -> json {
    if (player.transcript) player.transcript->clear();
    player.join(join);
    return {{"type", "joined"}};
  });
}

}  // namespace tdconf::adapter
