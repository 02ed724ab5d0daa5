// SPDX-License-Identifier: BSD-3-Clause
#include "engine/case/categories.h"

namespace tdconf {

const std::vector<std::string>& raised_categories() {
  static const std::vector<std::string> kCategories{"value",
                                                    "type",
                                                    "not_implemented",
                                                    "index",
                                                    "key",
                                                    "attribute",
                                                    "timeout",
                                                    "connection",
                                                    "runtime",
                                                    "other"};
  return kCategories;
}

}  // namespace tdconf
