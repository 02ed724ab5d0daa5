// SPDX-License-Identifier: BSD-3-Clause
#include "engine/judge/results.h"

#include "engine/input/json_reader.h"
#include "values/text.h"

namespace tdconf {
namespace {

using nlohmann::json;

/// People and results count steps from 1.
json number_of(const std::optional<int>& step) {
  return step ? json(*step + 1) : json(nullptr);
}

json finding_to_json(const Finding& finding) {
  return {{"verdict", to_string(finding.verdict)},
          {"rank", finding.rank},
          {"step", number_of(finding.step)},
          {"op", finding.op},
          {"key", finding.difference.key},
          {"index", finding.difference.index},
          {"expected", finding.difference.expected},
          {"got", finding.difference.got},
          {"text", finding.text}};
}

json events_to_json(const std::vector<Event>& events) {
  json list = json::array();
  for (const Event& event : events) {
    list.push_back(to_json(event));
    list.back()["step"] = number_of(event.step);
  }
  return list;
}

void add_trace(json& described, const RankRecord& record) {
  described["answers"] = record.messages;
  described["transcript"] = record.transcript ? events_to_json(*record.transcript) : json(nullptr);
  described["released"] = record.released;
  described["answered"] = record.answered;
}

json rank_to_json(int rank, const RankRecord& record, bool has_trace) {
  json described{{"rank", rank},
                 {"impl", record.adapter},
                 {"pid", or_null(record.pid)},
                 {"exit", record.exit ? or_null(record.exit->status) : json(nullptr)},
                 {"signal", record.exit ? or_null(record.exit->signal) : json(nullptr)},
                 {"steps_done", record.answers.size()},
                 {"step_in_flight", number_of(record.in_flight)},
                 {"leftovers", nullptr}};
  if (record.ended) {
    described["leftovers"] = {{"values", record.ended->values}, {"works", record.ended->works}};
  }
  if (has_trace) add_trace(described, record);
  return described;
}

json hang_to_json(const Hang& hang) {
  json ranks = json::array();
  for (const WaitingRank& waiting : hang.ranks) {
    ranks.push_back({{"rank", waiting.rank},
                     {"step", number_of(waiting.step)},
                     {"op", waiting.op},
                     {"pending", events_to_json(waiting.pending)}});
  }
  return {{"sentence", hang.sentence}, {"ranks", ranks}};
}

json listed_to_json(const Expectation* listed) {
  if (listed == nullptr) return nullptr;
  return {{"match", listed->match},
          {"status", to_string(listed->status)},
          {"signature", listed->signature},
          {"reason", listed->reason},
          {"link", listed->link.empty() ? json(nullptr) : json(listed->link)}};
}

}  // namespace

json to_json(const CaseResult& result) {
  json assign = json::object();
  for (std::size_t rank = 0; rank < result.players.size(); ++rank) {
    assign[std::to_string(rank)] = result.players[rank];
  }
  json findings = json::array();
  for (const Finding& finding : result.judgement.findings)
    findings.push_back(finding_to_json(finding));
  json ranks = json::array();
  json stacks = json::object();
  for (std::size_t rank = 0; rank < result.record.ranks.size(); ++rank) {
    const RankRecord& record = result.record.ranks[rank];
    ranks.push_back(rank_to_json(static_cast<int>(rank), record, result.has_trace));
    if (record.stacks) stacks[std::to_string(rank)] = *record.stacks;
  }
  json line{{"type", "case"},
            {"case", result.name},
            {"impl", result.implementation},
            {"assign", assign},
            {"level", to_string(result.level)},
            {"clauses", result.clauses},
            {"says", result.says},
            {"broken_by", or_null(result.broken_by)},
            {"verdict", to_string(result.judgement.verdict)},
            {"expected", result.outcome == Outcome::kAsExpected},
            {"listed", listed_to_json(result.listed)},
            {"signature", result.judgement.signature},
            {"findings", findings},
            {"ranks", ranks},
            {"stacks", stacks},
            {"ms", result.ms},
            {"repeat", result.repeat}};
  if (result.judgement.hang) line["hang"] = hang_to_json(*result.judgement.hang);
  if (result.level == Level::kObserve) line["observed"] = result.observed;
  return line;
}

ResultsWriter::ResultsWriter(const std::string& path) : file_(path) {
  if (!file_) throw InputError(concat("--out: ", path, " cannot be written"));
}

void ResultsWriter::write(const json& line) {
  // Exceptions of an implementation may hold bytes that are not UTF-8.
  file_ << line.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  if (!file_) throw std::runtime_error("results.jsonl cannot be written; is the disk full?");
}

void ResultsWriter::write_header(json fields) {
  fields["type"] = "header";
  write(fields);
}

void ResultsWriter::write_case(const CaseResult& result) {
  ++counts_[to_string(result.judgement.verdict)];
  write(to_json(result));
}

void ResultsWriter::write_footer(json fields) {
  fields["type"] = "footer";
  fields["counts"] = counts_;
  write(fields);
}

}  // namespace tdconf
