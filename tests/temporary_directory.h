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
/// A temporary directory for one test, removed with its contents by the destructor.
class TemporaryDirectory : public std::filesystem::path
{
public:
  TemporaryDirectory()
  {
    std::string name = (std::filesystem::temp_directory_path() / "femgpu-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw OutputError("No temporary directory '" + name + "' can be made.");
    assign(name);
  }
  ~TemporaryDirectory()
  {
    std::error_code ignored;
    std::filesystem::remove_all(*this, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  /// Writes @p content to a file and returns its path.
  std::string write(const std::string &name, const std::string &content) const
  {
    std::ofstream(*this / name, std::ios::binary) << content;
    return *this / name;
  }
};

inline std::string content_of(const std::filesystem::path &file)
{
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
} // namespace femgpu

#endif
