// SPDX-License-Identifier: BSD-3-Clause
#include "runner/run.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <system_error>

#include "engine/case/fixtures.h"
#include "engine/play/interrupt.h"
#include "engine/session.h"
#include "runner/case_tests.h"
#include "runner/failure_text.h"
#include "runner/temporary_folder.h"
#include "values/text.h"

namespace tdconf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kInternalError = 70;
constexpr int kInterrupted = 130;

SessionOptions session_options(const Input& input, const std::string& stores) {
  const Options& options = input.options;
  SessionOptions session;
  session.implementation = options.implementation;
  session.fleet.commands = options.adapters;
  session.fleet.log_folder = concat(options.out, "/logs");
  session.fleet.start_limit = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::duration<double>(options.start_limit_s));
  session.assign = options.assign;
  session.expectations = input.expectations;
  session.timeout_scale = options.timeout_scale;
  session.trace = options.trace;
  session.repeat_command = options.repeat_command;
  session.store_folder = stores;
  return session;
}

json describe_adapters(const Fleet& fleet) {
  json described = json::object();
  for (const auto& [name, hello] : fleet.hellos()) {
    described[name] = {{"name", hello.name},
                       {"version", hello.version},
                       {"language", hello.language},
                       {"capabilities", hello.capabilities}};
  }
  return described;
}

/// A shard that gets no case is no mistake of anybody.
bool is_sharded() {
  return std::getenv("GTEST_TOTAL_SHARDS") != nullptr;
}

/// Runs cases for GoogleTest and keeps the record.
class Run : public testing::EmptyTestEventListener {
 public:
  explicit Run(const Input& input)
      : input_(input),
        session_(session_options(input, stores_.path())),
        results_(concat(input.options.out, "/results.jsonl")) {}

  void OnTestIterationStart(const testing::UnitTest& unit_test, int iteration) override {
    if (iteration > 0) return;
    for (const Case& c : input_.cases) without_result_.insert(c.name);
    for (int suite = 0; suite < unit_test.total_test_suite_count(); ++suite) {
      const testing::TestSuite& tests = *unit_test.GetTestSuite(suite);
      for (int test = 0; test < tests.total_test_count(); ++test) {
        const testing::TestInfo& info = *tests.GetTestInfo(test);
        if (!info.should_run()) filtered_out_.insert(concat(tests.name(), ".", info.name()));
      }
    }
    std::erase_if(without_result_, [&](const std::string& name) { return is_filtered_out(name); });
    matches_nothing_ = !input_.cases.empty() && without_result_.empty() && !is_sharded();
    if (matches_nothing_) return;
    selected_ = without_result_.size();
    results_.write_header({{"tool", "tdconf"},
                           {"version", TDCONF_VERSION},
                           {"protocol", kProtocolVersion},
                           {"manifest_sha256", manifest_digest(input_.selected)},
                           {"impl", input_.options.implementation},
                           {"selected", selected_},
                           {"argv", input_.options.argv},
                           {"environment", input_.options.environment}});
  }

