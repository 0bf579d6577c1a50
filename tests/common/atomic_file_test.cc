#include "common/atomic_file.h"
#include "linalg/base/error.h"
#include "tests/message_checks.h"
#include "tests/temporary_directory.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace femgpu
{
namespace
{
namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test
{
protected:
  std::size_t files() const
  {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory), fs::directory_iterator()));
  }

  TemporaryDirectory directory;
};

template <class Action>
std::string output_error_of(const Action &action)
{
  return text_of_error<OutputError>(ExitCode::output, action);
}

TEST_F(AtomicFileTest, AppearsOnlyWhenCommitted)
{
  const fs::path name = directory / "summary.json";
  AtomicFile file(name);
  file.stream() << "a " << 12 << std::flush;
  EXPECT_FALSE(fs::exists(name));
  EXPECT_TRUE(fs::exists(partial_name(name.string())));
  file.stream() << '\n';
  file.commit();
  EXPECT_EQ(content_of(name), "a 12\n");
  EXPECT_EQ(files(), 1u);
  EXPECT_NO_THROW(file.commit());
}

TEST_F(AtomicFileTest, WithoutCommitThePreviousFileStays)
{
  const fs::path name = directory / "a.txt";
  std::ofstream(name) << "old";
  {
    AtomicFile file(name);
    file.stream() << "new" << std::flush;
  }
  EXPECT_EQ(content_of(name), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, CommitReplacesThePreviousFileAndAStalePartialOne)
{
  const fs::path name = directory / "a.txt";
  std::ofstream(name) << "old";
  std::ofstream(partial_name(name.string())) << "a much longer half of a file";
  AtomicFile file(name);
  file.stream() << "new";
  file.commit();
  EXPECT_EQ(content_of(name), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFileTest, KeepsEveryByteOfLongAndShortWrites)
{
  std::string expected;
  AtomicFile file(directory / "big.bin");
  for (const std::size_t size : {0u, 1u, 31u, 65535u, 65536u, 65537u, 1u, 300000u, 7u}) {
    const std::string block(size, static_cast<char>('a' + size % 26));
    file.stream().write(block.data(), static_cast<std::streamsize>(size));
    file.stream().put('\n');
    expected += block + "\n";
  }
  file.commit();
  EXPECT_EQ(content_of(directory / "big.bin"), expected);
}

TEST_F(AtomicFileTest, FullDiskIsAnErrorAndLeavesNothing)
{
  const fs::path name = directory / "full.vtu";
  for (const std::size_t size : {std::size_t(10), std::size_t(1000000)}) {
    std::ofstream(name) << "old";
    fs::create_symlink("/dev/full", partial_name(name.string()));
    AtomicFile file(name);
    file.stream() << std::string(size, 'x');
    const std::string error = output_error_of([&] { file.commit(); });
    EXPECT_TRUE(contains(error, name.string())) << error;
    EXPECT_TRUE(contains(error, "No space left")) << error;
    EXPECT_TRUE(contains(error, "free some space")) << error;
    EXPECT_EQ(content_of(name), "old");
    EXPECT_EQ(files(), 1u);
  }
}

TEST_F(AtomicFileTest, AFailedStreamIsNotCommitted)
{
  AtomicFile file(directory / "a.txt");
  file.stream() << "half";
  file.stream().setstate(std::ios::failbit);
  EXPECT_THROW(file.commit(), OutputError);
  EXPECT_EQ(files(), 0u);
}

TEST_F(AtomicFileTest, MissingDirectoryAndUnwritableTargetsAreErrorsWithTheReason)
{
  const std::string missing =
      output_error_of([&] { const AtomicFile file(directory / "no" / "a.txt"); });
  EXPECT_TRUE(contains(missing, "No such file or directory")) << missing;
  EXPECT_TRUE(contains(missing, "check that its directory exists")) << missing;
  EXPECT_TRUE(
      contains(output_error_of([&] { const AtomicFile file(directory); }), "not a regular file"));
  EXPECT_TRUE(
      contains(output_error_of([] { const AtomicFile file("/dev/null"); }), "not a regular file"));
  EXPECT_TRUE(contains(output_error_of([] { const AtomicFile file(""); }), "is not a file name"));
}

TEST_F(AtomicFileTest, ADirectoryThatTookTheNameMeanwhileIsAnError)
{
  AtomicFile file(directory / "a");
  fs::create_directory(directory / "a");
  EXPECT_TRUE(contains(output_error_of([&] { file.commit(); }), "Is a directory"));
  EXPECT_FALSE(fs::exists(partial_name((directory / "a").string())));
}

TEST_F(AtomicFileTest, FollowsASymbolicLinkInsteadOfReplacingIt)
{
  fs::create_directory(directory / "elsewhere");
  std::ofstream(directory / "elsewhere" / "real.txt") << "old";
  fs::create_symlink("elsewhere/real.txt", directory / "link.txt");
  AtomicFile file(directory / "link.txt");
  file.stream() << "new";
  file.commit();
  EXPECT_TRUE(fs::is_symlink(directory / "link.txt"));
  EXPECT_EQ(content_of(directory / "elsewhere" / "real.txt"), "new");
}

TEST_F(AtomicFileTest, AFileNameWithoutDirectoryGoesToTheWorkingDirectory)
{
  const fs::path before = fs::current_path();
  fs::current_path(directory);
  AtomicFile file("plain.txt");
  file.stream() << "x";
  file.commit();
  fs::current_path(before);
  EXPECT_EQ(content_of(directory / "plain.txt"), "x");
}

TEST_F(AtomicFileTest, CreateDirectoryMakesAllLevelsAndAcceptsAnExistingOne)
{
  create_output_directory(directory / "a" / "b" / "c");
  EXPECT_TRUE(fs::is_directory(directory / "a" / "b" / "c"));
  EXPECT_NO_THROW(create_output_directory(directory / "a" / "b" / "c/"));
  EXPECT_TRUE(fs::is_empty(directory / "a" / "b" / "c")); // the probe file has been removed
}

TEST_F(AtomicFileTest, CreateDirectoryNamesWhatIsInTheWay)
{
  std::ofstream(directory / "file") << "x";
  EXPECT_TRUE(contains(output_error_of([&] { create_output_directory(directory / "file"); }),
                       "is a file, not a"));
  EXPECT_TRUE(
      contains(output_error_of([&] { create_output_directory(directory / "file" / "sub"); }),
               "Not a directory"));
  EXPECT_TRUE(contains(output_error_of([] { create_output_directory(""); }), "empty"));
  EXPECT_TRUE(contains(output_error_of([] { create_output_directory("/proc"); }),
                       "without permission to create files"));
}

/// Runs as user nobody instead of root during its lifetime, because permissions do not restrict
/// root.
class UnprivilegedUser
{
public:
  UnprivilegedUser() : was_root(::geteuid() == 0)
  {
    if (was_root && ::seteuid(65534) != 0)
      ADD_FAILURE() << "root could not become an ordinary user";
  }

  ~UnprivilegedUser()
  {
    if (was_root && ::seteuid(0) != 0)
      ADD_FAILURE() << "could not become root again";
  }

  UnprivilegedUser(const UnprivilegedUser &) = delete;
  UnprivilegedUser &operator=(const UnprivilegedUser &) = delete;

private:
  bool was_root;
};

TEST_F(AtomicFileTest, WithoutPermissionTheErrorSaysSo)
{
  ::chmod(directory.c_str(), 0555);
  {
    const UnprivilegedUser user;
    for (const auto &error : {output_error_of([&] { create_output_directory(directory); }),
                              output_error_of([&] { create_output_directory(directory / "a"); }),
                              output_error_of([&] { const AtomicFile file(directory / "a.txt"); })})
      EXPECT_TRUE(contains(error, "Permission denied; check the permissions")) << error;
  }
  ::chmod(directory.c_str(), 0755);
}
} // namespace
} // namespace femgpu
