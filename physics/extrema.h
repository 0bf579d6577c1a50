#ifndef femgpu_physics_extrema_h
#define femgpu_physics_extrema_h

#include "physics/discretization.h"
#include "physics/polynomial_maximum.h"

#include <deal.II/base/point.h>
#include <deal.II/base/types.h>
#include <deal.II/lac/vector.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace femgpu
{
/// Values that differ by less than this part of the largest magnitude are equal: rounding depends
/// on the number of ranks.
inline constexpr double equal_values = 1e-10;

/**
 * Finds extrema of a finite element function: those of its polynomials on cells and faces, which
 * between nodes exceed the values at these. The polynomials are ones of reference coordinates, so
 * that curved cells make no difference. Those of triangles and tetrahedra have the same degree in
 * each coordinate of a square or cube that is collapsed to the triangle or tetrahedron.
 */
template <int dim>
class CellMaximum
{
public:
  /// @p discretization outlives this object.
  explicit CellMaximum(const Discretization<dim> &discretization);

  static constexpr unsigned int whole = dealii::numbers::invalid_unsigned_int;

  struct Found
  {
    double value;
    dealii::Point<dim> unit; ///< in the reference cell
  };

  /**
   * The maximum in @p cell or on a face of it, if it is larger than @p above, the largest value at
   * nodes, by more than @p tolerance. It depends on the arguments alone, not on other cells.
   * @param u_cell values of the dofs of the cell
   */
  std::optional<Found> find(const ActiveCell<dim> &cell, unsigned int face,
                            const dealii::Vector<double> &u_cell, const Objective &objective,
                            double above, double tolerance);

  /// Can values of the objective between nodes exceed those at nodes?
  bool may_exceed_nodes(const Objective &objective) const
  {
    return element.degree > 1 || (objective.component == Objective::length && objective.sign < 0.);
  }

private:
  /// A cell or a face as the image of the unit square or cube.
  struct Part
  {
    unsigned int n_coordinates;
    dealii::Point<dim> origin;
    std::vector<dealii::Tensor<1, dim>> tangents;
    std::vector<double> coefficients_by_nodes; ///< a matrix by rows, a column for each node
    double norm;                               ///< of this matrix: the largest sum of a row
    PolynomialMaximum maximum;

    dealii::Point<dim> unit_point(const std::array<double, 3> &x, bool is_simplex) const;
  };

  Part make_part(const std::vector<unsigned int> &corners) const;
  Part &part_of(const ActiveCell<dim> &cell, unsigned int face);

  const dealii::FiniteElement<dim> &element; ///< of one component
  bool is_simplex;
  unsigned int n_components;
  std::vector<unsigned int> dofs;                  ///< of each node in turn those of all components
  std::map<std::vector<unsigned int>, Part> parts; ///< by the vertices that span them
  std::vector<double> at_nodes, coefficients;      ///< workspace
};

/**
 * Collective. The largest value of @p objective over all cells, to equal_values of @p scale.
 * @param u has ghost values
 * @param at_nodes the largest value at nodes of this rank
 * @param scale the largest magnitude of u, the same on all ranks
 */
template <int dim>
double largest_value(const Discretization<dim> &discretization, const FeVector &u,
                     const Objective &objective, double at_nodes, double scale);

/// Collective. The smallest and the largest value of a function of one component with ghost values.
template <int dim>
std::pair<double, double> extrema(const Discretization<dim> &discretization, const FeVector &u);
} // namespace femgpu

#endif
