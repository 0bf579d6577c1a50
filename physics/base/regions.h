#ifndef femgpu_physics_base_regions_h
#define femgpu_physics_base_regions_h

#include "expressions/expression_parser.h"

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
  dealii::types::boundary_id id;             ///< of a curve: that of its edges
  std::set<std::array<double, 3>> points;    ///< vertices of the coarse mesh
  std::set<std::array<double, 3>> mid_sides; ///< of points: middles of edges of the coarse mesh
};

/// The types of elements that a mesh file names, as CPS4 of Abaqus, and where: "FILE:LINE".
using ElementTypes = std::map<std::string, std::string>;

/// The ids that parts of a mesh of one dimension have, and the names that the mesh file gives them,
/// if it has any.
struct NamedIds
{
  using Id = unsigned int; ///< of deal.II's boundaries and materials

  std::set<Id> ids;
  std::map<std::string, Id> names;
  /// Names that stand for no id, with the reason and the cure.
  std::map<std::string, std::string> unusable;

  /// For messages: "0, 3 (inlet)"
  std::string list(const std::set<Id> &of) const;
  std::string list() const
  {
    return list(ids);
  }
};

/**
 * The parts of a mesh that parameters speak of: of its boundary, by boundary id, and of its volume,
 * by material id; and what users have given names for expressions.
 */
struct MeshRegions
{
  using BoundaryId = dealii::types::boundary_id;
  using MaterialId = dealii::types::material_id;

  NamedIds boundaries, materials;
  std::vector<LowerPart> lower_parts;
  ElementTypes cell_types;
  linalg::ExpressionDefinitions definitions;

  /// nullptr if @p id is that of sides.
  const LowerPart *lower_part(BoundaryId id) const;
  /// nullptr if no curve and no points have this name.
  const LowerPart *lower_part(const std::string &name) const;

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

  /// For messages: "; curves top edge; points tip", or nothing
  std::string lower_list() const;

  /// A name of a part of the boundary, a curve or points, or the number.
  std::string name_of(BoundaryId id) const;
};
} // namespace femgpu

#endif
