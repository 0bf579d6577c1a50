#ifndef femgpu_physics_mean_value_h
#define femgpu_physics_mean_value_h

#include "linalg/dealii/group_system.h"
#include "physics/problem.h"

#include <cmath>
#include <vector>

/**
 * @file
 * Problems whose solution is determined only up to a constant, Problem::fixes_mean():
 * −∇·σ(∇u) = f with σ·n given on the whole boundary. A solution exists only if ∫f + ∫σ·n = 0; the
 * solution with mean value zero is computed. One dof is fixed (Discretization::make_constraints()),
 * which makes the matrix positive definite. A constant is subtracted afterwards.
 */
namespace femgpu
{
/// The extent to which the data violate the condition ∫f + ∫σ·n = 0.
struct Compatibility
{
  double defect = 0.;    ///< ∫f + ∫σ·n
  double magnitude = 0.; ///< ∫|f| + ∫|σ·n|

  double relative_defect() const
  {
    return magnitude > 0. ? std::abs(defect) / magnitude : 0.;
  }
};

/// Collective. Integrates f and σ·n of a scalar problem by the quadrature used for assembly.
template <int dim>
Compatibility compatibility(const Problem<dim> &problem, const Discretization<dim> &discretization);

/**
 * Collective. Subtracts a constant from f, so that the equations have a solution: removes the
 * defect ∫f + ∫σ·n due to quadrature and rounded data.
 */
template <int dim>
void make_compatible(const Problem<dim> &problem, const Discretization<dim> &discretization,
                     linalg::GroupSystem &system);

/// Collective. Returns the norm of the residual of all equations, including the equation of the
/// fixed dof, with the right-hand side of make_compatible(). @p u has ghost values.
template <int dim>
double norm_of_all_equations(const Problem<dim> &problem, const Discretization<dim> &discretization,
                             const FeVector &u);

/// Collective. Subtracts the mean value from @p u, which has ghost values.
template <int dim>
void remove_mean(const Discretization<dim> &discretization, FeVector &u);

/// The exact solution of a problem, less its mean value if the problem fixes the mean: the limit of
/// the computed solutions.
template <int dim>
class ReferenceSolution
{
public:
  /// Collective. @p problem must outlive this object. @pre @p problem has an exact solution
  ReferenceSolution(const Problem<dim> &problem, const Discretization<dim> &discretization);

  // The following functions have the interface of Field.

  void value_list(const std::vector<dealii::Point<dim>> &points, std::vector<double> &values,
                  const unsigned int component) const
  {
    problem.exact_solution()->value_list(points, values, component);
    for (double &value : values)
      value -= mean;
  }
  void value_and_gradient_rows(const std::vector<dealii::Point<dim>> &points,
                               const std::size_t n_gradients, std::vector<double> &rows,
                               const unsigned int component) const
  {
    problem.exact_solution()->value_and_gradient_rows(points, n_gradients, rows, component);
    for (std::size_t q = 0; q < points.size(); ++q)
      rows[q] -= mean;
  }

private:
  const Problem<dim> &problem;
  double mean = 0.;
};
} // namespace femgpu

#endif
