#include "physics/accuracy.h"

#include "linalg/solvers/rounding.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Returns b + λ W φ(x) − A x for the rows of this rank.
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
  std::vector<double> weights(r.size()); // D^(-1/2); 0 for dofs that norms exclude
  for (std::size_t i = 0; i < r.size(); ++i)
    if (!constraints.is_constrained(system.first_owned() + i) && scales[i] > 0.)
      weights[i] = 1. / std::sqrt(scales[i]);
  // Divides by the largest entry, because its square may overflow or underflow.
  const auto norm = [&](const auto &entry) {
    double largest = 0.;
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (weights[i] > 0.)
        if (const double size = std::abs(entry(i)) * weights[i]; !(size <= largest))
          largest = std::isnan(size) ? std::numeric_limits<double>::infinity() : size;
    largest = Utilities::MPI::max(largest, system.communicator());
    if (!(largest > 0. && std::isfinite(largest)))
      return largest;
    double sum = 0.;
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (weights[i] > 0.) {
        const double size = entry(i) * weights[i] / largest;
        sum += size * size;
      }
    return largest * std::sqrt(Utilities::MPI::sum(sum, system.communicator()));
  };
  const auto exchange = [&](const std::size_t i) {
    return evaluation.exchange.empty() ? 0. : std::abs(evaluation.exchange[i]);
  };
  const auto forces = [&](const std::size_t i) {
    return std::abs(evaluation.internal_forces[i]) + exchange(i);
  };
  const double of_exchange = norm(exchange), of_forces = norm(forces),
               of_residual = norm([&](const std::size_t i) { return r[i]; }),
               of_magnitudes = norm([&](const std::size_t i) { return magnitudes[i]; });
  return {evaluation.stiffness_energy + of_exchange * of_exchange, of_forces, of_residual,
          linalg::rounding_level(system.longest_row()) * of_magnitudes};
}

std::string text_of(const Accuracy &accuracy, const double tolerance)
{
  std::ostringstream text;
  text.precision(3);
  text << " The residual is " << std::scientific << accuracy.residual / accuracy.internal_forces
       << " of the internal forces, but should be at most " << tolerance
       << "; rounding accounts for " << accuracy.rounding / accuracy.internal_forces << '.';
  return text.str();
}

std::string motions_text(const double error, const double tolerance)
{
  std::ostringstream text;
  text.precision(3);
  text << std::scientific
       << " The motion of weakly supported parts, such as a stiff body between soft ones, "
       << "has an energy error of " << error
       << " relative to the energy norm, but should be at most " << tolerance << '.';
  return text.str();
}

template Accuracy measure_accuracy(const Problem<2> &, DiscreteSolution<2> &,
                                   const linalg::GroupSystem &);
template Accuracy measure_accuracy(const Problem<3> &, DiscreteSolution<3> &,
                                   const linalg::GroupSystem &);
} // namespace femgpu
