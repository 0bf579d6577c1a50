#ifndef femgpu_tests_temporary_directory_h
#define femgpu_tests_temporary_directory_h

#include "linalg/base/error.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace femgpu
{
/// A directory of its own for each test, removed with all that is in it.
class TemporaryDirectory
{
public:
  TemporaryDirectory()
  {
    std::string name = (std::filesystem::temp_directory_path() / "femgpu-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw OutputError("No temporary directory '" + name + "' can be made.");
    path = name;
  }
  ~TemporaryDirectory()
  {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  std::string operator/(const std::string &name) const
  {
    return (path / name).string();
  }

  /// Writes @p content to a file and returns its path.
  std::string write(const std::string &name, const std::string &content) const
  {
    std::ofstream(path / name, std::ios::binary) << content;
    return *this / name;
  }

  std::filesystem::path path;
};

inline std::string content_of(const std::string &file)
{
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
} // namespace femgpu

#endif
