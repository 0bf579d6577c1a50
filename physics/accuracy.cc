#include "physics/accuracy.h"

#include "linalg/solvers/rounding.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// b + λ W φ(x) − A x, the rows of this rank.
template <int dim>
std::vector<double> residual_of(const Problem<dim> &problem, const linalg::GroupSystem &system)
{
  std::vector<double> r = system.vmult();
  for (std::size_t i = 0; i < r.size(); ++i)
    r[i] = system.rhs()[i] - r[i];
  if (const auto phi = problem.nonlinearity())
    linalg::visit_term(*phi, system.weights(), [&](const auto &term) {
      for (std::size_t i = 0; i < r.size(); ++i)
        if (system.weights()[i] != 0.)
          r[i] += term.value(static_cast<int>(i), system.solution()[i]);
    });
  return r;
}
} // namespace

template <int dim>
Accuracy measure_accuracy(const Problem<dim> &problem, DiscreteSolution<dim> &solution,
                          const linalg::GroupSystem &system)
{
  const Evaluation &evaluation = solution.evaluation();
  const auto &constraints = solution.discretization().constraints();
  const std::vector<double> r = residual_of(problem, system), scales = system.row_scales(),
                            magnitudes = system.magnitudes();
  double of_exchange = 0., of_forces = 0., of_residual = 0., of_rounding = 0.;
  for (std::size_t i = 0; i < r.size(); ++i) {
    if (constraints.is_constrained(system.first_owned() + i) || !(scales[i] > 0.))
      continue;
    const double q = evaluation.exchange.empty() ? 0. : evaluation.exchange[i],
                 s = std::abs(evaluation.internal_forces[i]) + std::abs(q);
    of_exchange += q * q / scales[i];
    of_forces += s * s / scales[i];
    of_residual += r[i] * r[i] / scales[i];
    of_rounding += magnitudes[i] * magnitudes[i] / scales[i];
  }
  const auto sum = [&](const double of_rank) {
    return Utilities::MPI::sum(of_rank, system.communicator());
  };
  return {evaluation.stiffness_energy + sum(of_exchange), std::sqrt(sum(of_forces)),
          std::sqrt(sum(of_residual)),
          linalg::rounding_level(system.longest_row()) * std::sqrt(sum(of_rounding))};
}

double Accuracy::share_to_reach(const double tolerance) const
{
  return residual > 0. ? tolerance * internal_forces / residual : 1.;
}

bool Accuracy::has_small_error(const double tolerance, const double energy_error) const
{
  constexpr double far_below = 1e-4, tiny = 1e-12;
  return residual <= far_below * tolerance * internal_forces ||
         residual <= std::min(rounding, tiny * internal_forces) ||
         (energy_error >= 0. && energy_error <= tolerance * std::sqrt(energy));
}

std::string Accuracy::text(const double tolerance) const
{
  std::ostringstream text;
  text.precision(3);
  text << " The residual is " << std::scientific << residual / internal_forces
       << " of the internal forces, asked for " << tolerance << "; rounding explains "
       << rounding / internal_forces << '.';
  return text.str();
}

template Accuracy measure_accuracy(const Problem<2> &, DiscreteSolution<2> &,
                                   const linalg::GroupSystem &);
template Accuracy measure_accuracy(const Problem<3> &, DiscreteSolution<3> &,
                                   const linalg::GroupSystem &);
} // namespace femgpu
