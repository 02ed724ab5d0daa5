// SPDX-License-Identifier: BSD-3-Clause
#include "common/pending.h"

#include <utility>

namespace tdconf::adapter {

json PendingWorks::keep(const std::optional<std::string>& name,
                        tdref::Works works,
                        std::optional<at::Tensor> result) {
  json value = returns::works(works.size());
  if (name) by_name_.insert_or_assign(*name, Pending{std::move(works), std::move(result)});
  return value;
}

PendingWorks::Pending& PendingWorks::find(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) throw BadRequest("no pending operations are called " + name);
  return found->second;
}

const at::Tensor& PendingWorks::result(const std::string& name) {
  const Pending& pending = find(name);
  if (!pending.waited) throw BadRequest("the operations called " + name + " were not waited for");
  if (!pending.result) throw BadRequest("the operations called " + name + " fill no tensor");
  return *pending.result;
}

std::size_t PendingWorks::unfinished() const {
  std::size_t count = 0;
  for (const auto& [name, pending] : by_name_) {
    if (!pending.waited) count += pending.works.size();
  }
  return count;
}

Operation PendingWorks::wait_operation() {
  return {.args = {"works"}, .run = [this](const Fields& args, const auto&) {
            Pending& pending = find(args.required<std::string>("works"));
            for (tdref::Work& work : pending.works) work.wait();
            pending.waited = true;
            return returns::none();
          }};
}

}  // namespace tdconf::adapter
