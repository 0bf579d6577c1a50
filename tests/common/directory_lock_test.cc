#include "common/atomic_file.h"
#include "common/directory_lock.h"
#include "linalg/base/error.h"
#include "tests/message_checks.h"
#include "tests/temporary_directory.h"

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace femgpu
{
namespace
{
namespace fs = std::filesystem;

class DirectoryLockTest : public testing::Test
{
protected:
  /// Writes the lock file of a run that did not remove it.
  void write_lock_file(const std::string &host, const std::string &boot, const long process) const
  {
    std::ofstream(file) << "host " << host << "\nboot " << boot << "\nprocess " << process
                        << "\nstarted 2026-01-02 03:04:05 UTC\n";
  }

  /// Returns the error message, or an empty string if the directory could be locked.
  std::string refusal() const
  {
    try {
      const DirectoryLock lock(directory);
    }
    catch (const OutputError &error) {
      return error.what();
    }
    return "";
  }

  static std::string boot_id()
  {
    std::ifstream stream("/proc/sys/kernel/random/boot_id");
    std::string id;
    stream >> id;
    return id;
  }

  /// Returns an id that no process has: the id of a child that has ended and been waited for.
  static pid_t dead_process()
  {
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(0);
    ::waitpid(child, nullptr, 0);
    return child;
  }

  TemporaryDirectory directory;
  fs::path file = directory / ".femgpu.lock";
};

TEST_F(DirectoryLockTest, ASecondRunIsRefusedWithTheNameOfTheFirst)
{
  {
    const DirectoryLock lock(directory);
    const std::string message = refusal();
    EXPECT_TRUE(contains(message, directory.string())) << message;
    EXPECT_TRUE(contains(message, "process " + std::to_string(::getpid()))) << message;
    EXPECT_TRUE(contains(message, "host " + host_name())) << message;
    EXPECT_TRUE(contains(message, "started 20")) << message;
    EXPECT_TRUE(contains(message, "--output")) << message;
    EXPECT_TRUE(fs::exists(file)); // the refused run has not removed it
  }
  EXPECT_TRUE(fs::is_empty(directory));
  EXPECT_EQ(refusal(), "");
}

TEST_F(DirectoryLockTest, ARunThatWasKilledStopsNobody)
{
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const DirectoryLock lock(directory);
    const char done = 1;
    if (::write(ready[1], &done, 1) == 1)
      ::pause();
    ::_exit(0);
  }
  char done = 0;
  ASSERT_EQ(::read(ready[0], &done, 1), 1);
  EXPECT_TRUE(contains(refusal(), "process " + std::to_string(child))) << refusal();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  EXPECT_TRUE(fs::exists(file));
  EXPECT_EQ(refusal(), "");
  EXPECT_TRUE(fs::is_empty(directory));
}

TEST_F(DirectoryLockTest, WhatARunOfThisHostHasLeftIsTaken)
{
  write_lock_file(host_name(), boot_id(), dead_process());
  EXPECT_EQ(refusal(), "");
  write_lock_file(host_name(), "before-the-machine-was-started-anew", ::getppid());
  EXPECT_EQ(refusal(), "");
  write_lock_file("another-container", boot_id(), 1);
  EXPECT_EQ(refusal(), "");
  std::ofstream(file) << "host half a si"; // killed while writing the file
  EXPECT_EQ(refusal(), "");
}

TEST_F(DirectoryLockTest, OfARunOnAnotherHostTheUserIsAsked)
{
  write_lock_file("elsewhere", "of-another-kernel", 17);
  const std::string message = refusal();
  EXPECT_TRUE(contains(message, "process 17 on host elsewhere, started 2026-01-02")) << message;
  EXPECT_TRUE(contains(message, "is invisible from host")) << message;
  EXPECT_TRUE(contains(message, "remove '" + file.string() + "'")) << message;
  EXPECT_TRUE(fs::exists(file));
  fs::remove(file);
  EXPECT_EQ(refusal(), "");
}

TEST_F(DirectoryLockTest, AFileThatOthersHaveMadeMeanwhileIsTheirs)
{
  std::optional<DirectoryLock> first(std::in_place, directory);
  fs::remove(file);
  const DirectoryLock second(directory);
  first.reset();
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(DirectoryLockTest, ADirectoryThatIsNotThereIsAnError)
{
  directory /= "nowhere";
  EXPECT_TRUE(contains(refusal(), "No such file or directory")) << refusal();
}
} // namespace
} // namespace femgpu
