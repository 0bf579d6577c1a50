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
 * The syntax of the parameters of section "Measurements". All functions throw a ParameterError that
 * names the entry and shows the correct syntax.
 */
namespace femgpu
{
/// A named point where fields are evaluated, or the equidistant points of a line, including both
/// ends.
template <int dim>
struct NamedPoints
{
  std::string name;
  std::vector<dealii::Point<dim>> points;
};

/// The cells or boundary faces over which a field is integrated or searched for an extremum.
struct MeasuredRegion
{
  bool is_on_boundary = false;
  std::set<dealii::types::boundary_id> boundary_ids; ///< boundary ids of the faces
  std::set<dealii::types::material_id> material_ids; ///< material ids of cells; empty: all cells
  std::string text; ///< as in names of quantities: "boundary inlet+3"; empty for all cells

  bool has_cell(const dealii::types::material_id id) const
  {
    return !is_on_boundary && (material_ids.empty() || material_ids.count(id) > 0);
  }
  bool has_face(const dealii::types::boundary_id id) const
  {
    return boundary_ids.count(id) > 0;
  }
};

/// A field to be measured on a region.
struct RegionField
{
  std::string name; ///< name of the quantity; of an extremum, without "min" or "max"
  std::string field;
  MeasuredRegion region;
};

/// Parses "name: x, y; name: x, y".
template <int dim>
std::vector<NamedPoints<dim>> parse_points(const std::string &path, const std::string &text);

/// Parses "name: x, y -> x, y : n; ..." with n >= 2 points.
template <int dim>
std::vector<NamedPoints<dim>> parse_lines(const std::string &path, const std::string &text);

/**
 * Parses "name: field over region; ..." and appends the entries to @p integrals, whose names may
 * not be repeated. The region is `all`, `boundary ids`, `boundary` (all of it) or `material ids`.
 */
void parse_integrals(const std::string &path, const std::string &text, const MeshRegions &regions,
                     std::vector<RegionField> &integrals);

/// Parses "field over region; field; ...". An entry without a region refers to all cells. The
/// entry, such as "u over boundary 0", becomes the name and may not be repeated.
std::vector<RegionField> parse_extrema(const std::string &path, const std::string &text,
                                       const MeshRegions &regions);
} // namespace femgpu

#endif
