#ifndef femgpu_physics_mesh_program_h
#define femgpu_physics_mesh_program_h

#include <string>
#include <vector>

namespace femgpu
{
struct MeshParameters;

/// A program that makes or converts mesh files, such as gmsh. Its files are in
/// MeshParameters::made_in and have a common stem; its output, FILE.log, begins with the command.
class MeshProgram
{
public:
  /**
   * @param name name for messages
   * @param program the program, which the environment variable @p variable replaces
   * @param cure advice for a missing program
   */
  MeshProgram(const MeshParameters &parameters, const std::string &stem, const std::string &name,
              const char *variable, const std::string &program, const std::string &cure);

  /// Returns the path of the program's file with this extension.
  std::string path(const std::string &extension) const
  {
    return stem + extension;
  }

  /**
   * Runs the program and returns its output.
   * @param purpose completes "PROGRAM could not ..."
   * @throws InputError if the program is missing, fails, exceeds Mesh/Meshing time limit, or marks
   * lines of its output by "Error   : ", as gmsh does
   */
  std::string run(const std::vector<std::string> &arguments, const std::string &purpose) const;

private:
  std::string stem, name, program, cure;
  double time_limit;
};
} // namespace femgpu

#endif
