#include "common/version.h"

#include "femgpu_version.h"

namespace femgpu
{
std::string version_text(const std::string &program, const LibraryVersions &libraries)
{
  const std::string cuda = version::cuda;
  std::string text = program + ' ' + version::version + " (git " + version::git_revision + ")\n";
  for (const auto &[name, number] : libraries)
    text += name + ' ' + number + '\n';
  text += "CUDA " + (cuda.empty() ? "none: only the host backend"
                                  : cuda + ", architectures " + version::cuda_architectures);
  return text + "\ncompiler " + version::compiler + ", " + version::build_type;
}

nlohmann::ordered_json version_values(const LibraryVersions &libraries)
{
  nlohmann::ordered_json values = {{"femgpu", version::version},
                                   {"git_revision", version::git_revision}};
  for (const auto &[name, number] : libraries)
    values[name] = number;
  values["cuda"] = version::cuda;
  values["compiler"] = version::compiler;
  values["build_type"] = version::build_type;
  return values;
}
} // namespace femgpu
