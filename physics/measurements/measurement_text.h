#ifndef femgpu_physics_measurement_text_h
#define femgpu_physics_measurement_text_h

#include "physics/base/regions.h"

#include <deal.II/base/point.h>
#include <deal.II/base/types.h>

#include <set>
#include <string>
#include <vector>

/**
 * @file
 * The parameters of the section "Measurements", and how they are written. All functions throw
 * ParameterError that names the entry and shows how it is written.
 */
namespace femgpu
{
/// A place where fields are evaluated, or those of a line: at equal distances from one end to the
/// other, both included.
template <int dim>
struct NamedPlaces
{
  std::string name;
  std::vector<dealii::Point<dim>> points;
};

/// What is integrated over or searched for an extremum: cells, or faces at the boundary.
struct MeasuredRegion
{
  bool is_on_boundary = false;
  std::set<dealii::types::boundary_id> boundary_ids; ///< of faces
  std::set<dealii::types::material_id> material_ids; ///< of cells; empty for all cells
  std::string text; ///< for names: "boundary inlet+3"; empty for all

  bool has_cell(const dealii::types::material_id id) const
  {
    return !is_on_boundary && (material_ids.empty() || material_ids.count(id) > 0);
  }
  bool has_face(const dealii::types::boundary_id id) const
  {
    return boundary_ids.count(id) > 0;
  }
};

/// A field over a region.
struct RegionField
{
  std::string name; ///< of the quantity; empty where the parameter gives none
  std::string field;
  MeasuredRegion region;
};

/// Reads "name: x, y; name: x, y".
template <int dim>
std::vector<NamedPlaces<dim>> parse_points(const std::string &path, const std::string &text);

/// Reads "name: x, y -> x, y : n; ..." with n >= 2 points.
template <int dim>
std::vector<NamedPlaces<dim>> parse_lines(const std::string &path, const std::string &text);

/**
 * Appends "name: field over region; ...", where the region is `all`, `boundary ids`, `boundary`
 * (all of it) or `material ids`, to @p integrals, whose names are taken.
 */
void parse_integrals(const std::string &path, const std::string &text, const MeshRegions &regions,
                     std::vector<RegionField> &integrals);

/// Reads "field over region; field", without a name and with all cells if no region is given.
std::vector<RegionField> parse_extrema(const std::string &path, const std::string &text,
                                       const MeshRegions &regions);
} // namespace femgpu

#endif
