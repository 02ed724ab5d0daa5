// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tests/support.h"

#include <stdexcept>

#include "engine/case/case_parser.h"
#include "values/text.h"

namespace tdconf::testing_support {

using nlohmann::json;

std::vector<Case> parse(const std::string& yaml) {
  std::vector<Case> cases;
  for (const Node& document : parse_yaml(yaml, "case.yaml")) {
    for (Case& c : parse_cases(document)) cases.push_back(std::move(c));
  }
  return cases;
}

Case parse_one(const std::string& yaml) {
  std::vector<Case> cases = parse(yaml);
  if (cases.size() != 1) throw std::logic_error("the document holds more than one case");
  return cases.front();
}

Case case_of(int world, const std::string& values, const std::string& ranks) {
  return parse_one(concat("id: t/x\nclauses: [c]\nlevel: must\nsays: s\nworld: ",
                          world,
                          "\nvalues:\n",
                          values,
                          "ranks:\n",
                          ranks));
}

std::string error_of(const std::string& yaml) {
  try {
    parse(yaml);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

json seen_tensor(const std::string& dtype,
                 const std::vector<std::int64_t>& shape,
                 const std::string& hex,
                 const std::string& token) {
  return {{"kind", "tensor"},
          {"dtype", dtype},
          {"shape", shape},
          {"bytes", hex},
          {"class", "Tensor"},
          {"requires_grad", false},
          {"device", "cpu"},
          {"layout", "strided"},
          {"token", token}};
}

json seen_dict(const SeenEntries& entries, const std::vector<std::int64_t>& batch_size) {
  json list = json::array();
  for (const auto& [key, value] : entries) list.push_back(json::array({key, value}));
  return {{"kind", "tensordict"},
          {"class", "TensorDict"},
          {"locked", false},
          {"names", nullptr},
          {"device", nullptr},
          {"batch_size", batch_size},
          {"entries", list}};
}

Answer returned(const json& value) {
  return decode_answer({{"seq", 1}, {"type", "returned"}, {"value", value}}, "step");
}

Answer returned_snapshot(json root, const json& consolidated) {
  root["consolidated"] = consolidated;
  return returned({{"kind", "snapshot"}, {"snapshot", std::move(root)}});
}

Answer raised(const std::string& category, const std::string& message) {
  return Raised{category, "SomeError", message};
}

RankRecord rank_that_answered(const std::vector<Answer>& answers) {
  RankRecord rank;
  rank.adapter = "x";
  rank.join = Answer(Joined{});
  rank.answers = answers;
  return rank;
}

}  // namespace tdconf::testing_support
