#include "physics/mesh/mesh_program.h"

#include "common/atomic_file.h"
#include "common/process.h"
#include "linalg/base/error.h"
#include "physics/mesh/mesh.h"
#include "physics/mesh/mesh_text.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace femgpu
{
namespace
{
/// Returns the first messages that are marked as errors, separated by "; ".
std::string errors_in(const std::string &output)
{
  constexpr int most = 3;
  std::istringstream text(output);
  std::string errors;
  int n = 0;
  for (std::string line; std::getline(text, line) && n < most;)
    if (const std::size_t at = line.find("Error   : "); at != std::string::npos) {
      errors += (n++ > 0 ? "; " : ": ") + line.substr(at + 10);
      while (errors.back() == '\r' || errors.back() == '.')
        errors.pop_back();
    }
  return errors;
}
} // namespace

MeshProgram::MeshProgram(const MeshParameters &parameters, const std::string &stem,
                         const std::string &name, const char *const variable,
                         const std::string &program, const std::string &cure)
    : stem((std::filesystem::path(parameters.made_in) / stem).string()), name(name),
      program(program), cure(cure + ", or set the environment variable " + variable +
                             " to the path of " + name + "."),
      time_limit(parameters.meshing_time_limit)
{
  if (const char *const other = std::getenv(variable); other != nullptr && *other != '\0')
    this->program = other;
}

std::string MeshProgram::run(const std::vector<std::string> &arguments,
                             const std::string &purpose) const
{
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::string log = path(".log");
  const ProcessEnd end = run_process(words, log, time_limit);
  std::string command;
  for (const std::string &word : words)
    command += (command.empty() ? "" : " ") + word;
  std::string output = contents_of_file(log).value_or("");
  write_file(log, command + '\n' + output);
  if (end.kind == ProcessEnd::Kind::not_started)
    throw InputError("Mesh/File needs the program " + name + ", but '" + program + "' " +
                     end.description() + ". " + cure);
  if (end.kind == ProcessEnd::Kind::timed_out)
    throw InputError(name + " was stopped because it ran longer than Mesh/Meshing time limit, " +
                     std::to_string(static_cast<long long>(time_limit)) +
                     " s. Raise the limit, or use larger cells. Its output is in '" + log + "'.");
  const std::string errors = errors_in(output);
  if (!end.succeeded() || !errors.empty())
    throw InputError(name + " could not " + purpose + ": it " +
                     (end.succeeded() ? "reported errors" : end.description()) + errors +
                     (end.kind == ProcessEnd::Kind::signalled ? ". The file may be damaged" : "") +
                     ". Its whole output is in '" + log + "', which begins with the command.");
  return output;
}
} // namespace femgpu
