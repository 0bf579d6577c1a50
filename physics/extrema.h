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
/// Values that differ by less than this fraction of the largest magnitude count as equal, because
/// rounding depends on the number of ranks.
inline constexpr double equal_values = 1e-10;

/**
 * Finds extrema of a finite element function on cells and faces, including extrema between nodes.
 * The function is a polynomial in reference coordinates, so the method also applies to curved
 * cells. On triangles and tetrahedra, it is a polynomial of the same degree in each coordinate of a
 * square or cube that is collapsed to the simplex.
 */
template <int dim>
class CellMaximum
{
public:
  /// @p discretization must outlive this object.
  explicit CellMaximum(const Discretization<dim> &discretization);

  /// Selects the entire cell instead of a face.
  static constexpr unsigned int entire = dealii::numbers::invalid_unsigned_int;

  struct Found
  {
    double value;
    dealii::Point<dim> unit; ///< in the reference cell
  };

  /**
   * Returns the maximum of @p objective in @p cell or on one of its faces; nullopt unless it
   * exceeds @p above by more than @p tolerance. The result depends only on the arguments, not on
   * other cells.
   * @param face number of the face, or `entire`
   * @param u_cell values of the cell's dofs
   * @param above the largest value of @p objective known so far, such as at nodes
   */
  std::optional<Found> find(const ActiveCell<dim> &cell, unsigned int face,
                            const dealii::Vector<double> &u_cell, const Objective &objective,
                            double above, double tolerance);

  /// Returns whether values between nodes can exceed the nodal values.
  bool may_exceed_nodes(const Objective &objective) const
  {
    return element.degree > 1 || (objective.component == Objective::length && objective.sign < 0.);
  }

private:
  /// A cell or face of the reference element, as the image of a unit interval, square or cube.
  struct MeshEntity
  {
    unsigned int n_coordinates;
    dealii::Point<dim> origin;
    std::vector<dealii::Tensor<1, dim>> tangents;
    /// The matrix that maps nodal values to Bernstein coefficients, by rows.
    std::vector<double> coefficients_by_nodes;
    double norm; ///< row sum norm of coefficients_by_nodes
    PolynomialMaximum maximum;

    dealii::Point<dim> unit_point(const std::array<double, 3> &x, bool is_simplex) const;
  };

  MeshEntity make_entity(const std::vector<unsigned int> &corners) const;
  MeshEntity &entity_of(const ActiveCell<dim> &cell, unsigned int face);

  const dealii::FiniteElement<dim> &element; ///< the scalar element
  bool is_simplex;
  unsigned int n_components;
  std::vector<unsigned int> dofs; ///< for each node: the dofs of all components
  std::map<std::vector<unsigned int>, MeshEntity> entities; ///< by the vertices that span each
  std::vector<double> at_nodes, coefficients;               ///< workspace
};

/**
 * Collective. Returns the largest value of @p objective over all cells, with an absolute accuracy
 * of equal_values times @p scale.
 * @param u the finite element function, with ghost values
 * @param at_nodes the largest value of @p objective at nodes of this rank
 * @param scale the largest magnitude of u, the same on all ranks
 */
template <int dim>
double largest_value(const Discretization<dim> &discretization, const FeVector &u,
                     const Objective &objective, double at_nodes, double scale);

/// Collective. Returns the minimum and maximum of a scalar function @p u with ghost values.
template <int dim>
std::pair<double, double> extrema(const Discretization<dim> &discretization, const FeVector &u);
} // namespace femgpu

#endif
