#ifndef femgpu_common_version_h
#define femgpu_common_version_h

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// Names and versions of libraries that only one of the programs uses.
using LibraryVersions = std::vector<std::pair<std::string, std::string>>;

/// Returns the text of `--version`: program, git revision, libraries, CUDA, compiler.
std::string version_text(const std::string &program, const LibraryVersions &libraries = {});

/// Returns the versions as JSON, without the program's name.
nlohmann::ordered_json version_values(const LibraryVersions &libraries = {});
} // namespace femgpu

#endif
