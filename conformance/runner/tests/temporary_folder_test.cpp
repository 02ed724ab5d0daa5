// SPDX-License-Identifier: BSD-3-Clause
#include "runner/temporary_folder.h"

#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

namespace tdconf {
namespace {

namespace fs = std::filesystem;

class TemporaryFolderTest : public ::testing::Test {
 protected:
  TemporaryFolderTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    parent_ = fs::path(::testing::TempDir()) / "temporary_folder" / test->name();
    fs::remove_all(parent_);
    fs::create_directories(parent_);
  }

  fs::path parent_;
};

TEST_F(TemporaryFolderTest, ItGoesAwayWithItsObject) {
  std::string path;
  {
    const TemporaryFolder folder(parent_);
    path = folder.path();
    std::ofstream(path + "/store") << "x";
    EXPECT_TRUE(fs::is_directory(path));
  }
  EXPECT_TRUE(fs::is_empty(parent_));
}

TEST_F(TemporaryFolderTest, ThatOfAKilledOwnerIsRemovedByTheNext) {
  const pid_t owner = fork();
  if (owner == 0) {
    const TemporaryFolder folder(parent_);
    std::ofstream(folder.path() + "/store") << "x";
    raise(SIGKILL);
  }
  ASSERT_EQ(waitpid(owner, nullptr, 0), owner);
  ASSERT_FALSE(fs::is_empty(parent_));
  { const TemporaryFolder next(parent_); }
  EXPECT_TRUE(fs::is_empty(parent_));
}

TEST_F(TemporaryFolderTest, ThoseOfLivingOwnersAndOfOthersStay) {
  const TemporaryFolder living(parent_);
  fs::create_directory(parent_ / "tdconf-results");
  const TemporaryFolder next(parent_);
  EXPECT_TRUE(fs::is_directory(living.path()));
  EXPECT_TRUE(fs::is_directory(parent_ / "tdconf-results"));
}

}  // namespace
}  // namespace tdconf
