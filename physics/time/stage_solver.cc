#include "physics/time/stage_solver.h"

#include "linalg/base/timing.h"
#include "physics/assembler.h"
#include "physics/curves_and_point_sets.h"

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
                              WritableClock clock_, const TimeParameters &parameters)
    : problem(problem), discretization(discretization), solver(solver), system(system),
      clock(std::move(clock_)), dependence(problem.time_dependence()),
      has_nonlinear_problem(femgpu::is_nonlinear(problem)),
      has_constant_matrix(!dependence.matrix && !has_nonlinear_problem),
      has_lumped_mass(parameters.has_lumped_mass()),
      tau_of_M(1e-6 * std::pow(parameters.first_step(), problem.order_in_time()))
{}

template <int dim>
void StageSolver<dim>::move_to(const double t)
{
  const bool is_new = std::exchange(*clock, t) != t;
  if (std::exchange(has_other_constraints, false) || (is_new && has_moving_supports()))
    discretization.make_constraints(problem);
}

template <int dim>
void StageSolver<dim>::move_to(const double t, const FeVector &inhomogeneities)
{
  *clock = t;
  if (!has_moving_supports())
    return;
  has_other_constraints = true;
  discretization.set_inhomogeneities(inhomogeneities);
}

/// Returns, for each cell of this rank, whether its right-hand side depends on the time otherwise
/// than by w. If Dirichlet data do, this includes all cells with constrained dofs.
template <int dim>
std::vector<bool> StageSolver<dim>::cells_with_changing_data() const
{
  std::vector<bool> result;
  std::vector<types::global_dof_index> dofs(discretization.element().n_dofs_per_cell());
  std::map<unsigned int, Vector<double>> loads; // of curves and points, if any depends on t
  for (const auto id : dependence.fluxes)
    if (loads.empty() && discretization.mesh().regions.curve_or_point_set(id) != nullptr)
      loads = curve_and_point_loads(problem, discretization);
  for (const auto &cell : discretization.owned_cells()) {
    bool changes = dependence.sources.count(cell->material_id()) > 0 ||
                   loads.count(cell->active_cell_index()) > 0;
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
void StageSolver<dim>::assemble_matrices()
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
  problem.set_storage(storage(tau_of_M, nullptr));
  assemble(problem, discretization, nullptr, system);
  M.resize(n);
  for (std::size_t k = 0; k < n; ++k)
    M[k] = entries[k] - K[k];
  has_matrices = true;
}

/// Sets stage_forces to f − K p − M (p − q)/τ, where p are the inhomogeneities of the constraints,
/// and q is the inhomogeneous part of @p w.
template <int dim>
void StageSolver<dim>::assemble_forces(const double tau, const FeVector &w)
{
  stage_forces = steady_loads;
  if (!any_change)
    return;
  const FeVector prescribed = discretization.inhomogeneous_part(w);
  problem.set_storage(storage(tau, &prescribed));
  assemble_rhs(problem, discretization, changing, system);
  for (std::size_t i = 0; i < stage_forces.size(); ++i)
    stage_forces[i] += system.rhs()[i];
}

/// Sets the right-hand side and the initial guess w of a stage.
template <int dim>
void StageSolver<dim>::assemble_loads(const double tau, const FeVector &w)
{
  assemble_forces(tau, w);
  const std::vector<double> of_w = product(M, tau_of_M / tau, w);
  for (std::size_t i = 0; i < of_w.size(); ++i)
    system.rhs()[i] = of_w[i] + stage_forces[i];
}

/// Returns @p factor A x̂. Overwrites the solution of the system by x̂.
template <int dim>
std::vector<double> StageSolver<dim>::product(const std::vector<double> &A, const double factor,
                                              const FeVector &x) const
{
  set_initial_guess(x, discretization.constraints(), system);
  std::vector<double> result = system.vmult(A.data());
  for (double &r : result)
    r *= factor;
  return result;
}

/// With the inhomogeneous parts p of x and q of y, only the cells with p or q contribute:
/// pᵀ A y + (x − p)ᵀ A q.
template <int dim>
std::vector<double> StageSolver<dim>::prescribed_products(const Pairs &of_K, const Pairs &of_M)
{
  Pairs pairs = of_K;
  pairs.insert(pairs.end(), of_M.begin(), of_M.end());
  std::vector<std::pair<FeVector, FeVector>> parts;
  parts.reserve(pairs.size()); // a copy would have no ghost values
  for (const auto &[x, y] : pairs)
    parts.emplace_back(discretization.inhomogeneous_part(*x),
                       discretization.inhomogeneous_part(*y));
  const unsigned int n = discretization.element().n_dofs_per_cell();
  CellTerms terms(n, /* has_weights */ false);
  Vector<double> x(n), y(n), p(n), q(n), Aq(n);
  std::vector<double> result(pairs.size(), 0.);
  for (const bool has_mass : {false, true}) { // A = K, then K + M/τ
    problem.set_storage(has_mass ? std::optional(storage(tau_of_M, nullptr)) : std::nullopt);
    CellEquation<dim> equation(problem, discretization);
    for (const auto &cell : discretization.owned_cells()) {
      bool is_evaluated = false;
      for (std::size_t k = has_mass ? of_K.size() : 0; k < pairs.size(); ++k) {
        cell->get_dof_values(parts[k].first, p);
        cell->get_dof_values(parts[k].second, q);
        if (p.all_zero() && q.all_zero())
          continue;
        if (!std::exchange(is_evaluated, true))
          equation.linearize(cell, nullptr, terms);
        cell->get_dof_values(*pairs[k].first, x);
        cell->get_dof_values(*pairs[k].second, y);
        terms.K.vmult(Aq, q);
        x -= p;
        const double product = x * Aq + terms.K.matrix_scalar_product(p, y);
        result[k] += k < of_K.size() ? product
                     : has_mass      ? tau_of_M * product
                                     : -tau_of_M * product;
      }
    }
  }
  problem.set_storage({});
  return result;
}

template <int dim>
void StageSolver<dim>::update_forces(const double t, const double tau, const FeVector &u,
                                     const FeVector &inertia)
{
  move_to(t, discretization.inhomogeneous_part(u));
  if (!has_matrices)
    assemble_matrices();
  FeVector w = u;
  w.add(-tau, inertia);
  w.update_ghost_values();
  assemble_forces(tau, w);
}

template <int dim>
linalg::SolveReport StageSolver<dim>::solve_mass(const double t, const double tau,
                                                 const FeVector &u, const FeVector &d, FeVector &a,
                                                 std::map<std::string, double> &seconds)
{
  const Stopwatch watch;
  update_forces(t, tau, u, d);
  const std::vector<double> of_u = times_stiffness(u), of_d = times_mass(d);
  for (std::size_t i = 0; i < of_u.size(); ++i) {
    system.rhs()[i] = (stage_forces[i] - of_u[i] - of_d[i]) / tau_of_M;
    system.solution()[i] = 0.;
  }
  std::copy(M.begin(), M.end(), system.matrix());
  tau_of_matrix = 0.;
  ++set_ups;
  seconds["assembly"] += watch.elapsed();
  linalg::SolveReport report =
      solver.solve_linear(system, solver.step_control(), /* same_matrix */ false, seconds);
  all_costs += report.costs;
  for (const auto dof : discretization.owned())
    if (!discretization.constraints().is_constrained(dof))
      a(dof) = system.solution()[dof - system.first_owned()];
  return report;
}

template <int dim>
linalg::SolveReport StageSolver<dim>::solve_constant(const double tau, const FeVector &w,
                                                     FeVector &u,
                                                     std::map<std::string, double> &seconds)
{
  const Stopwatch watch;
  if (!has_matrices)
    assemble_matrices();
  const bool same_matrix = std::abs(tau - tau_of_matrix) <= equal_tau * tau_of_matrix;
  if (!same_matrix) {
    double *const entries = system.matrix();
    for (std::size_t k = 0; k < K.size(); ++k)
      entries[k] = K[k] + M[k] * (tau_of_M / tau);
    tau_of_matrix = tau;
    ++set_ups;
  }
  assemble_loads(tau, w);
  problem.set_storage(storage(tau, &w));
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
                                            FeVector &u, std::map<std::string, double> &seconds,
                                            const FeVector *const inhomogeneities)
{
  if (inhomogeneities != nullptr)
    move_to(t, *inhomogeneities);
  else
    move_to(t);
  if (has_constant_matrix) {
    linalg::SolveReport report = solve_constant(tau, w, u, seconds);
    problem.set_storage({});
    all_costs += report.costs;
    return report;
  }
  u = w;
  discretization.constraints().distribute(u);
  u.update_ghost_values();
  problem.set_storage(storage(tau, &w));
  problem.check_data(discretization);
  linalg::SolveReport report = solver.solve_step(discretization, system, u, seconds);
  problem.set_storage({});
  set_ups += static_cast<std::size_t>(has_nonlinear_problem ? report.iterations : 1);
  all_costs += report.costs;
  return report;
}

template class StageSolver<2>;
template class StageSolver<3>;
} // namespace femgpu
