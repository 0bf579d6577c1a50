#ifndef femgpu_physics_base_regions_h
#define femgpu_physics_base_regions_h

#include "expressions/expression_parser.h"

#include <deal.II/base/types.h>

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace femgpu
{
/// The time t at which expressions are evaluated; nullptr if the analysis has no time.
using Clock = std::shared_ptr<const double>;

/// A named curve in 3D, or a named set of points. Boundary conditions refer to it by a boundary id
/// that no boundary face has.
struct CurveOrPointSet
{
  int dimension; ///< 1: a curve, 0: points
  std::string name;
  dealii::types::boundary_id id;             ///< a curve's edges have this boundary id
  std::set<std::array<double, 3>> points;    ///< its vertices in the coarse mesh
  std::set<std::array<double, 3>> midpoints; ///< in a point set: its midpoints of coarse edges
};

/// The places that a parameter may name: faces of the boundary, also sides inside the body, or also
/// curves and point sets.
enum class Places
{
  boundary,
  sides,
  sides_curves_and_points
};

/// The element types in a mesh file, such as CPS4 of Abaqus, each with its location "FILE:LINE".
using ElementTypes = std::map<std::string, std::string>;

/// The ids of all boundaries, or of all materials, of a mesh, and the names that its file defines.
/// Groups of the file may overlap: each set of elements that are in the same groups has an id, and
/// a name denotes the ids of all elements in its group.
struct NamedIds
{
  using Id = unsigned int; ///< type of deal.II's boundary and material ids

  std::set<Id> ids;
  std::set<Id> inner; ///< ids of sides inside the body, which no boundary face has
  std::map<std::string, std::set<Id>> names;
  /// Names that denote no id, each with the reason and the remedy.
  std::map<std::string, std::string> unusable;

  /// Returns a list of the ids @p of, with their names, for messages: "0, 3 (inlet)".
  std::string list(const std::set<Id> &of) const;
  /// Returns all ids and their names, for messages.
  std::string list() const
  {
    return list(ids) + (inner.empty() ? "" : "; inside the body " + list(inner));
  }
  /// Returns the smallest id that is larger than all others.
  Id unused() const;
};

/**
 * The regions of a mesh that parameters refer to: boundaries by boundary id, volumes by material
 * id. Also holds what expressions may use: the user's definitions and the time.
 */
struct MeshRegions
{
  using BoundaryId = dealii::types::boundary_id;
  using Ids = std::set<NamedIds::Id>;

  NamedIds boundaries, materials;
  /// The ids of sides inside the body that have the same material on both sides. The normal vector
  /// of other inner sides points out of the material with the smaller id.
  Ids sides_without_direction;
  std::vector<CurveOrPointSet> curves_and_point_sets;
  ElementTypes cell_types;
  linalg::ExpressionDefinitions definitions;
  Clock clock;

  /// Returns the curve or point set with this id; nullptr if the id belongs to boundary faces.
  const CurveOrPointSet *curve_or_point_set(BoundaryId id) const;
  /// Returns the curve or point set with this name; nullptr if there is none.
  const CurveOrPointSet *curve_or_point_set(const std::string &name) const;

  /**
   * Returns the ids that @p word, a number or a name, denotes.
   * @param path "Section/Key" of the parameter that contains the word
   * @throws ParameterError that lists the ids and names of the mesh if @p word is none of them
   * @throws ParameterError if the name denotes no id (NamedIds::unusable), or a place that
   * @p allowed excludes
   */
  Ids places(const std::string &path, const std::string &word, Places allowed) const;
  /// Returns the ids of boundary faces that @p word denotes. @throws ParameterError as places()
  /// does
  Ids boundary(const std::string &path, const std::string &word) const
  {
    return places(path, word, Places::boundary);
  }
  /// Returns the material ids that @p word, a number or a name, denotes.
  /// @throws ParameterError if it denotes no id
  Ids material(const std::string &path, const std::string &word) const;

  /// Returns the regions without a clock, for data that must not depend on the time.
  MeshRegions without_time() const
  {
    MeshRegions result = *this;
    result.clock = nullptr;
    return result;
  }

  /// Returns all names of curves and point sets for messages, such as "; curves rim; points tip".
  std::string list_of_curves_and_point_sets() const;

  /// Returns the name of the boundary, curve or point set that consists of @p id alone, or the id
  /// itself if there is no such name.
  std::string name_of(BoundaryId id) const;
};
} // namespace femgpu

#endif
