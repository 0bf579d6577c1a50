#ifndef femgpu_physics_regions_h
#define femgpu_physics_regions_h

#include "linalg/expressions/expression_parser.h"

#include <deal.II/base/types.h>

#include <map>
#include <set>
#include <string>

namespace femgpu
{
/**
 * The parts of a mesh that parameters speak of: of its boundary, by boundary id, and of its volume,
 * by material id; the names that the mesh file gives them, if it has any; and what users have
 * given names for expressions.
 */
struct MeshRegions
{
  using BoundaryId = dealii::types::boundary_id;
  using MaterialId = dealii::types::material_id;

  std::set<BoundaryId> boundary_ids;
  std::set<MaterialId> material_ids;
  std::map<std::string, BoundaryId> boundary_names;
  std::map<std::string, MaterialId> material_names;
  /// Names that stand for no id, with the reason and the cure.
  std::map<std::string, std::string> unusable_boundary_names, unusable_material_names;
  linalg::ExpressionDefinitions definitions;

  /**
   * The id that @p word, a number or a name, stands for.
   * @param path "Section/Key" of the parameter that has the word
   * @throws ParameterError that says which ids and names there are, for a word that is neither and
   *         for an id that the mesh has not
   */
  BoundaryId boundary(const std::string &path, const std::string &word) const;
  /// The same for materials.
  MaterialId material(const std::string &path, const std::string &word) const;

  /// For messages: "0, 3 (inlet)".
  std::string boundary_list() const;
  std::string material_list() const;
};
} // namespace femgpu

#endif
