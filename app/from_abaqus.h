#ifndef femgpu_app_from_abaqus_h
#define femgpu_app_from_abaqus_h

#include <string>
#include <vector>

namespace femgpu
{
/// A parameter file made from an input file of Abaqus or CalculiX.
struct AbaqusTranslation
{
  std::string parameter_file; ///< its text; comments list what is not translated
  /// "FILE:LINE: *KEYWORD: reason" for each condition or property that the parameter file lacks.
  std::vector<std::string> not_translated;
};

/**
 * Translates the first step of an input file of Abaqus or CalculiX, a linear static or a steady
 * thermal one, into a parameter file. docs/from_abaqus.md lists the keywords and the keys. The
 * parameter file reads the mesh from the same input file.
 * @param name path of the input file, which becomes Mesh/File
 * @throws InputError "FILE:LINE: …" if the file is damaged, has no step, or if femgpu does not
 * support the procedure of its first step or its elements
 */
AbaqusTranslation translate_abaqus_file(const std::string &name);
} // namespace femgpu

#endif
