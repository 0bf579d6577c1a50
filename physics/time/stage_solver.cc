#include "physics/time/stage_solver.h"

#include "linalg/base/timing.h"
#include "physics/assembler.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Steps whose τ differ by less than this factor count as equally long.
constexpr double equal_tau = 1e-9;
/// Residuals below this factor times ‖b‖ are attributed to rounding.
constexpr double rounding = 1e-14;
} // namespace

template <int dim>
StageSolver<dim>::StageSolver(Problem<dim> &problem, Discretization<dim> &discretization,
                              ProblemSolver<dim> &solver, linalg::GroupSystem &system,
                              WritableClock clock_)
    : problem(problem), discretization(discretization), solver(solver), system(system),
      clock(std::move(clock_)), dependence(problem.time_dependence()),
      has_nonlinear_problem(femgpu::is_nonlinear(problem)),
      has_constant_matrix(!dependence.matrix && !has_nonlinear_problem)
{}

template <int dim>
void StageSolver<dim>::move_to(const double t)
{
  if (std::exchange(*clock, t) != t && !dependence.dirichlet.empty())
    discretization.make_constraints(problem);
}

/// Returns, for each cell of this rank, whether its right-hand side depends on the time otherwise
/// than by w. If Dirichlet data do, this includes all cells with constrained dofs.
template <int dim>
std::vector<bool> StageSolver<dim>::cells_with_changing_data() const
{
  std::vector<bool> result;
  std::vector<types::global_dof_index> dofs(discretization.element().n_dofs_per_cell());
  for (const auto &cell : discretization.owned_cells()) {
    bool changes = dependence.sources.count(cell->material_id()) > 0;
    cell->for_each_side([&](unsigned int /* number */, const types::boundary_id id) {
      changes = changes || dependence.fluxes.count(id) > 0;
    });
    if (!changes && !dependence.dirichlet.empty()) {
      cell->get_dof_indices(dofs);
      changes = std::any_of(dofs.begin(), dofs.end(), [&](const auto dof) {
        return discretization.constraints().is_constrained(dof);
      });
    }
    result.push_back(changes);
  }
  return result;
}

/// Assembles K, M/τ and the right-hand side of the cells with unchanging data.
template <int dim>
void StageSolver<dim>::assemble_matrices(const double tau)
{
  solver.group_solver().begin_pattern(system);
  problem.set_storage({});
  problem.check_data(discretization);
  assemble(problem, discretization, nullptr, system);
  const double *const entries = system.matrix();
  const std::size_t n = system.n_owned_nonzeros();
  K.assign(entries, entries + n);
  changing = cells_with_changing_data();
  const bool is_any = std::find(changing.begin(), changing.end(), true) != changing.end();
  any_change = Utilities::MPI::logical_or(is_any, discretization.communicator());
  if (any_change) {
    std::vector<bool> steady = changing;
    steady.flip();
    assemble_rhs(problem, discretization, steady, system);
  }
  steady_loads.assign(system.rhs(), system.rhs() + system.n_owned());
  problem.set_storage(Storage{tau, nullptr});
  assemble(problem, discretization, nullptr, system);
  M.resize(n);
  for (std::size_t k = 0; k < n; ++k)
    M[k] = entries[k] - K[k];
  tau_of_M = tau;
}

/// Sets the right-hand side M w/τ + f − K g of the free dofs, where the values g of constrained
/// dofs change from those of @p w.
template <int dim>
void StageSolver<dim>::assemble_loads(const double tau, const FeVector &w)
{
  const AffineConstraints<double> &constraints = discretization.constraints();
  set_initial_guess(w, constraints, system);
  std::vector<double> loads = system.vmult(M.data());
  for (std::size_t i = 0; i < loads.size(); ++i)
    loads[i] = loads[i] * (tau_of_M / tau) + steady_loads[i];
  if (any_change) {
    FeVector prescribed; // w less its share of the free dofs
    prescribed.reinit(w);
    for (const auto dof : discretization.owned())
      if (constraints.is_constrained(dof)) {
        double value = w(dof);
        for (const auto &[free, weight] : *constraints.get_constraint_entries(dof))
          value -= weight * w(free);
        prescribed(dof) = value;
      }
    prescribed.update_ghost_values();
    problem.set_storage(Storage{tau, &prescribed});
    assemble_rhs(problem, discretization, changing, system);
    for (std::size_t i = 0; i < loads.size(); ++i)
      loads[i] += system.rhs()[i];
  }
  std::copy(loads.begin(), loads.end(), system.rhs());
}

template <int dim>
linalg::SolveReport StageSolver<dim>::solve_constant(const double tau, const FeVector &w,
                                                     FeVector &u,
                                                     std::map<std::string, double> &seconds)
{
  const Stopwatch watch;
  const bool is_new = tau_of_M == 0.;
  if (is_new)
    assemble_matrices(tau);
  const bool same_matrix = !is_new && std::abs(tau - tau_of_matrix) <= equal_tau * tau_of_matrix;
  if (!is_new && !same_matrix) {
    double *const entries = system.matrix();
    for (std::size_t k = 0; k < K.size(); ++k)
      entries[k] = K[k] + M[k] * (tau_of_M / tau);
  }
  if (!same_matrix) {
    tau_of_matrix = tau;
    ++set_ups;
  }
  assemble_loads(tau, w);
  problem.set_storage(Storage{tau, &w});
  linalg::SolveControl control = solver.step_control();
  double squares = 0.;
  for (std::size_t i = 0; i < system.n_owned(); ++i)
    squares += system.rhs()[i] * system.rhs()[i];
  control.absolute_tolerance =
      std::max(control.absolute_tolerance,
               rounding * std::sqrt(Utilities::MPI::sum(squares, system.communicator())));
  seconds["assembly"] += watch.elapsed();
  linalg::SolveReport report = solver.solve_linear(system, control, same_matrix, seconds);
  get_solution(system, discretization.constraints(), u);
  return report;
}

template <int dim>
linalg::SolveReport StageSolver<dim>::solve(const double t, const double tau, const FeVector &w,
                                            FeVector &u, std::map<std::string, double> &seconds)
{
  move_to(t);
  if (has_constant_matrix) {
    linalg::SolveReport report = solve_constant(tau, w, u, seconds);
    all_costs += report.costs;
    return report;
  }
  u = w;
  discretization.constraints().distribute(u);
  u.update_ghost_values();
  problem.set_storage(Storage{tau, &w});
  problem.check_data(discretization);
  linalg::SolveReport report = solver.solve_step(discretization, system, u, seconds);
  set_ups += static_cast<std::size_t>(has_nonlinear_problem ? report.iterations : 1);
  all_costs += report.costs;
  return report;
}

template class StageSolver<2>;
template class StageSolver<3>;
} // namespace femgpu
