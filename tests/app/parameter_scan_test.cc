#include "app/parameter_scan.h"
#include "linalg/base/error.h"
#include "tests/message_checks.h"
#include "tests/temporary_directory.h"

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
  static std::string error_of(const std::string &path)
  {
    return text_of_error<InputError>(ExitCode::input, [&] { read_parameter_source(path); });
  }

  TemporaryDirectory directory;
};

TEST_F(ReadParameterSource, ReadsAFileAndStandardInput)
{
  const ParameterSource file = read_parameter_source(directory.write("run.prm", "set A = 1\n"));
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
  directory.write("poisson.prm", "");
  const std::string error = error_of((directory / "possion.prm").string());
  EXPECT_TRUE(contains(error, "No such file")) << error;
  EXPECT_TRUE(contains(error, "did you mean '" + (directory / "poisson.prm").string() + "'?"))
      << error;
}

TEST_F(ReadParameterSource, DirectoryBinaryHugeAndEmptyFilesAreRefused)
{
  EXPECT_TRUE(contains(error_of(directory.string()), "is a directory"));
  EXPECT_TRUE(contains(error_of(directory.write("binary", std::string("a\nb\0c", 5))),
                       ":2: byte 0 at offset 3"));
  EXPECT_TRUE(
      contains(error_of(directory.write("huge", std::string((16u << 20u) + 1, ' '))), "16 MiB"));
  const std::string blanks(16u << 20u, ' ');
  EXPECT_EQ(read_parameter_source(directory.write("big", "end" + blanks.substr(3))).text.size(),
            16u << 20u);
  EXPECT_TRUE(contains(error_of(directory.write("blank", blanks)), "sets no parameter"));
}
} // namespace
} // namespace femgpu
