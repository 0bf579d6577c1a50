#ifndef femgpu_tests_physics_scalar_problem_h
#define femgpu_tests_physics_scalar_problem_h

#include "physics/problem.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// A problem of one component, u, without terms, data or parameters: tests add what they need.
template <int dim>
class ScalarProblem : public Problem<dim>
{
public:
  using typename Problem<dim>::CellMatrix;
  using typename Problem<dim>::CellVector;

  unsigned int n_components() const override
  {
    return 1;
  }
  std::vector<std::string> component_names() const override
  {
    return {"u"};
  }
  std::vector<std::pair<std::string, std::set<dealii::types::boundary_id>>>
  named_boundaries() const override
  {
    return {};
  }
  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    return {};
  }
  void add_cell_terms(const dealii::FEValues<dim> &, CellMatrix &, CellVector &) const override
  {}
};
} // namespace femgpu

#endif
