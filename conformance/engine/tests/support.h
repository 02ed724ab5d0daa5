// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/case/case.h"
#include "engine/input/node.h"
#include "engine/play/message.h"
#include "engine/play/record.h"

namespace tdconf::testing_support {

/// Expands one YAML document; lines count from the first line of `yaml`.
std::vector<Case> parse(const std::string& yaml);

/// The only case of a document without axes.
Case parse_one(const std::string& yaml);

/// A case for `world` ranks with these `values` and `ranks`, both blocks of YAML that are indented
/// by two spaces.
Case case_of(int world, const std::string& values, const std::string& ranks);

/// The message of the InputError that parsing throws.
std::string error_of(const std::string& yaml);

/// Snapshots as an adapter writes them.
nlohmann::json seen_tensor(const std::string& dtype,
                           const std::vector<std::int64_t>& shape,
                           const std::string& hex,
                           const std::string& token = "m0");
using SeenEntries = std::vector<std::pair<std::string, nlohmann::json>>;
nlohmann::json seen_dict(const SeenEntries& entries,
                         const std::vector<std::int64_t>& batch_size = {2});

/// Answers to a step, decoded from what an adapter writes.
Answer returned(const nlohmann::json& value);
Answer returned_snapshot(nlohmann::json root, const nlohmann::json& consolidated = nullptr);
Answer raised(const std::string& category, const std::string& message);

/// A rank that has joined and given these answers.
RankRecord rank_that_answered(const std::vector<Answer>& answers);

}  // namespace tdconf::testing_support
