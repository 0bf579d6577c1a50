#include "linalg/solvers/jacobi_forecast.h"

#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/entry_properties.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

namespace femgpu::linalg
{
namespace
{
/// Largest contrast for which error estimates are reliable with Jacobi.
constexpr double largest_contrast = 1e4;

/// Jacobi is followed by fsai if more than this share of the off-diagonal entries has the sign of
/// the diagonal. In our collection the share is at least 0.4 for matrices of structures, and mostly
/// 0 for scalar diffusion.
constexpr double share_of_structures = 0.25;

/// The set-up of fsai costs as much as 50 iterations on 16 cores, or 1,000 on a GPU, where latency
/// dominates its small steps. On the host, Jacobi is as fast as fsai if it needs 100 to 200
/// iterations.
constexpr int max_jacobi_iterations_before_fsai_on_host = 200,
              max_jacobi_iterations_before_fsai_on_device = 1000;

/// Returns @p value rounded to two digits.
std::string rounded(const double value)
{
  std::ostringstream text;
  const double unit = std::pow(10., std::floor(std::log10(value)) - 1.);
  text << std::fixed << std::setprecision(0) << std::round(value / unit) * unit;
  return text.str();
}

/// Returns the number of Jacobi iterations that cost as much as multigrid on 16 cores: 200 with 27
/// entries per row, 450 with 7, 500 for elasticity on tetrahedra; 150 to 500 if multigrid uses
/// coarser meshes, 70 to 100 if it uses lower degrees. Short kernels add about 5 ms, the time of
/// 250 iterations of a small system.
double max_jacobi_iterations_on_host(const double n_nodes, const double entries_a_node,
                                     const bool is_vector, const bool has_hierarchy)
{
  const double iterations = 200. * std::pow(27. / entries_a_node, 0.6) * (is_vector ? 1.7 : 1.);
  return std::clamp(iterations, 70., has_hierarchy ? 350. : 500.) + 250. / (1. + n_nodes / 1000.);
}

/// Returns the number of Jacobi iterations that cost as much as multigrid on an H100 or H200, where
/// multigrid takes at least 20 ms, whatever the size, or 30 ms with coarser meshes and lower
/// degrees, and a Jacobi iteration takes at least 3 µs.
double max_jacobi_iterations_on_device(const double n_nonzeros, const bool has_hierarchy)
{
  const double multigrid = (has_hierarchy ? 30e-3 : 20e-3) + 2.5e-9 * n_nonzeros;
  return multigrid / (3e-6 + 5.5e-12 * n_nonzeros);
}
} // namespace

std::string JacobiForecast::reason_for_multigrid() const
{
  if (contrast > largest_contrast) {
    std::ostringstream text;
    text << std::scientific << std::setprecision(0) << contrast;
    return "because diagonal entries differ by a factor of " + text.str();
  }
  return iterations > max_jacobi_iterations
             ? "because jacobi would take about " + rounded(iterations) + " iterations"
             : "";
}

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
  const bool is_on_host = backend == BackendKind::host;
  const bool has_hierarchy = rows.max(unknowns.coarser.may_exist() ? 1. : 0.) > 0.;
  forecast.max_jacobi_iterations =
      static_cast<int>(is_on_host ? max_jacobi_iterations_on_host(n_nodes, entries_a_node,
                                                                  per_node > 1., has_hierarchy)
                                  : max_jacobi_iterations_on_device(n_nonzeros, has_hierarchy));
  forecast.iterations = (per_node > 1. ? 14. : 1.8) * rows.max(unknowns.nodes_along_body);
  if (forecast.iterations > 0.)
    forecast.contrast = on_backend(backend, [&A](const auto on) {
      return diagonal_contrast<typename decltype(on)::Backend>(A);
    });
  else if (on_backend(backend, [&A](const auto on) {
             return same_sign_fraction<typename decltype(on)::Backend>(A);
           }) > share_of_structures) {
    forecast.fsai_is_next = true;
    forecast.max_jacobi_iterations = is_on_host ? max_jacobi_iterations_before_fsai_on_host
                                                : max_jacobi_iterations_before_fsai_on_device;
  }
  forecast.update_iterations = forecast.max_jacobi_iterations / (is_on_host ? 3 : 10);
  return forecast;
}
} // namespace femgpu::linalg
