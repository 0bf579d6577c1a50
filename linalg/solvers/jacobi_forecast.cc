#include "linalg/solvers/jacobi_forecast.h"

#include "linalg/operators/csr_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace femgpu::linalg
{
namespace
{
/// On 16 cores multigrid takes as long as 200 iterations with 27 entries a row, 450 with 7, 500
/// with elasticity on tetrahedra; by coarser meshes 150 to 500, by lower degrees 70 to 100.
double patience_on_host(const double entries_a_node, const bool is_vector, const bool has_hierarchy)
{
  const double iterations = 200. * std::pow(27. / entries_a_node, 0.6) * (is_vector ? 1.7 : 1.);
  return std::clamp(iterations, 70., has_hierarchy ? 200. : 500.);
}

/// On an H200 multigrid takes at least 20 ms, whatever the size, and an iteration 3 µs.
double patience_on_device(const double n_nonzeros)
{
  const double multigrid = 20e-3 + 2.5e-9 * n_nonzeros, iteration = 3e-6 + 5.5e-12 * n_nonzeros;
  return multigrid / iteration;
}

/// Nodes along the longest side of the box around all nodes, if they fill it evenly; 0 if their
/// places are not known.
double nodes_along_body(const RowSpace &rows, const Unknowns &unknowns, const double n_nodes)
{
  const auto dimension = static_cast<std::size_t>(unknowns.dimension);
  const bool is_known = dimension > 0 && !unknowns.coordinates.empty();
  if (rows.max(is_known || rows.n() == 0 ? 0. : 1.) > 0.)
    return 0.;
  double volume = 1., longest = 0.;
  const auto n_directions = static_cast<std::size_t>(rows.max(static_cast<double>(dimension)));
  for (std::size_t d = 0; d < n_directions; ++d) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t k = d; k < unknowns.coordinates.size(); k += dimension) {
      low = std::min(low, unknowns.coordinates[k]);
      high = std::max(high, unknowns.coordinates[k]);
    }
    const double side = rows.max(high) + rows.max(-low);
    volume *= side;
    longest = std::max(longest, side);
  }
  return volume > 0. ? longest * std::pow(n_nodes / volume, 1. / static_cast<double>(n_directions))
                     : 0.;
}
} // namespace

JacobiForecast forecast_jacobi(const Matrix &A, const BackendKind backend)
{
  const RowSpace &rows = *A.range();
  const Unknowns &unknowns = *A.csr().unknowns();
  const double per_node = rows.max(std::max(unknowns.per_node, 1));
  const double n_nonzeros = rows.sum(static_cast<double>(A.csr().n_nonzeros()));
  const double n_nodes = static_cast<double>(rows.n_global()) / per_node;
  if (n_nodes == 0.)
    return {};
  const double entries_a_node = std::max(n_nonzeros / (n_nodes * per_node * per_node), 1.);
  JacobiForecast forecast;
  forecast.patience = static_cast<int>(
      backend == BackendKind::host
          ? patience_on_host(entries_a_node, per_node > 1.,
                             rows.max(unknowns.coarser.may_be_known() ? 1. : 0.) > 0.)
          : patience_on_device(n_nonzeros));
  forecast.iterations = (per_node > 1. ? 14. : 1.8) * nodes_along_body(rows, unknowns, n_nodes);
  return forecast;
}
} // namespace femgpu::linalg
