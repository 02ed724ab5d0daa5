// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/control.h"
#include "common/operation.h"

namespace tdconf::bench {

/// Runs `iterations` once under Google Benchmark, and returns its report. `measure` does one of them
/// and returns its seconds, whose mean is real_time; `counters` stand beside it.
///
/// Errors  what `measure` throws, unchanged.
nlohmann::json report(const std::string& name,
                      std::int64_t iterations,
                      const std::function<double()>& measure,
                      const std::map<std::string, std::int64_t>& counters = {});

/// Times an operation: its mean over `batch` of them on the slowest rank, `iterations` times.
nlohmann::json time(const std::string& name,
                    Operation& operation,
                    Control& control,
                    std::int64_t iterations,
                    std::int64_t batch);

}  // namespace tdconf::bench
