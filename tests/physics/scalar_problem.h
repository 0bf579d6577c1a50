#ifndef femgpu_tests_physics_scalar_problem_h
#define femgpu_tests_physics_scalar_problem_h

#include "physics/problem.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// A problem −Δu = 0 with one component and without data or parameters; tests add what they need.
template <int dim>
class ScalarProblem : public Problem<dim>
{
public:
  std::vector<std::pair<std::string, std::set<dealii::types::boundary_id>>>
  named_boundaries() const override
  {
    return {};
  }
  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    return {};
  }
  /// Computes ∇u.
  void flux(const PointBatch<dim> &at, PointTerms &sigma) const override
  {
    for (unsigned int d = 0; d < dim; ++d)
      for (unsigned int q = 0; q < at.size(); ++q) {
        sigma.value(d)[q] = at.gradient(0, d)[q];
        sigma.gradient_derivative(d, 0, d)[q] = 1.;
      }
  }
};
} // namespace femgpu

#endif
