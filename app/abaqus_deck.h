#ifndef femgpu_app_abaqus_deck_h
#define femgpu_app_abaqus_deck_h

#include "app/abaqus_fields.h"
#include "physics/mesh/abaqus_sets.h"

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// A *MATERIAL.
struct AbaqusMaterial
{
  std::string name;
  std::map<std::string, AbaqusTable> properties = {}; ///< by keyword
  double zero = 0.;                                   ///< ZERO of *EXPANSION
  bool has_orthotropic_conductivity = false;

  /// Returns the data lines of @p keyword; empty if the material lacks the property.
  const AbaqusTable &operator[](const std::string &keyword) const
  {
    static const AbaqusTable none;
    const auto found = properties.find(keyword);
    return found == properties.end() ? none : found->second;
  }
};

/// A *SOLID SECTION that has cells.
struct AbaqusSection
{
  std::string set; ///< name of its element set in the mesh
  const AbaqusMaterial *material;
  double thickness; ///< 1 in 3D
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

  /// Returns the lines of @p keyword up to the end of the first step. Loads and prescribed values
  /// have been multiplied by their amplitudes at the end of the step.
  std::vector<const AbaqusRow *> rows(const std::string &keyword) const;

  /// Adds "FILE:LINE: @p what" to `not_translated`.
  void note(MeshLocation location, const std::string &what);

  /// Returns the name of the sides that @p name, in any case, denotes. If there are none, lists @p
  /// keyword with the reason and returns an empty text.
  std::string sides(const std::string &name, const std::string &keyword, MeshLocation location);

  /// Parses field number @p i of a line; 0 if it is blank. @throws InputError if it is no number
  double number(const AbaqusRow &row, std::size_t i) const;

  std::string name;
  int dim;
  AbaqusModel model;
  std::size_t n_cells = 0;
  std::string procedure; ///< keyword and line of the procedure of the first step
  bool is_heat = false;  ///< whether the first step is thermal
  std::vector<AbaqusSection> sections;
  std::vector<std::size_t> section_of; ///< by cell, an index in `sections`
  double merge_distance = 0.; ///< Mesh/Merge nodes for *TIE; 0 if the parameter is not needed
  double absolute_zero = 0., stefan_boltzmann = 0.; ///< of *PHYSICAL CONSTANTS
  /// "FILE:LINE: *KEYWORD: reason" for what the translation lacks.
  std::vector<std::string> not_translated;

private:
  void read(AbaqusBlock &block);
  void begin_step(const AbaqusBlock &block);
  void read_procedure(const AbaqusBlock &block);
  bool read_material(const AbaqusBlock &block);
  void read_amplitude(const AbaqusBlock &block);
  void read_sections();
  void read_ties();
  std::set<std::array<double, 3>> corners(const std::string &name) const;
  void apply_amplitudes(AbaqusBlock &block);
  void remove_supports_before_the_step();
  void note_keyword(const AbaqusBlock &block, const std::string &reason);
  [[noreturn]] void fail(MeshLocation location, const std::string &message) const;

  std::size_t n_steps = 0;
  double end_time = 1.;                            ///< of the first step
  std::map<std::string, AbaqusMaterial> materials; ///< by name in upper case
  AbaqusMaterial *material = nullptr;              ///< the last *MATERIAL
  std::map<std::string, AbaqusTable> amplitudes;   ///< factors and times, by name in upper case
};
} // namespace femgpu

#endif
