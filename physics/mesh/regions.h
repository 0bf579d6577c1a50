#ifndef femgpu_physics_regions_h
#define femgpu_physics_regions_h

#include "linalg/expressions/expression_parser.h"

#include <deal.II/base/types.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace femgpu
{
/// A curve in 3D, or points, with a name. For conditions it is a part of the boundary with an id
/// that no side has.
struct LowerPart
{
  int dimension; ///< 1: a curve, 0: points
  std::string name;
  dealii::types::boundary_id id;          ///< of a curve: that of its edges
  std::set<std::array<double, 3>> points; ///< vertices of the coarse mesh
};

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
  std::vector<LowerPart> lower_parts;
  /// Names that stand for no id, with the reason and the cure.
  std::map<std::string, std::string> unusable_boundary_names, unusable_material_names;
  linalg::ExpressionDefinitions definitions;

  /// Is @p name that of a part of the boundary, a curve or points?
  bool has_name_of_boundary(const std::string &name) const;
  /// nullptr if @p id is that of sides.
  const LowerPart *lower_part(BoundaryId id) const;

  /**
   * The id that @p word, a number or a name, stands for.
   * @param path "Section/Key" of the parameter that has the word
   * @throws ParameterError that says which ids and names there are, for a word that is neither and
   *         for an id that the mesh has not
   */
  BoundaryId boundary(const std::string &path, const std::string &word) const;
  /// The same, where curves and points may be named, too.
  BoundaryId boundary_or_lower(const std::string &path, const std::string &word) const;
  /// The same for materials.
  MaterialId material(const std::string &path, const std::string &word) const;

  /// For messages: "0, 3 (inlet)".
  std::string boundary_list() const;
  std::string material_list() const;
  /// "; curves top edge; points tip", or nothing
  std::string lower_list() const;

  /// A name of a part of the boundary, a curve or points, or the number.
  std::string name_of(BoundaryId id) const;
};
} // namespace femgpu

#endif
