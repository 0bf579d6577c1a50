#ifndef femgpu_app_abaqus_deck_h
#define femgpu_app_abaqus_deck_h

#include "physics/mesh/abaqus_sets.h"
#include "physics/mesh/abaqus_text.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace femgpu
{
/// A *MATERIAL, with the data lines of its keywords.
struct AbaqusMaterial
{
  std::string name;
  std::vector<std::vector<double>> elastic, expansion, density, conductivity;
  double zero = 0.; ///< ZERO of *EXPANSION
  bool has_orthotropic_conductivity = false;
};

/// A *SOLID SECTION that has cells.
struct AbaqusSection
{
  std::string set; ///< name of its element set in the mesh
  const AbaqusMaterial *material;
  double thickness; ///< 1 in 3D
};

/// A load on sides, such as those of *DSLOAD and *FILM.
struct AbaqusSurfaceLoad
{
  std::string surface; ///< name of the sides in the mesh
  std::string label;   ///< P, TRVEC, S, F or R, followed by letters for other kinds
  std::vector<double> values;
  std::size_t line;
};

/**
 * The mesh, the materials and the first step of an input file of Abaqus or CalculiX.
 */
class AbaqusDeck
{
public:
  /// @param contents contents of the file @p name
  /// @throws InputError "FILE:LINE: …" as translate_abaqus_file() throws
  AbaqusDeck(const std::string &name, const std::string &contents);

  /// Adds "FILE:LINE: @p what" to `not_translated`.
  void note(std::size_t line, const std::string &what);

  /// Returns the name of the sides that @p upper_name, in upper case, denotes. If there are none,
  /// lists @p keyword with the reason and returns an empty text.
  std::string sides(const std::string &upper_name, const std::string &keyword, std::size_t line);

  /// Parses value number @p i of a condition; 0 if it is blank. @throws InputError if it is no
  /// number
  double number(const AbaqusCondition &condition, std::size_t i) const;

  std::string name;
  int dim;
  AbaqusModel model;
  std::size_t n_cells = 0;
  std::string procedure; ///< keyword and line of the procedure of the first step
  bool is_heat = false;  ///< whether the first step is thermal
  std::vector<AbaqusSection> sections;
  std::vector<std::size_t> section_of; ///< by cell, an index in `sections`
  std::vector<AbaqusSurfaceLoad> surface_loads;
  double absolute_zero = 0., stefan_boltzmann = 0.; ///< of *PHYSICAL CONSTANTS
  /// "FILE:LINE: *KEYWORD: reason" for what the translation lacks.
  std::vector<std::string> not_translated;

private:
  void read_keyword();
  void begin_step();
  void read_procedure();
  bool read_material();
  void read_surface_loads();
  void read_sections();
  void note_keyword(const std::string &reason);
  std::string option(const std::string &key) const;

  AbaqusText text;
  std::size_t n_steps = 0;
  std::map<std::string, AbaqusMaterial> materials; ///< by name in upper case
  AbaqusMaterial *material = nullptr;              ///< the last *MATERIAL
};
} // namespace femgpu

#endif
