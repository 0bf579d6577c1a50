#include "physics/measurements/measurements.h"

#include "linalg/base/error.h"
#include "physics/extrema.h"

#include <deal.II/base/bounding_box.h>
#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include <boost/serialization/array.hpp>
#include <boost/serialization/map.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>

namespace femgpu
{
using namespace dealii;

namespace
{
// Coordinates that differ by less than this fraction of the mesh's diagonal count as equal, because
// rounding depends on the number of ranks.
constexpr double location_tolerance = 1e-10;

const std::string points_path = "Measurements/Points", lines_path = "Measurements/Lines",
                  point_fields_path = "Measurements/Point fields",
                  integrals_path = "Measurements/Integrals",
                  averages_path = "Measurements/Averages", extrema_path = "Measurements/Extrema";
} // namespace

MeasurementParameters::MeasurementParameters() : ParameterAcceptor("/Measurements")
{
  add_parameter("Points", points,
                "Points: 'name: x, y, z; name: x, y, z', for example 'tip: 1, 0.5'. Coordinates "
                "are in the unit of the mesh. In each cycle, femgpu evaluates all fields at the "
                "points and writes them to points.csv.");
  add_parameter("Point fields", point_fields,
                "Fields whose values at the points become quantities of the study, separated by "
                "','. Empty: the solution. Valid fields are the components of the solution and the "
                "fields that the physics writes for ParaView. In scalar problems, the components "
                "of the gradient (grad_u_x, ...) are also valid. The components of a vector v are "
                "called v_x, v_y and v_z; its magnitude is called v_magnitude.");
  add_parameter("Lines", lines,
                "Straight lines: 'name: x, y, z -> x, y, z : n; ...', for example 'axis: 0, 0.5 -> "
                "1, 0.5 : 101'. In each cycle, femgpu evaluates all fields at n equidistant points "
                "of each line and writes them to line_NAME_CYCLE.csv.");
  add_parameter(
      "Integrals", integrals,
      "Integrals of fields by Gauss quadrature: 'name: field over region; ...', for example 'heat: "
      "grad_u.n over boundary 0, 3; area: 1 over all'. The region is 'all', 'boundary' (the whole "
      "boundary), 'boundary ids' or 'material ids'. The ids are numbers or names of the mesh. The "
      "field 1 yields the length, area or volume of the region. The field v.n is the component of "
      "a vector v along the outer normal of the boundary.");
  add_parameter("Averages", averages,
                "Averages of fields: integrals divided by the length, area or volume of their "
                "region. The syntax is that of Integrals.");
  add_parameter("Extrema", extrema,
                "Fields whose smallest and largest values femgpu reports, with their locations: "
                "'field; field over region', for example 'u; u over boundary 0'. The extrema of "
                "the solution may lie between nodes. For gradients, fluxes and stresses, only the "
                "values at the nodes of each cell count.");
}

std::string MeasurementParameters::used_key() const
{
  const std::pair<const std::string *, std::string> all[] = {
      {&points, points_path},     {&lines, lines_path},     {&integrals, integrals_path},
      {&averages, averages_path}, {&extrema, extrema_path}, {&point_fields, point_fields_path}};
  for (const auto &[text, path] : all)
    if (text->find_first_not_of(" \t;") != std::string::npos)
      return path;
  return "";
}

template <int dim>
Measurements<dim>::Measurements(const MeasurementParameters &parameters,
                                const Discretization<dim> &discretization,
                                const Problem<dim> &problem)
    : discretization(discretization), fields(discretization, problem),
      points(parse_points<dim>(points_path, parameters.points)),
      lines(parse_lines<dim>(lines_path, parameters.lines)),
      point_fields(entries_of(parameters.point_fields, ','))
{
  const MeshRegions &regions = discretization.mesh().regions;
  std::vector<RegionField> named;
  parse_integrals(integrals_path, parameters.integrals, regions, named);
  n_integrals = named.size();
  parse_integrals(averages_path, parameters.averages, regions, named);
  for (const RegionField &integral : named)
    integrals.push_back({integral, {}});
  for (const RegionField &extremum : parse_extrema(extrema_path, parameters.extrema, regions))
    extrema.push_back({extremum, {}});
  if (!point_fields.empty() && points.empty())
    throw ParameterError(point_fields_path + " is set, but there are no points. Define points in " +
                             points_path + ".",
                         point_fields_path);
  for (const auto *const all : {&points, &lines})
    for (const NamedPoints<dim> &named_points : *all)
      sample_points.insert(sample_points.end(), named_points.points.begin(),
                           named_points.points.end());
}

template <int dim>
void Measurements<dim>::find_fields(DiscreteSolution<dim> &solution)
{
  fields.reinit(solution);
  if (point_fields.empty())
    point_fields = fields.solution_names();
  point_references.clear();
  for (const std::string &word : point_fields)
    point_references.push_back(fields.find(point_fields_path, word, /* on boundary */ false));
  const auto find = [&](const std::string &path, RegionMeasurement &of) {
    of.reference = fields.find(path, of.field, of.region.is_on_boundary);
    const bool is_continuous =
        of.reference.kind == Reference::Kind::one || fields.space_function(of.reference);
    for (const auto id : discretization.mesh().regions.sides_without_direction)
      if (of.region.has_face(id) && !is_continuous)
        throw ParameterError("'" + of.field + "' in " + path + " may differ on the two sides of '" +
                                 of.region.text +
                                 "', which lie in one material. Give each side its own material.",
                             path);
  };
  for (std::size_t i = 0; i < integrals.size(); ++i)
    find(i < n_integrals ? integrals_path : averages_path, integrals[i]);
  for (RegionMeasurement &measurement : extrema)
    find(extrema_path, measurement);
}

template <int dim>
PointSearch<dim> Measurements<dim>::search() const
{
  PointSearch<dim> result = find_points(discretization, sample_points);
  if (result.missing.empty())
    return result;
  const unsigned int index = result.missing.front();
  std::string name;
  std::size_t end = points.size();
  if (index < end)
    name = "'" + points[index].name + "' of " + points_path;
  for (const auto &line : lines) {
    if (index >= end && index < end + line.points.size())
      name = std::to_string(index - end + 1) + " of the line '" + line.name + "' of " + lines_path;
    end += line.points.size();
  }
  const Point<dim> vertex = closest_vertex(discretization, sample_points[index]);
  std::ostringstream text;
  text << "The point " << name << ", (" << sample_points[index]
       << ") is outside the mesh. Move it; the closest vertex of the mesh is (" << vertex << "), "
       << vertex.distance(sample_points[index]) << " away.";
  throw ParameterError(text.str(), index < points.size() ? points_path : lines_path);
}

template <int dim>
void Measurements<dim>::check(DiscreteSolution<dim> &solution)
{
  find_fields(solution);
  search();
}

template <int dim>
std::vector<std::vector<double>> Measurements<dim>::sample(const PointSearch<dim> &search)
{
  // sorted by point and cell, so that means are summed in the same order on any number of ranks
  std::map<std::pair<unsigned int, typename ActiveCell<dim>::Id>, std::vector<double>> values;
  CellPoints<dim> points(discretization, discretization.cell_quadrature());
  PointRows at_point;
  for (const PointInCell<dim> &entry : search.found) {
    points.reinit(entry.cell, Quadrature<dim>(entry.unit));
    fields.evaluate(points, entry.cell, at_point);
    auto &of_cell = values[{entry.index, entry.cell->id()}];
    for (unsigned int column = 0; column < fields.names().size(); ++column)
      of_cell.push_back(at_point[column][0]);
  }
  for (const auto &of_rank : Utilities::MPI::all_gather(discretization.communicator(), values))
    values.insert(of_rank.begin(), of_rank.end());
  std::vector<std::vector<double>> sums(sample_points.size());
  std::vector<unsigned int> n_cells(sample_points.size(), 0);
  for (const auto &[key, of_cell] : values) {
    std::vector<double> &sum = sums[key.first];
    sum.resize(of_cell.size(), 0.);
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += of_cell[i];
    ++n_cells[key.first];
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (double &value : sums[i])
      value /= n_cells[i];
    fields.set_magnitudes(sums[i]); // the magnitude of the mean vector
  }
  return sums;
}

template <int dim>
void Measurements<dim>::measure_points(MeasuredValues &result)
{
  const auto values = sample(search());
  const auto row = [&](const std::size_t index) {
    std::vector<double> numbers(sample_points[index].begin_raw(), sample_points[index].end_raw());
    numbers.insert(numbers.end(), values[index].begin(), values[index].end());
    return numbers;
  };
  std::vector<std::string> columns;
  for (unsigned int d = 0; d < dim; ++d)
    columns.emplace_back(1, axes[d]);
  columns.insert(columns.end(), fields.names().begin(), fields.names().end());
  result.points.columns = columns;
  std::size_t index = 0;
  for (const auto &point : points) {
    for (std::size_t f = 0; f < point_fields.size(); ++f)
      result.quantities.push_back({point.name + " " + point_fields[f],
                                   point_references[f].value(values[index]),
                                   /* has_limit */ true, point_references[f].is_nonnegative});
    result.points.labels.push_back(point.name);
    result.points.rows.push_back(row(index++));
  }
  columns.insert(columns.begin(), "distance");
  for (const auto &line : lines) {
    SampledValues sampled{line.name, columns, {}, {}};
    for (const Point<dim> &point : line.points) {
      sampled.rows.push_back(row(index++));
      sampled.rows.back().insert(sampled.rows.back().begin(), line.points.front().distance(point));
    }
    result.lines.push_back(std::move(sampled));
  }
}

/// For each measurement j of @p region_measurements and each cell or face of this rank in the
/// region of the measurement: calls filter(j) once and, if it returns true, visit(j, points,
/// values) with the values of the measured field. Cells and faces have the same order in each call.
template <int dim>
template <class Filter, class Visit>
void Measurements<dim>::for_each_entity(const std::vector<RegionMeasurement> &region_measurements,
                                        CellPoints<dim> &in_cells, CellPoints<dim> &on_faces,
                                        const Filter &filter, const Visit &visit)
{
  std::vector<std::size_t> requested;
  PointRows of_columns;
  std::vector<double> values;
  const auto visit_entity = [&](CellPoints<dim> &points, const auto &has, const auto &cell,
                                const auto... face) {
    requested.clear();
    for (std::size_t j = 0; j < region_measurements.size(); ++j)
      if (has(region_measurements[j]) && filter(j))
        requested.push_back(j);
    if (requested.empty())
      return;
    points.reinit(cell, face...);
    if (std::any_of(requested.begin(), requested.end(), [&](const std::size_t j) {
          return region_measurements[j].reference.kind != Reference::Kind::one;
        }))
      fields.evaluate(points, cell, of_columns);
    values.resize(points.size());
    for (const std::size_t j : requested) {
      for (unsigned int q = 0; q < values.size(); ++q)
        values[q] = region_measurements[j].reference.value(of_columns, points.batch(), q);
      visit(j, points, values);
    }
  };
  for (const auto &cell : discretization.owned_cells()) {
    visit_entity(
        in_cells,
        [&](const RegionMeasurement &measurement) {
          return measurement.region.has_cell(cell->material_id());
        },
        cell);
    cell->for_each_side([&](const unsigned int face, const types::boundary_id id) {
      visit_entity(
          on_faces,
          [&](const RegionMeasurement &measurement) { return measurement.region.has_face(id); },
          cell, face);
    });
  }
}

template <int dim>
void Measurements<dim>::measure_integrals(MeasuredValues &result)
{
  std::vector<double> sums(2 * integrals.size(), 0.); // for each j: integrals of field and of 1
  CellPoints<dim> in_cells(discretization, discretization.cell_quadrature()),
      on_faces(discretization, discretization.face_quadrature());
  for_each_entity(
      integrals, in_cells, on_faces, [](std::size_t) { return true; },
      [&](const std::size_t j, const CellPoints<dim> &points, const std::vector<double> &values) {
        for (unsigned int q = 0; q < points.size(); ++q) {
          sums[2 * j] += values[q] * points.JxW(q);
          sums[2 * j + 1] += points.JxW(q);
        }
      });
  Utilities::MPI::sum(sums, discretization.communicator(), sums);
  for (std::size_t j = 0; j < integrals.size(); ++j)
    result.quantities.push_back({integrals[j].name,
                                 j < n_integrals ? sums[2 * j] : sums[2 * j] / sums[2 * j + 1],
                                 /* has_limit */ true, integrals[j].reference.is_nonnegative});
}

namespace
{
/// Returns the diagonal of the bounding box of the coarse mesh, which is the same on all ranks.
template <int dim>
double bounding_box_diagonal(const Triangulation<dim> &mesh)
{
  BoundingBox<dim> box = mesh.begin(0)->bounding_box();
  for (const auto &cell : mesh.cell_iterators_on_level(0))
    box.merge_with(cell->bounding_box());
  const auto &[lower, upper] = box.get_boundary_points();
  return lower.distance(upper);
}

/// Compares points by x, then y, then z. Coordinates that differ by at most @p distance count as
/// equal.
template <int dim>
bool is_lexicographically_less(const Point<dim> &a, const Point<dim> &b, const double distance)
{
  for (unsigned int d = 0; d < dim; ++d)
    if (std::abs(a[d] - b[d]) > distance)
      return a[d] < b[d];
  return false;
}

/// Collective. Returns the lexicographically lowest of all ranks' points @p local, with rounding
/// errors around zero removed.
template <int dim>
Point<dim> lowest_of_ranks(const Point<dim> &local, const double distance,
                           const MPI_Comm communicator)
{
  Point<dim> lowest = local;
  for (const auto &point : Utilities::MPI::all_gather(communicator, local))
    if (is_lexicographically_less(point, lowest, distance))
      lowest = point;
  for (unsigned int d = 0; d < dim; ++d)
    if (std::abs(lowest[d]) < distance)
      lowest[d] = 0.;
  return lowest;
}
} // namespace

/// Collective. Returns the largest nodal values of −f and f for the field f of each extremum.
/// Appends to @p entity_maxima the largest values of −f and f on each cell and face that
/// for_each_entity() visits.
template <int dim>
std::vector<double> Measurements<dim>::largest_at_nodes(CellPoints<dim> &in_cells,
                                                        CellPoints<dim> &on_faces,
                                                        std::vector<double> &entity_maxima)
{
  constexpr double none = std::numeric_limits<double>::lowest();
  std::vector<double> largest(2 * extrema.size(), none);
  for_each_entity(
      extrema, in_cells, on_faces, [](std::size_t) { return true; },
      [&](const std::size_t j, const CellPoints<dim> & /* points */,
          const std::vector<double> &values) {
        double minus = none, plus = none;
        for (const double value : values) {
          minus = std::max(minus, -value);
          plus = std::max(plus, value);
        }
        largest[2 * j] = std::max(largest[2 * j], minus);
        largest[2 * j + 1] = std::max(largest[2 * j + 1], plus);
        entity_maxima.insert(entity_maxima.end(), {minus, plus});
      });
  Utilities::MPI::max(largest, discretization.communicator(), largest);
  return largest;
}

/// Returns values between nodes, in cells and on faces of this rank, that exceed the @p largest
/// nodal values.
template <int dim>
auto Measurements<dim>::larger_between_nodes(const std::vector<double> &largest)
    -> std::vector<BetweenNodes>
{
  CellMaximum<dim> maximum(discretization);
  CellPoints<dim> points(discretization, discretization.cell_quadrature());
  Vector<double> u_cell(discretization.element().n_dofs_per_cell());
  std::vector<BetweenNodes> result;
  for (std::size_t j = 0; j < extrema.size(); ++j) {
    const auto function = fields.space_function(extrema[j].reference);
    if (!function || !maximum.may_exceed_nodes({function->component, -1.}))
      continue;
    const double tolerance =
        equal_values * std::max(std::abs(largest[2 * j]), std::abs(largest[2 * j + 1]));
    const auto search = [&](const ActiveCell<dim> &cell, const unsigned int face) {
      cell->get_dof_values(*function->values, u_cell);
      for (const std::size_t k : {2 * j, 2 * j + 1})
        if (const auto found =
                maximum.find(cell, face, u_cell, {function->component, k == 2 * j ? -1. : 1.},
                             largest[k], tolerance)) {
          points.reinit(cell, Quadrature<dim>(found->unit));
          result.push_back({k, found->value, points.batch().points()[0]});
        }
    };
    for (const auto &cell : discretization.owned_cells()) {
      if (extrema[j].region.has_cell(cell->material_id()))
        search(cell, CellMaximum<dim>::entire);
      cell->for_each_side([&](const unsigned int face, const types::boundary_id id) {
        if (extrema[j].region.has_face(id))
          search(cell, face);
      });
    }
  }
  return result;
}

template <int dim>
void Measurements<dim>::measure_extrema(MeasuredValues &result)
{
  const MPI_Comm communicator = discretization.communicator();
  CellPoints<dim> in_cells(discretization, discretization.nodal_quadrature()),
      on_faces(discretization, discretization.nodal_face_quadrature());
  std::vector<double> entity_maxima;
  std::vector<double> largest = largest_at_nodes(in_cells, on_faces, entity_maxima);
  const std::vector<BetweenNodes> between_nodes = larger_between_nodes(largest);
  for (const BetweenNodes &between : between_nodes)
    largest[between.index] = std::max(largest[between.index], between.value);
  Utilities::MPI::max(largest, communicator, largest);

  const double distance =
      location_tolerance * bounding_box_diagonal(discretization.mesh().coarse());
  Point<dim> no_point;
  for (unsigned int d = 0; d < dim; ++d)
    no_point[d] = std::numeric_limits<double>::max();
  std::vector<Point<dim>> lowest(2 * extrema.size(), no_point);
  const auto is_largest = [&](const std::size_t k, const double value) {
    const double scale =
        std::max(std::abs(largest[k]), std::abs(largest[k % 2 == 0 ? k + 1 : k - 1]));
    return value >= largest[k] - equal_values * scale;
  };
  const auto add_candidate = [&](const std::size_t k, const double value, const Point<dim> &at) {
    if (is_largest(k, value) && is_lexicographically_less(at, lowest[k], distance))
      lowest[k] = at;
  };
  std::size_t entity = 0;
  for_each_entity(
      extrema, in_cells, on_faces,
      [&](const std::size_t j) {
        const double *const of_entity = &entity_maxima[2 * entity++];
        return is_largest(2 * j, of_entity[0]) || is_largest(2 * j + 1, of_entity[1]);
      },
      [&](const std::size_t j, const CellPoints<dim> &points, const std::vector<double> &values) {
        const std::vector<Point<dim>> &at = points.batch().points();
        for (std::size_t q = 0; q < at.size(); ++q) {
          add_candidate(2 * j, -values[q], at[q]);
          add_candidate(2 * j + 1, values[q], at[q]);
        }
      });
  for (const BetweenNodes &between : between_nodes)
    add_candidate(between.index, between.value, between.point);
  for (std::size_t k = 0; k < largest.size(); ++k) {
    const std::string name = (k % 2 == 0 ? "min " : "max ") + extrema[k / 2].name;
    result.quantities.push_back({name, (k % 2 == 0 ? -largest[k] : largest[k]) + 0., // avoids −0
                                 /* has_limit */ true, extrema[k / 2].reference.is_nonnegative});
    const Point<dim> position = lowest_of_ranks(lowest[k], distance, communicator);
    for (unsigned int d = 0; d < dim; ++d)
      result.quantities.push_back({name + " at " + axes[d], position[d], false});
  }
}

template <int dim>
MeasuredValues Measurements<dim>::measure(DiscreteSolution<dim> &solution)
{
  MeasuredValues result;
  find_fields(solution);
  if (!sample_points.empty())
    measure_points(result);
  if (!integrals.empty())
    measure_integrals(result);
  if (!extrema.empty())
    measure_extrema(result);
  return result;
}

std::vector<Quantity> with_measured(std::vector<Quantity> measured,
                                    const std::vector<Quantity> &of_physics)
{
  std::vector<Quantity> others;
  for (const Quantity &quantity : of_physics) {
    const auto same = std::find_if(measured.begin(), measured.end(), [&](const Quantity &other) {
      return other.name == quantity.name;
    });
    const bool is_extremum =
        quantity.name.rfind("max ", 0) == 0 || quantity.name.rfind("min ", 0) == 0;
    if (same != measured.end() && is_extremum) {
      *same = quantity;
      continue;
    }
    if (same != measured.end())
      same->name += " (measured)";
    others.push_back(quantity);
  }
  measured.insert(measured.end(), others.begin(), others.end());
  return measured;
}

template class Measurements<2>;
template class Measurements<3>;
} // namespace femgpu
