#ifndef femgpu_physics_measurements_h
#define femgpu_physics_measurements_h

#include "physics/measurements/measurement_text.h"
#include "physics/measurements/point_search.h"
#include "physics/measurements/solution_fields.h"
#include "physics/results.h"

#include <deal.II/base/parameter_acceptor.h>

#include <string>
#include <vector>

namespace femgpu
{
/// Section "Measurements".
class MeasurementParameters : public dealii::ParameterAcceptor
{
public:
  MeasurementParameters();

  std::string points, point_fields, lines, integrals, averages, extrema;

  /// The key of a parameter that is not empty; empty if all are.
  std::string used_key() const;
};

/// Values of all fields at points.
struct SampledValues
{
  std::string name;                      ///< of the line; empty for the points
  std::vector<std::string> columns;      ///< names of the numbers
  std::vector<std::string> labels;       ///< of each row, the point's name; empty for a line
  std::vector<std::vector<double>> rows; ///< coordinates, and behind them the fields
};

/// What was measured of one solution.
struct MeasuredValues
{
  std::vector<Quantity> quantities;
  SampledValues points; ///< without rows if no points are asked for
  std::vector<SampledValues> lines;
};

/**
 * Measures solutions: values at points and along lines, integrals and averages over parts of mesh
 * and boundary, extrema with their places; of all fields that SolutionFields knows.
 *
 * Where several cells have a point, on their faces, edges and vertices, its value is the mean of
 * theirs: one number for continuous fields, the usual average for others. Extrema of functions of
 * the finite element space are those of their polynomials, by CellMaximum; those of other fields
 * are the extreme values at the nodes of each cell. Of several points with the value (up to
 * equal_values) the location is the one with the lowest x, then y, then z. The number of ranks
 * changes no result but for rounding.
 */
template <int dim>
class Measurements
{
public:
  /// @throws ParameterError for what cannot be read, and for parts that the mesh lacks. The
  /// discretization and the problem outlive this object.
  Measurements(const MeasurementParameters &parameters, const Discretization<dim> &discretization,
               const Problem<dim> &problem);

  bool empty() const
  {
    return places.empty() && integrals.empty() && extrema.empty();
  }

  /// Collective. Are all fields there, and all points in the mesh? @p u has any values.
  /// @throws ParameterError
  void check(DiscreteSolution<dim> &solution);

  /// Collective. @throws ParameterError for points that are not in the mesh
  MeasuredValues measure(DiscreteSolution<dim> &solution);

private:
  using Reference = typename SolutionFields<dim>::Reference;
  /// An integral, average or extremum.
  struct Job : RegionField
  {
    Reference reference;
  };

  void find_fields(DiscreteSolution<dim> &solution);
  PointSearch<dim> search() const;
  std::vector<std::vector<double>> sample(const PointSearch<dim> &search);
  void measure_points(MeasuredValues &result);
  void measure_integrals(MeasuredValues &result);
  /// A value between nodes that is larger than all of its kind at nodes.
  struct BetweenNodes
  {
    std::size_t index; ///< of −f and f of the extrema's fields f, in turn
    double value;
    dealii::Point<dim> point;
  };
  std::vector<double> largest_at_nodes(CellPoints<dim> &in_cells, CellPoints<dim> &on_faces,
                                       std::vector<double> &of_parts);
  std::vector<BetweenNodes> larger_between_nodes(const std::vector<double> &largest);
  void measure_extrema(MeasuredValues &result);
  template <class Wants, class Visit>
  void for_each_part(const std::vector<Job> &jobs, CellPoints<dim> &in_cells,
                     CellPoints<dim> &on_faces, const Wants &wants, const Visit &visit);

  const Discretization<dim> &discretization;
  SolutionFields<dim> fields;
  std::vector<NamedPlaces<dim>> points, lines;
  std::vector<dealii::Point<dim>> places; ///< the points, and behind them those of the lines
  std::vector<std::string> point_fields;
  std::vector<Reference> point_references;
  std::vector<Job> integrals, extrema; ///< averages are behind the integrals
  std::size_t n_integrals = 0;         ///< without the averages
};

/// What the user has measured by name, and behind it what the physics reports by itself. An
/// extremum that the physics has computed already, with the same definition, is that of the
/// physics; another name that both have gets " (measured)".
std::vector<Quantity> with_measured(std::vector<Quantity> measured,
                                    const std::vector<Quantity> &of_physics);
} // namespace femgpu

#endif
