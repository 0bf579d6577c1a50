#include "physics/error_norms.h"

#include "linalg/base/error.h"
#include "physics/cell_points.h"
#include "physics/collective.h"
#include "physics/mean_value.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/lac/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// What the fluxes of a solution and of the exact one differ by at the points of a cell.
template <int dim>
class FluxDifference
{
public:
  explicit FluxDifference(const Problem<dim> &problem)
      : problem(problem), n_components(problem.n_components())
  {}

  /// The integral of its square. @param rows of each component its exact value and derivatives
  double square(const CellPoints<dim> &points, const std::vector<std::vector<double>> &rows)
  {
    const std::size_t n = points.size();
    exact.places = points.batch().places;
    exact.material = points.batch().material;
    exact.u.reinit(n_components, points.size());
    exact.gradients.reinit(n_components * dim, points.size());
    for (unsigned int c = 0; c < n_components; ++c) {
      std::copy_n(rows[c].data(), n, exact.u[c]);
      for (unsigned int d = 0; d < dim; ++d)
        std::copy_n(rows[c].data() + (1 + d) * n, n, exact.gradients[c * dim + d]);
    }
    double sum = 0.;
    const auto evaluate = [&](const auto &batch, PointTerms &terms) {
      terms.reinit(n_components * dim, n_components, dim, batch.size());
      problem.flux(batch, terms);
    };
    evaluate(points.batch(), sigma);
    evaluate(exact, exact_sigma);
    for (unsigned int r = 0; r < n_components * dim; ++r)
      for (unsigned int q = 0; q < points.size(); ++q)
        sum += std::pow(sigma.value(r)[q] - exact_sigma.value(r)[q], 2) * points.JxW(q);
    return sum;
  }

private:
  const Problem<dim> &problem;
  unsigned int n_components;
  PointBatch<dim> exact;
  PointTerms sigma, exact_sigma;
};
} // namespace

template <int dim>
ErrorNorms compute_errors(const Problem<dim> &problem, const Discretization<dim> &discretization,
                          const FeVector &u, double *const flux_error)
{
  const ComparableSolution<dim> exact(problem, discretization);
  const bool is_simplex = discretization.mesh().is_simplex;
  const Quadrature<dim> gauss = discretization.cell_quadrature(2);
  CellPoints<dim> points(discretization, gauss);
  // Between the nodes the error is larger than at them. Gauss points do for simplices.
  const QIterated<dim> dense(QTrapezoid<1>(), 2 * discretization.degree());
  CellPoints<dim> between(discretization, is_simplex ? gauss : dense);
  Vector<double> u_cell(discretization.element().n_dofs_per_cell());
  std::vector<std::vector<double>> rows(problem.n_components()); // of the exact solution
  std::vector<double> values;
  std::array<double, 4> squares{}; // L2 and H1 of the error, L2 and H1 of the exact solution
  double largest = 0., flux_square = 0.;
  FluxDifference<dim> flux(problem);
  const MPI_Comm comm = discretization.communicator();
  together<ParameterError>(comm, [&] {
    for (const auto &cell : discretization.owned_cells()) {
      cell->get_dof_values(u, u_cell);
      points.reinit(cell);
      points.set_solution(u_cell);
      if (!is_simplex) {
        between.reinit(cell);
        between.set_solution(u_cell);
      }
      const PointBatch<dim> &at = points.batch(), &of_largest = is_simplex ? at : between.batch();
      for (unsigned int c = 0; c < problem.n_components(); ++c) {
        exact.value_and_gradient_rows(at.points(), rows[c], c);
        const auto add = [&](const double *const of_u, const unsigned int row,
                             const unsigned int norm) {
          const double *const of_exact = rows[c].data() + row * std::size_t(at.size());
          for (unsigned int q = 0; q < at.size(); ++q) {
            const double error = of_u[q] - of_exact[q];
            squares[norm] += error * error * points.JxW(q);
            squares[2 + norm] += of_exact[q] * of_exact[q] * points.JxW(q);
          }
        };
        add(at.u[c], 0, 0);
        for (unsigned int d = 0; d < dim; ++d)
          add(at.gradient(c, d), 1 + d, 1);
        if (!is_simplex)
          exact.value_list(of_largest.points(), values, c);
        const std::vector<double> &of_exact = is_simplex ? rows[c] : values;
        for (unsigned int q = 0; q < of_largest.size(); ++q)
          largest = std::max(largest, std::abs(of_largest.u[c][q] - of_exact[q]));
      }
      if (flux_error != nullptr)
        flux_square += flux.square(points, rows);
    }
  });
  std::array<double, 4> norms{};
  for (unsigned int i = 0; i < norms.size(); ++i)
    norms[i] = std::sqrt(Utilities::MPI::sum(squares[i], comm));
  if (flux_error != nullptr)
    *flux_error = std::sqrt(Utilities::MPI::sum(flux_square, comm));
  return {norms[0], norms[1], Utilities::MPI::max(largest, comm), norms[2], norms[3]};
}

template ErrorNorms compute_errors(const Problem<2> &, const Discretization<2> &, const FeVector &,
                                   double *);
template ErrorNorms compute_errors(const Problem<3> &, const Discretization<3> &, const FeVector &,
                                   double *);
} // namespace femgpu