  /// After an interruption GoogleTest passes over the other cases, and does not count them as passed.
  /// It puts its flags back at the end of each test, but not after that.
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    if (was_interrupted_) GTEST_FLAG_SET(fail_fast, true);
  }

  /// True when a filter of GoogleTest leaves none of the cases.
  bool matches_nothing() const { return matches_nothing_; }

  std::string run_case(const Case& c) {
    if (was_interrupted_) return "";
    try {
      const CaseResult result = session_.run(c);
      add(result);
      return result.outcome == Outcome::kAsExpected ? "" : failure_text(c, result);
    } catch (const Interrupted&) {
      was_interrupted_ = true;
      return "interrupted";
    } catch (const std::exception& error) {
      has_internal_error_ = true;
      return concat("internal error of the judge: ", error.what());
    }
  }

  int finish() {
    std::vector<std::string> complaints = session_.fleet().idle_deaths();
    if (!was_interrupted_) {
      add_those_not_run();
      dismiss(complaints);
    }
    // A process that dies where nobody looks is no less dead.
    if (!complaints.empty()) worst_ = Outcome::kUnexpected;
    for (const std::string& complaint : complaints) std::cerr << complaint << '\n';
    if (was_interrupted_) say_how_far_it_came();
    const std::vector<Expectation> stale_entries = stale_expectations();
    const int status = exit_status(!stale_entries.empty());
    json stale_matches = json::array();
    for (const Expectation& entry : stale_entries) {
      std::cerr << to_string(entry.where) << ": `" << entry.match << "` matches no case any more\n";
      stale_matches.push_back(entry.match);
    }
    results_.write_footer({{"complete", !was_interrupted_ && !has_internal_error_},
                           {"exit", status},
                           {"stale", stale_matches},
                           {"adapters", describe_adapters(session_.fleet())},
                           {"complaints", complaints}});
    return status;
  }

 private:
  bool is_filtered_out(const std::string& name) const {
    for (const Case& c : input_.cases) {
      if (c.name == name) return filtered_out_.contains(test_name(c));
    }
    return false;
  }

  void add(const CaseResult& result) {
    results_.write_case(result);
    without_result_.erase(result.name);
    worst_ = std::max(worst_, result.outcome);
  }

  void add_those_not_run() {
    for (const Case& c : input_.cases) {
      if (!without_result_.contains(c.name)) continue;
      add(session_.not_run(
          c, has_internal_error_ ? "the judge failed" : "an earlier case was not as expected"));
    }
  }

  void dismiss(std::vector<std::string>& complaints) {
    try {
      const std::vector<std::string> more = session_.fleet().dismiss();
      complaints.insert(complaints.end(), more.begin(), more.end());
    } catch (const Interrupted&) {
      was_interrupted_ = true;
    }
  }

  /// GoogleTest counts every selected case among those that ran.
  void say_how_far_it_came() const {
    std::cerr << concat("interrupted: ",
                        selected_ - without_result_.size(),
                        " of ",
                        selected_,
                        " cases ran and have a verdict, ",
                        without_result_.size(),
                        " did not run to their end\n");
  }

  /// Which entries are stale does not depend on the job, so that one job says it.
  std::vector<Expectation> stale_expectations() const {
    if (input_.options.job.index != 0) return {};
    return stale(input_.expectations, input_.all);
  }

  int exit_status(bool has_stale_entries) const {
    if (was_interrupted_) return kInterrupted;
    if (has_internal_error_) return kInternalError;
    switch (worst_) {
      case Outcome::kUnexpected:
        return 1;
      case Outcome::kNoVerdict:
        return 4;
      case Outcome::kOutOfDate:
        return 3;
      case Outcome::kAsExpected:
        break;
    }
    return has_stale_entries ? 3 : 0;
  }

  const Input& input_;
  TemporaryFolder stores_{fs::temp_directory_path()};
  Session session_;
  ResultsWriter results_;
  std::size_t selected_ = 0;
  std::set<std::string> without_result_;
  std::set<std::string> filtered_out_;
  bool matches_nothing_ = false;
  Outcome worst_ = Outcome::kAsExpected;
  bool was_interrupted_ = false;
  bool has_internal_error_ = false;
};

}  // namespace

int run(const Input& input) {
  std::error_code error;
  fs::create_directories(fs::path(input.options.out) / "logs", error);
  if (error) throw InputError(concat("--out: ", input.options.out, ": ", error.message()));
  catch_interrupts();
  Run run(input);
  const RunCase run_case = [&run](const Case& c) { return run.run_case(c); };
  register_case_tests(input.cases, run_case);
  GTEST_FLAG_SET(fail_fast, GTEST_FLAG_GET(fail_fast) || input.options.fail_fast);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  listeners.Append(&run);
  // GoogleTest knows only passed and failed; the outcomes of the cases decide the exit status.
  [[maybe_unused]] const int status_for_googletest = RUN_ALL_TESTS();
  listeners.Release(&run);
  if (run.matches_nothing()) {
    throw InputError(concat(
        "--gtest_filter: got `", GTEST_FLAG_GET(filter), "`, which matches no selected case"));
  }
  return run.finish();
}

}  // namespace tdconf
