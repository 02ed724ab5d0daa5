// SPDX-License-Identifier: BSD-3-Clause
// What most files of the judge include and is slow to parse.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>
