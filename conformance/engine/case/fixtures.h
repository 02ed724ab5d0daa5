// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/case/case.h"

namespace tdconf {

/// Reads every case below the given files and folders, sorted by name.
///
/// Order   `clauses.yaml` is no file of cases; every other `.yaml` file is.
/// Errors  InputError: an invalid case, an id or expanded name used twice, a file or folder without
///         a case, a `.yml` file (which would be passed over in silence).
std::vector<Case> load_fixtures(const std::vector<std::string>& paths);

/// Reads the ids of a clause registry.
///
/// Errors  InputError.
std::set<std::string> load_clauses(const std::string& path);

/// Errors  InputError: a case names a clause that the registry does not hold.
void check_clauses(const std::vector<Case>& cases, const std::set<std::string>& registry);

/// Returns the SHA-256 over the canonical JSON of the cases, sorted by name.
std::string manifest_digest(const std::vector<Case>& cases);

}  // namespace tdconf
