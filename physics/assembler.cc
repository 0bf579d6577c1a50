#include "physics/assembler.h"

#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/cell_equation.h"
#include "physics/constraints/cell_constraints.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Collective. Checks the weights of the reaction.
/// @throws InputError with the location of a negative weight
template <int dim>
void check_weights(const Discretization<dim> &discretization, const linalg::GroupSystem &system)
{
  const double *w = system.weights();
  rethrow_on_all_ranks<InputError>(discretization.communicator(), [&] {
    for (types::global_dof_index i = 0; i < system.n_owned(); ++i)
      if (!(w[i] >= 0.))
        for_each_owned_node(discretization, [&](const auto dof, const Point<dim> &point) {
          if (dof != system.first_owned() + i)
            return;
          std::ostringstream text;
          text << "The weight of the reaction term at node (" << point << ") is " << w[i]
               << ", but must not be negative. Fix the coefficient of the reaction there.";
          throw InputError(text.str());
        });
  });
}
} // namespace

template <int dim>
void assemble(const Problem<dim> &problem, const Discretization<dim> &discretization,
              const FeVector *const u, linalg::GroupSystem &system)
{
  const bool has_reaction = problem.nonlinearity().has_value();
  CellEquation<dim> equation(problem, discretization);
  CellTerms terms(discretization.element().n_dofs_per_cell(), has_reaction);
  CellConstraints eliminated(discretization.constraints());
  system.set_zero(has_reaction);
  // evaluation of an expression may fail at a quadrature point
  rethrow_on_all_ranks<ParameterError>(discretization.communicator(), [&] {
    for (const auto &cell : discretization.owned_cells()) {
      equation.linearize(cell, u, terms);
      eliminated.add(terms, system);
    }
  });
  system.compress();
  if (has_reaction)
    check_weights(discretization, system);
}

template <int dim>
void assemble_rhs(const Problem<dim> &problem, const Discretization<dim> &discretization,
                  const std::vector<bool> &includes, linalg::GroupSystem &system)
{
  CellEquation<dim> equation(problem, discretization);
  CellTerms terms(discretization.element().n_dofs_per_cell(), /* has_weights */ false);
  CellConstraints eliminated(discretization.constraints());
  system.set_rhs_zero();
  rethrow_on_all_ranks<ParameterError>(discretization.communicator(), [&] {
    std::size_t position = 0;
    for (const auto &cell : discretization.owned_cells())
      if (includes[position++]) {
        cell->get_dof_indices(terms.dofs);
        const bool has_matrix =
            std::any_of(terms.dofs.begin(), terms.dofs.end(), [&](const auto dof) {
              return discretization.constraints().is_inhomogeneously_constrained(dof);
            });
        equation.linearize(cell, nullptr, terms, has_matrix);
        eliminated.add_rhs(terms, system);
      }
  });
  system.compress();
}

void set_initial_guess(const FeVector &u, const AffineConstraints<double> &constraints,
                       linalg::GroupSystem &system)
{
  const auto first = system.first_owned();
  for (linalg::GroupSystem::Index i = 0; i < system.n_owned(); ++i)
    system.solution()[i] = constraints.is_constrained(first + i) ? 0. : u(first + i);
}

void get_solution(const linalg::GroupSystem &system, const AffineConstraints<double> &constraints,
                  FeVector &u)
{
  const double *const x = system.solution();
  u.zero_out_ghost_values();
  for (std::size_t i = 0; i < system.n_owned(); ++i)
    u.local_element(static_cast<unsigned int>(i)) = x[i];
  constraints.distribute(u);
  u.update_ghost_values();
}

double scale_to_energy(linalg::GroupSystem &system)
{
  const std::vector<double> Ax = system.vmult();
  const double *const b = system.rhs();
  double *const x = system.solution();
  double bx = 0., xAx = 0.;
  for (std::size_t i = 0; i < Ax.size(); ++i) {
    bx += b[i] * x[i];
    xAx += x[i] * Ax[i];
  }
  bx = Utilities::MPI::sum(bx, system.communicator());
  xAx = Utilities::MPI::sum(xAx, system.communicator());
  const double theta = xAx > 0. ? bx / xAx : 1.;
  double rr = 0.;
  for (std::size_t i = 0; i < Ax.size(); ++i) {
    x[i] *= theta;
    const double r_i = b[i] - theta * Ax[i];
    rr += r_i * r_i;
  }
  return std::sqrt(Utilities::MPI::sum(rr, system.communicator()));
}

template void assemble<2>(const Problem<2> &, const Discretization<2> &, const FeVector *,
                          linalg::GroupSystem &);
template void assemble<3>(const Problem<3> &, const Discretization<3> &, const FeVector *,
                          linalg::GroupSystem &);
template void assemble_rhs(const Problem<2> &, const Discretization<2> &, const std::vector<bool> &,
                           linalg::GroupSystem &);
template void assemble_rhs(const Problem<3> &, const Discretization<3> &, const std::vector<bool> &,
                           linalg::GroupSystem &);
} // namespace femgpu
