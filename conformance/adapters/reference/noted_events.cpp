// SPDX-License-Identifier: BSD-3-Clause
#include "reference/noted_events.h"

namespace tdconf::adapter {

Operation NotedEvents::observed(Operation operation) {
  return {.args = std::move(operation.args),
          .run = [this, run = std::move(operation.run)](const Fields& args, const auto& as) {
            const tdref::ObserverGuard guard(*this);
            return run(args, as);
          }};
}

void NotedEvents::add(const std::string& event, std::size_t nbytes) {
  transcript_->add({{"event", event}, {"bytes", nbytes}});
}

}  // namespace tdconf::adapter
