#include "physics/error_norms.h"

#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/cell_points.h"
#include "physics/mean_value.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
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
/// Returns the quadrature @p a, followed by the points of @p b with zero weights.
template <int dim>
Quadrature<dim> with_points_of(const Quadrature<dim> &a, const Quadrature<dim> &b)
{
  std::vector<Point<dim>> points = a.get_points();
  std::vector<double> weights = a.get_weights();
  points.insert(points.end(), b.get_points().begin(), b.get_points().end());
  weights.resize(points.size(), 0.);
  return Quadrature<dim>(points, weights);
}

/// Computes the difference between the fluxes of a solution and of the exact solution, at the first
/// points of a batch.
template <int dim>
class FluxDifference
{
public:
  explicit FluxDifference(const Problem<dim> &problem)
      : problem(problem), n_components(problem.n_components())
  {}

  void reinit(const PointBatch<dim> &at, const unsigned int n)
  {
    evaluation_points.assign(at.points().begin(), at.points().begin() + n);
    for (PointBatch<dim> *const batch : {&discrete, &exact}) {
      batch->evaluation_points = &evaluation_points;
      batch->material = at.material;
      batch->u.reinit(n_components, n);
      batch->gradients.reinit(n_components * dim, n);
    }
    for (unsigned int c = 0; c < n_components; ++c) {
      std::copy_n(at.u[c], n, discrete.u[c]);
      for (unsigned int r = c * dim; r < (c + 1) * dim; ++r)
        std::copy_n(at.gradients[r], n, discrete.gradients[r]);
    }
  }
  /// Sets component @p c of the exact solution.
  /// @param rows the values, then each derivative; these rows start @p stride numbers apart
  void set_exact(const unsigned int c, const double *const rows, const std::size_t stride)
  {
    std::copy_n(rows, evaluation_points.size(), exact.u[c]);
    for (unsigned int d = 0; d < dim; ++d)
      std::copy_n(rows + (1 + d) * stride, evaluation_points.size(), exact.gradients[c * dim + d]);
  }
  double square(const CellPoints<dim> &points)
  {
    double sum = 0.;
    const auto evaluate = [&](const auto &batch, PointTerms &terms) {
      terms.reinit(n_components * dim, n_components, dim, batch.size());
      problem.flux(batch, terms);
    };
    evaluate(discrete, sigma);
    evaluate(exact, exact_sigma);
    for (unsigned int r = 0; r < n_components * dim; ++r)
      for (unsigned int q = 0; q < evaluation_points.size(); ++q)
        sum += std::pow(sigma.value(r)[q] - exact_sigma.value(r)[q], 2) * points.JxW(q);
    return sum;
  }

private:
  const Problem<dim> &problem;
  unsigned int n_components;
  std::vector<Point<dim>> evaluation_points;
  PointBatch<dim> discrete, exact;
  PointTerms sigma, exact_sigma;
};
} // namespace

template <int dim>
ErrorNorms compute_errors(const Problem<dim> &problem, const Discretization<dim> &discretization,
                          const FeVector &u, double *const flux_error)
{
  const ReferenceSolution<dim> exact(problem, discretization);
  const Quadrature<dim> gauss = discretization.cell_quadrature(2);
  const bool is_simplex = discretization.mesh().is_simplex;
  // The maximum of the error usually lies between nodes.
  const Quadrature<dim> all =
      is_simplex ? gauss
                 : with_points_of<dim>(
                       gauss, QIterated<dim>(QTrapezoid<1>(), 2 * discretization.degree()));
  const unsigned int n_gauss = gauss.size(), first_dense = is_simplex ? 0 : n_gauss;
  CellPoints<dim> points(discretization, all);
  Vector<double> u_cell(discretization.element().n_dofs_per_cell());
  std::vector<double> rows;
  std::array<double, 4> squares{}; // L2 and H1 of the error, L2 and H1 of the exact solution
  double largest = 0., flux_square = 0.;
  FluxDifference<dim> flux(problem);
  const MPI_Comm comm = discretization.communicator();
  rethrow_on_all_ranks<ParameterError>(comm, [&] {
    for (const auto &cell : discretization.owned_cells()) {
      cell->get_dof_values(u, u_cell);
      points.reinit(cell);
      points.set_solution(u_cell);
      const PointBatch<dim> &at = points.batch();
      const unsigned int n = at.size();
      if (flux_error != nullptr)
        flux.reinit(at, n_gauss);
      for (unsigned int c = 0; c < problem.n_components(); ++c) {
        exact.value_and_gradient_rows(at.points(), n_gauss, rows, c);
        const auto add = [&](const double *const of_u, const double *const of_exact,
                             const unsigned int norm) {
          for (unsigned int q = 0; q < n_gauss; ++q) {
            const double error = of_u[q] - of_exact[q];
            squares[norm] += error * error * points.JxW(q);
            squares[2 + norm] += of_exact[q] * of_exact[q] * points.JxW(q);
          }
        };
        add(at.u[c], rows.data(), 0);
        for (unsigned int d = 0; d < dim; ++d)
          add(at.gradient(c, d), rows.data() + (1 + d) * std::size_t(n), 1);
        for (unsigned int q = first_dense; q < n; ++q)
          largest = std::max(largest, std::abs(at.u[c][q] - rows[q]));
        if (flux_error != nullptr)
          flux.set_exact(c, rows.data(), n);
      }
      if (flux_error != nullptr)
        flux_square += flux.square(points);
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
