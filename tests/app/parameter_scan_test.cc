#include "app/parameter_scan.h"
#include "linalg/base/error.h"
#include "tests/app/message_checks.h"
#include "tests/temporary_directory.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <iostream>
#include <sstream>
#include <string>

namespace femgpu
{
namespace
{
class ReadParameterSource : public testing::Test
{
protected:
  std::string write(const std::string &name, const std::string &text) const
  {
    return temporary.write(name, text);
  }

  static std::string error_of(const std::string &path)
  {
    try {
      read_parameter_source(path);
    }
    catch (const InputError &error) {
      return error.what();
    }
    ADD_FAILURE() << "no error for " << path;
    return {};
  }

  const TemporaryDirectory temporary;
  const std::filesystem::path directory = temporary.path;
};

TEST_F(ReadParameterSource, ReadsAFileAndStandardInput)
{
  const ParameterSource file = read_parameter_source(write("run.prm", "set A = 1\n"));
  EXPECT_EQ(file.name, (directory / "run.prm").string());
  EXPECT_EQ(file.text, "set A = 1\n");

  std::istringstream input("set B = 2\n");
  std::streambuf *const before = std::cin.rdbuf(input.rdbuf());
  const ParameterSource piped = read_parameter_source("-");
  std::cin.rdbuf(before);
  EXPECT_EQ(piped.name, "<standard input>");
  EXPECT_EQ(piped.text, "set B = 2\n");
}

TEST_F(ReadParameterSource, MissingFileNamesASimilarOne)
{
  write("poisson.prm", "");
  const std::string error = error_of((directory / "possion.prm").string());
  EXPECT_TRUE(holds(error, "No such file")) << error;
  EXPECT_TRUE(holds(error, "did you mean '" + (directory / "poisson.prm").string() + "'?"))
      << error;
}

TEST_F(ReadParameterSource, DirectoryBinaryHugeAndEmptyFilesAreRefused)
{
  EXPECT_TRUE(holds(error_of(directory.string()), "is a directory"));
  EXPECT_TRUE(
      holds(error_of(write("binary", std::string("a\nb\0c", 5))), ":2: byte 0 at offset 3"));
  EXPECT_TRUE(holds(error_of(write("huge", std::string((16u << 20u) + 1, ' '))), "16 MiB"));
  const std::string blanks(16u << 20u, ' ');
  EXPECT_EQ(read_parameter_source(write("big", "end" + blanks.substr(3))).text.size(), 16u << 20u);
  EXPECT_TRUE(holds(error_of(write("blank", blanks)), "no parameter is set here"));
}
} // namespace
} // namespace femgpu
