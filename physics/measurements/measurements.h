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

  /// Returns the "Section/Key" of a parameter that is not empty; "" if all parameters are empty.
  std::string used_key() const;
};

/// Values of all fields at points.
struct SampledValues
{
  std::string name;                      ///< name of the line; empty for points
  std::vector<std::string> columns;      ///< column names
  std::vector<std::string> labels;       ///< for each row the name of the point; empty for a line
  std::vector<std::vector<double>> rows; ///< by point: distance (lines only), coordinates, fields
};

/// The results of all measurements of one solution.
struct MeasuredValues
{
  std::vector<Quantity> quantities;
  SampledValues points; ///< without rows if no points are requested
  std::vector<SampledValues> lines;
};

/**
 * Measures solutions: values at points and along lines, integrals and averages over regions, and
 * extrema with their locations. All fields of SolutionFields are available.
 *
 * A point on faces, edges or vertices may belong to several cells. Its value is the mean of the
 * cells' values: the common value for continuous fields, the usual average for discontinuous ones.
 * For functions in the finite element space, CellMaximum finds the extrema of the polynomials. For
 * other fields, the nodal values of all cells are compared. If several points have the extreme
 * value (up to equal_values), the location is the point with the lowest x, then y, then z. Results
 * depend on the number of ranks by rounding only.
 */
template <int dim>
class Measurements
{
public:
  /// @p discretization and @p problem must outlive this object.
  /// @throws ParameterError if @p parameters have a syntax error or name a region that does not
  /// exist
  Measurements(const MeasurementParameters &parameters, const Discretization<dim> &discretization,
               const Problem<dim> &problem);

  bool empty() const
  {
    return sample_points.empty() && integrals.empty() && extrema.empty();
  }

  /// Collective. Checks that all fields exist and that all points are in the mesh. The values of
  /// @p solution are irrelevant.
  /// @throws ParameterError if a field does not exist or a point is not in the mesh
  void check(DiscreteSolution<dim> &solution);

  /// Collective. Evaluates all measurements.
  /// @throws ParameterError if a point is not in the mesh
  MeasuredValues measure(DiscreteSolution<dim> &solution);

private:
  using Reference = typename SolutionFields<dim>::Reference;
  /// An integral, average or extremum.
  struct RegionMeasurement : RegionField
  {
    Reference reference;
  };

  void find_fields(DiscreteSolution<dim> &solution);
  PointSearch<dim> search() const;
  std::vector<std::vector<double>> sample(const PointSearch<dim> &search);
  void measure_points(MeasuredValues &result);
  void measure_integrals(MeasuredValues &result);
  /// A value between nodes that exceeds all nodal values.
  struct BetweenNodes
  {
    std::size_t index; ///< for the field f of extremum j: 2 j (value of −f) or 2 j + 1 (f)
    double value;
    dealii::Point<dim> point;
  };
  std::vector<double> largest_at_nodes(CellPoints<dim> &in_cells, CellPoints<dim> &on_faces,
                                       std::vector<double> &entity_maxima);
  std::vector<BetweenNodes> larger_between_nodes(const std::vector<double> &largest);
  void measure_extrema(MeasuredValues &result);
  template <class Filter, class Visit>
  void for_each_entity(const std::vector<RegionMeasurement> &region_measurements,
                       CellPoints<dim> &in_cells, CellPoints<dim> &on_faces, const Filter &filter,
                       const Visit &visit);

  const Discretization<dim> &discretization;
  SolutionFields<dim> fields;
  std::vector<NamedPoints<dim>> points, lines;
  std::vector<dealii::Point<dim>>
      sample_points; ///< the points, followed by the points of the lines
  std::vector<std::string> point_fields;
  std::vector<Reference> point_references;
  std::vector<RegionMeasurement> integrals, extrema; ///< averages are at the end of `integrals`
  std::size_t n_integrals = 0;                       ///< number of integrals that are no averages
};

/// Returns the user's measured quantities, followed by the quantities that the physics reports. If
/// both have an extremum of the same name, the value of the physics replaces the measured one. If
/// both have another quantity of the same name, " (measured)" is appended to the user's name.
std::vector<Quantity> with_measured(std::vector<Quantity> measured,
                                    const std::vector<Quantity> &of_physics);
} // namespace femgpu

#endif
