// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/check.h"

#include <algorithm>

#include "engine/judge/check_snapshot.h"
#include "engine/value/layout.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

std::string show(const Returns& returns) {
  struct Shower {
    std::string operator()(const ReturnsNone&) const { return "none"; }
    std::string operator()(const ReturnsSelf&) const { return "self"; }
    std::string operator()(const ReturnsTensorDict&) const { return "a new tensordict"; }
    std::string operator()(const ReturnsTensorDicts& several) const {
      return concat(several.count, " new tensordicts");
    }
    std::string operator()(const ReturnsHeld& held) const {
      return concat("the value `", held.name, '`');
    }
    std::string operator()(const ReturnsInteger& integer) const {
      return std::to_string(integer.value);
    }
    std::string operator()(const ReturnsWorks& works) const {
      return works.count ? concat(*works.count, " works") : "works";
    }
  };
  return std::visit(Shower{}, returns);
}

bool is_held_as(const std::string& name, const Returned& got) {
  const auto* held = std::get_if<HeldValue>(&got);
  return held != nullptr && held->name == name;
}

bool are_new(const ReturnsTensorDicts& expected, const Returned& got, const Step& step) {
  const auto* held = std::get_if<HeldValues>(&got);
  if (held == nullptr || held->names.size() != static_cast<std::size_t>(expected.count)) {
    return false;
  }
  for (std::size_t n = 0; n < held->names.size(); ++n) {
    if (held->names[n] != concat(step.as, ".", n)) return false;
  }
  return true;
}

bool holds(const Returns& expected, const Returned& got, const Step& step) {
  if (std::holds_alternative<ReturnsNone>(expected)) return std::holds_alternative<NoValue>(got);
  if (std::holds_alternative<ReturnsSelf>(expected)) {
    return is_held_as(step.args.value("td", ""), got);
  }
  if (std::holds_alternative<ReturnsTensorDict>(expected)) return is_held_as(step.as, got);
  if (const auto* several = std::get_if<ReturnsTensorDicts>(&expected)) {
    return are_new(*several, got, step);
  }
  if (const auto* held = std::get_if<ReturnsHeld>(&expected)) return is_held_as(held->name, got);
  if (const auto* integer = std::get_if<ReturnsInteger>(&expected)) {
    const auto* value = std::get_if<IntegerValue>(&got);
    return value != nullptr && value->value == integer->value;
  }
  const auto* works = std::get_if<WorksValue>(&got);
  const auto& count = std::get<ReturnsWorks>(expected).count;
  return works != nullptr && (!count || *count == works->count);
}

std::vector<Difference> check_tensor(const Step& step, const SeenTensor& seen) {
  if (const auto* leaf = std::get_if<TensorLeaf>(&step.receives)) {
    return compare_tensor(step.receives_key, *leaf, seen);
  }
  if (const auto* storage = std::get_if<ExpectedStorage>(&step.receives)) {
    return check_storage(*storage, seen.elements);
  }
  return {};
}

std::string show_header(const std::vector<std::optional<std::int64_t>>& row) {
  std::vector<std::string> elements;
  for (const auto& element : row) elements.push_back(element ? std::to_string(*element) : "any");
  return concat("[", join(elements, ", "), "]");
}

bool matches(const std::vector<std::optional<std::int64_t>>& expected,
             const std::vector<std::int64_t>& got) {
  return std::ranges::equal(expected, got, [](const auto& element, std::int64_t value) {
    return !element || *element == value;
  });
}

std::vector<Difference> check_buffers(const Expect& expect, const BuffersValue& seen) {
  std::vector<Difference> differences;
  if (expect.headers && expect.headers->size() != seen.headers.size()) {
    return {differ("",
                   "number of headers",
                   std::to_string(expect.headers->size()),
                   std::to_string(seen.headers.size()))};
  }
  for (std::size_t row = 0; expect.headers && row < seen.headers.size(); ++row) {
    if (matches((*expect.headers)[row], seen.headers[row])) continue;
    differences.push_back(differ("",
                                 concat("the header of group rank ", row),
                                 show_header((*expect.headers)[row]),
                                 json(seen.headers[row]).dump()));
  }
  for (const auto& [group_rank, tree] : expect.storages) {
    if (group_rank < 0 || static_cast<std::size_t>(group_rank) >= seen.buffers.size()) {
      differences.push_back(
          differ("", concat("the buffer of group rank ", group_rank), "one", "none"));
      continue;
    }
    SeenBytes front;
    front.bytes = seen.buffers[static_cast<std::size_t>(group_rank)];
    for (Difference& difference : check_storage({tree, tree}, front)) {
      difference.text = concat("group rank ", group_rank, ": ", difference.text);
      differences.push_back(std::move(difference));
    }
  }
  return differences;
}

}  // namespace

std::vector<Difference> check_returned(const Step& step, const std::vector<Answer>& answers) {
  const Returned& returned = std::get<Returned>(answers.back());
  if (const auto* snapshot = std::get_if<Snapshot>(&returned)) {
    const Snapshot* made = nullptr;
    if (step.made_by && static_cast<std::size_t>(*step.made_by) < answers.size()) {
      const auto* first = std::get_if<Returned>(&answers[static_cast<std::size_t>(*step.made_by)]);
      made = first == nullptr ? nullptr : std::get_if<Snapshot>(first);
    }
    return check_snapshot(step, *snapshot, made);
  }
  if (const auto* tensor = std::get_if<SeenTensor>(&returned)) return check_tensor(step, *tensor);
  if (const auto* buffers = std::get_if<BuffersValue>(&returned)) {
    return check_buffers(step.expect, *buffers);
  }
  const std::optional<Returns>& expected = step.expect.returns;
  if (!expected || holds(*expected, returned, step)) return {};
  const std::string got = describe(Answer(returned)).substr(std::string_view("returned ").size());
  return {differ("", "the value returned:", show(*expected), got)};
}

}  // namespace tdconf
