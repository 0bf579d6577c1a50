#ifndef femgpu_common_version_h
#define femgpu_common_version_h

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// Versions of libraries that only one of the programs uses: name and version.
using LibraryVersions = std::vector<std::pair<std::string, std::string>>;

/// What `--version` prints: program, git revision, libraries, CUDA, compiler.
std::string version_text(const std::string &program, const LibraryVersions &libraries = {});

/// The same for machines.
nlohmann::ordered_json version_values(const LibraryVersions &libraries = {});
} // namespace femgpu

#endif
