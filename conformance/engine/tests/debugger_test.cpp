// SPDX-License-Identifier: BSD-3-Clause
#include "engine/play/debugger.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/play/fleet.h"

namespace tdconf {
namespace {

namespace fs = std::filesystem;
using ::testing::StartsWith;

/// An adapter whose program has a py-spy and a gdb of the test's own beside it.
class DebuggerTest : public ::testing::Test {
 protected:
  DebuggerTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / "debugger" / test->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::create_symlink(TDCONF_TEST_PYTHON, folder_ / "python");
    setenv("PATH", (folder_.string() + ':' + path_).c_str(), 1);
  }

  ~DebuggerTest() override { setenv("PATH", path_.c_str(), 1); }

  void write_debugger(const std::string& name, const std::string& script) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << script << '\n';
    fs::permissions(path, fs::perms::owner_all);
  }

  /// The stacks of a rank that had said `told` itself.
  std::string stacks_of(const std::string& behaviour,
                        const std::string& told,
                        std::chrono::milliseconds limit = kLong) {
    FleetOptions options;
    options.commands["scripted"] = {{folder_ / "python", TDCONF_SCRIPTED_ADAPTER, behaviour},
                                    false};
    options.log_folder = folder_;
    Fleet fleet(options);
    const std::vector<Adapter*> adapters = fleet.muster({{"scripted", 0}});
    pid_ = *adapters[0]->pid();
    Record record;
    record.ranks.resize(1);
    record.ranks[0].stacks = told;
    add_debugger_stacks(adapters, {folder_, limit}, record);
    return *record.ranks[0].stacks;
  }

  static constexpr std::chrono::milliseconds kLong{60'000};
  const std::string path_ = std::getenv("PATH");
  fs::path folder_;
  std::int64_t pid_ = 0;
};

TEST_F(DebuggerTest, ItsStacksFollowThoseOfTheAdapter) {
  write_debugger("py-spy", "echo asked \"$@\"");
  const std::string stacks = stacks_of("honest", "its own words");
  EXPECT_EQ(stacks, "its own words\npy-spy:\nasked dump --pid " + std::to_string(pid_) + "\n");
}

TEST_F(DebuggerTest, AFailureIsOneLine) {
  write_debugger("py-spy", "echo; echo Permission denied >&2; echo more; exit 1");
  const std::string stacks = stacks_of("honest", "its own words");
  EXPECT_EQ(stacks, "its own words\npy-spy: exited with status 1: Permission denied\n");
}

TEST_F(DebuggerTest, OneThatTakesTooLongIsEnded) {
  write_debugger("py-spy", "exec tail -f /dev/null");
  EXPECT_THAT(stacks_of("honest", "its own words", std::chrono::milliseconds(200)),
              StartsWith("its own words\npy-spy: no answer within 200 ms"));
}

TEST_F(DebuggerTest, GdbLooksOnlyAtANativeProgramThatSaysNothing) {
  write_debugger("gdb", "echo Reading symbols; echo '#0 main ()'");
  EXPECT_EQ(stacks_of("is_native", ""), "gdb:\n#0 main ()\n");
  EXPECT_EQ(stacks_of("is_native", "its own words"), "its own words");
}

}  // namespace
}  // namespace tdconf
