// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/debugger.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "engine/play/fleet.h"

namespace tdconf {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;

/// A Python adapter whose interpreter has a py-spy of the test's own beside it.
class DebuggerTest : public ::testing::Test {
 protected:
  DebuggerTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / "debugger" / test->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::create_symlink(TDCONF_TEST_PYTHON, folder_ / "python");
  }

  void write_py_spy(const std::string& script) {
    const fs::path path = folder_ / "py-spy";
    std::ofstream(path) << "#!/bin/sh\n" << script << '\n';
    fs::permissions(path, fs::perms::owner_all);
  }

  /// The stacks of a rank that had said `its own words` itself.
  std::string stacks_within(std::chrono::milliseconds limit) {
    FleetOptions options;
    options.commands["scripted"] = {{folder_ / "python", TDCONF_SCRIPTED_ADAPTER, "honest"}, false};
    options.log_folder = folder_;
    Fleet fleet(options);
    const std::vector<Adapter*> adapters = fleet.muster({{"scripted", 0}});
    pid_ = *adapters[0]->pid();
    Record record;
    record.ranks.resize(1);
    record.ranks[0].stacks = "its own words";
    add_debugger_stacks(adapters, {folder_, limit}, record);
    return *record.ranks[0].stacks;
  }

  static constexpr std::chrono::milliseconds kLong{60'000};
  fs::path folder_;
  std::int64_t pid_ = 0;
};

TEST_F(DebuggerTest, ItsStacksFollowThoseOfTheAdapter) {
  write_py_spy("echo asked \"$@\"");
  const std::string stacks = stacks_within(kLong);
  EXPECT_EQ(stacks, "its own words\npy-spy:\nasked dump --pid " + std::to_string(pid_) + "\n");
}

TEST_F(DebuggerTest, AFailureIsOneLine) {
  write_py_spy("echo; echo Permission denied >&2; echo more; exit 1");
  const std::string stacks = stacks_within(kLong);
  EXPECT_EQ(stacks, "its own words\npy-spy: exited with status 1: Permission denied\n");
}

TEST_F(DebuggerTest, OneThatTakesTooLongIsEnded) {
  write_py_spy("exec tail -f /dev/null");
  EXPECT_THAT(stacks_within(std::chrono::milliseconds(200)),
              StartsWith("its own words\npy-spy: no answer within 200 ms"));
}

}  // namespace
}  // namespace tdconf
