#ifndef femgpu_physics_mean_value_h
#define femgpu_physics_mean_value_h

#include "linalg/dealii/group_system.h"
#include "physics/problem.h"

#include <cmath>
#include <vector>

/**
 * @file
 * Problems whose solution is known up to a constant, Problem::fixes_mean(): −∇·σ(∇u) = f with σ·n
 * given everywhere. They have a solution only if ∫f + ∫σ·n = 0, and of all those the one with mean
 * value zero is taken. One dof is fixed (Discretization::make_constraints()), which makes the
 * matrix positive definite; a constant is subtracted afterwards.
 */
namespace femgpu
{
/// How far data are from having a solution.
struct Compatibility
{
  double defect = 0.;    ///< ∫f + ∫σ·n
  double magnitude = 0.; ///< ∫|f| + ∫|σ·n|

  double relative_defect() const
  {
    return magnitude > 0. ? std::abs(defect) / magnitude : 0.;
  }
};

/// Collective. By the quadrature that assembles, for a scalar problem.
template <int dim>
Compatibility compatibility(const Problem<dim> &problem, const Discretization<dim> &discretization);

/**
 * Collective. Subtracts a constant from f, so that the equations have a solution: what quadrature
 * and rounded data leave of ∫f + ∫σ·n goes away.
 */
template <int dim>
void make_compatible(const Problem<dim> &problem, const Discretization<dim> &discretization,
                     linalg::GroupSystem &system);

/// Collective. The norm of the residual of all equations, with that of the dof that is fixed, of
/// the compatible right-hand side; @p u has ghost values.
template <int dim>
double norm_of_all_equations(const Problem<dim> &problem, const Discretization<dim> &discretization,
                             const FeVector &u);

/// Collective. Subtracts its mean value from @p u, which has ghost values.
template <int dim>
void remove_mean(const Discretization<dim> &discretization, FeVector &u);

/// The exact solution of a problem that knows one; less its mean value where the problem fixes
/// that: what the solution of a run tends to.
template <int dim>
class ComparableSolution
{
public:
  /// Collective. @p problem outlives this object.
  ComparableSolution(const Problem<dim> &problem, const Discretization<dim> &discretization);

  // As those of Field.

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
