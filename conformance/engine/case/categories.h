// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tdconf {

/// What an exception can be called in every language: what `raises` expects and `raised` reports.
const std::vector<std::string>& raised_categories();

}  // namespace tdconf
