#include "linalg/solvers/component_deflation.h"

#include "linalg/base/parallel.h"
#include "linalg/solvers/rounding.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>

namespace femgpu::linalg
{
namespace
{
/// An off-diagonal entry couples two nodes weakly if it is at most this fraction of the largest
/// off-diagonal entry in the rows of the two nodes.
constexpr double weak_coupling = 1e-4;
/// A motion z is weakly held if zᵀ A z / zᵀ D z is at most this.
constexpr double weakly_held = 1e-3;
constexpr int max_coarse_unknowns = 192; ///< largest number of motions of all parts
constexpr int max_motions = 6;           ///< largest number of motions of a part

/// Disjoint sets of integers, which several threads may unite concurrently. The root of a set is
/// its smallest element.
class ConcurrentDisjointSets
{
public:
  explicit ConcurrentDisjointSets(const int n) : parents(static_cast<std::size_t>(n))
  {
    for (int i = 0; i < n; ++i)
      parents[static_cast<std::size_t>(i)].store(i, std::memory_order_relaxed);
  }
  int root(int i)
  {
    for (;;) {
      const int parent = of(i).load(std::memory_order_relaxed);
      if (parent == i)
        return i;
      const int grandparent = of(parent).load(std::memory_order_relaxed);
      of(i).store(grandparent, std::memory_order_relaxed);
      i = grandparent;
    }
  }
  void unite(int a, int b)
  {
    for (a = root(a), b = root(b); a != b; a = root(a), b = root(b)) {
      if (a < b)
        std::swap(a, b);
      int expected = a;
      if (of(a).compare_exchange_strong(expected, b))
        return;
    }
  }

private:
  std::atomic<int> &of(const int i)
  {
    return parents[static_cast<std::size_t>(i)];
  }
  std::vector<std::atomic<int>> parents;
};

/// The numbers (A z)_i of one row i, for the motions z of one part.
struct RowOfMotions
{
  int component_id;
  double sums[max_motions] = {};
  double magnitudes[max_motions] = {}; ///< sums of |a_ij z_j|
};

/// Returns the element of @p rows with this @p component_id; appends one if there is none.
RowOfMotions &row_of(const int component_id, std::vector<RowOfMotions> &rows)
{
  for (RowOfMotions &row : rows)
    if (row.component_id == component_id)
      return row;
  rows.push_back({component_id});
  return rows.back();
}

int motions_of_node(const int block, const Unknowns &unknowns)
{
  const bool rotates = block > 1 && unknowns.dimension == block && !unknowns.coordinates.empty();
  return !rotates ? block : block == 2 ? 3 : 6;
}

/// Solves K y = c by Cholesky's method, where K is symmetric and n x n. Sets y_k = 0 for each k
/// whose pivot is not positive.
std::vector<double> solve_positive(std::vector<double> K, std::vector<double> c)
{
  const std::size_t n = c.size();
  std::vector<double> diagonal(n);
  for (std::size_t k = 0; k < n; ++k)
    diagonal[k] = K[k * n + k];
  for (std::size_t k = 0; k < n; ++k) {
    constexpr double smallest_pivot = 1e-12; // relative to the diagonal
    double &pivot = K[k * n + k];
    if (!(pivot > smallest_pivot * diagonal[k])) {
      c[k] = 0.;
      for (std::size_t i = 0; i < n; ++i)
        K[i * n + k] = 0.;
      pivot = 1.;
      continue;
    }
    pivot = std::sqrt(pivot);
    c[k] /= pivot;
    for (std::size_t i = k + 1; i < n; ++i) {
      K[i * n + k] /= pivot;
      c[i] -= K[i * n + k] * c[k];
    }
    for (std::size_t j = k + 1; j < n; ++j)
      for (std::size_t i = j; i < n; ++i)
        K[i * n + j] -= K[i * n + k] * K[j * n + k];
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t i = k + 1; i < n; ++i)
      c[k] -= K[i * n + k] * c[i];
    c[k] /= K[k * n + k];
  }
  return c;
}
} // namespace

ComponentDeflation::ComponentDeflation(const HostCsr &matrix, const double *const b,
                                       const double *const x)
    : A(matrix), block(A.node_size()), n_motions(motions_of_node(block, *A.unknowns))
{
  const auto find = [&](const auto block_size) {
    find_components<block_size.value>();
    if (n_components > 0)
      find_motions<block_size.value>(b, x);
  };
  if (block == 1) // block becomes a compile-time constant, because each column is divided by it
    find(std::integral_constant<int, 1>());
  else if (block == 2)
    find(std::integral_constant<int, 2>());
  else if (block == 3)
    find(std::integral_constant<int, 3>());
}

template <int block>
void ComponentDeflation::find_components()
{
  const int n_nodes = A.n / block;
  std::vector<double> largest(static_cast<std::size_t>(n_nodes));
  is_free.assign(static_cast<std::size_t>(A.n), 0);
  parallel_for(n_nodes, [&](const int node) {
    for (int i = node * block; i < (node + 1) * block; ++i)
      for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
        if (A.columns[k] != i && A.values[k] != 0.) {
          is_free[i] = 1;
          if (A.columns[k] / block != node)
            largest[node] = std::max(largest[node], std::abs(A.values[k]));
        }
  });
  ConcurrentDisjointSets sets(n_nodes);
  const auto unite_with_row = [&](const int i, int /* thread */) {
    for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k) {
      const int node = i / block, other = A.columns[k] / block;
      if (other < node &&
          std::abs(A.values[k]) > weak_coupling * std::max(largest[node], largest[other]))
        sets.unite(node, other);
    }
  };
  parallel_for_dynamic(n_nodes * block, 4096, unite_with_row);
  component_id.resize(static_cast<std::size_t>(n_nodes));
  parallel_for(n_nodes, [&](const int node) {
    component_id[node] = largest[node] > 0. ? sets.root(node) : -1;
  });
  std::vector<int> roots;
  for (int node = 0; node < n_nodes; ++node)
    if (component_id[node] == node) {
      roots.push_back(node);
      if (static_cast<int>(roots.size()) * n_motions > max_coarse_unknowns)
        return;
    }
  n_components = static_cast<int>(roots.size());
  parallel_for(n_nodes, [&](const int node) {
    if (component_id[node] >= 0)
      component_id[node] = static_cast<int>(
          std::lower_bound(roots.begin(), roots.end(), component_id[node]) - roots.begin());
  });
  if (n_motions > block)
    find_centres();
}

void ComponentDeflation::find_centres()
{
  const std::vector<double> &coordinates = A.unknowns->coordinates;
  const auto dim = static_cast<std::size_t>(block);
  centres.assign(static_cast<std::size_t>(n_components) * dim, 0.);
  std::vector<double> counts(static_cast<std::size_t>(n_components));
  for (std::size_t node = 0; node < component_id.size(); ++node)
    if (const int p = component_id[node]; p >= 0) {
      counts[p] += 1.;
      for (std::size_t d = 0; d < dim; ++d)
        centres[p * dim + d] += coordinates[node * dim * dim + d]; // of the node's first unknown
    }
  for (std::size_t k = 0; k < centres.size(); ++k)
    centres[k] /= counts[k / dim];
}

template <int block>
void ComponentDeflation::motions_of(const int i, double *const z) const
{
  if constexpr (block == 1)
    z[0] = 1.;
  else {
    const int component = i % block;
    for (int m = 0; m < n_motions; ++m)
      z[m] = m == component ? 1. : 0.;
    if (n_motions == block)
      return;
    const double *const X = A.unknowns->coordinates.data() + static_cast<std::size_t>(i) * block;
    const double *const centre =
        centres.data() + static_cast<std::size_t>(component_id[i / block]) * block;
    for (int r = block; r < n_motions; ++r) { // rotation in the plane of the directions a and b
      const int a = block == 2 ? 0 : (r + 1) % 3, b = block == 2 ? 1 : (r + 2) % 3;
      z[r] = component == a ? centre[b] - X[b] : component == b ? X[a] - centre[a] : 0.;
    }
  }
}

struct ComponentDeflation::Sums
{
  explicit Sums(const std::size_t n) : K(n * n), D(n), c(n), noise(n)
  {}
  void add(const Sums &other)
  {
    for (std::vector<double> Sums::*const of : {&Sums::K, &Sums::D, &Sums::c, &Sums::noise})
      for (std::size_t k = 0; k < (this->*of).size(); ++k)
        (this->*of)[k] += (other.*of)[k];
  }

  std::vector<double> K;         ///< Zᵀ A Z
  std::vector<double> D;         ///< zᵀ D z of each motion
  std::vector<double> c;         ///< Zᵀ r
  std::vector<double> noise;     ///< estimated squares of the rounding errors of c
  std::vector<RowOfMotions> row; ///< workspace
};

template <int block>
void ComponentDeflation::add_row(const int i, const double *const b, const double *const x,
                                 Sums &sums) const
{
  const std::size_t motions = n_motions, n = sums.c.size(), own = component_id[i / block] * motions;
  double z[max_motions] = {}, z_j[max_motions] = {};
  motions_of<block>(i, z);
  double r = b[i], magnitude = std::abs(b[i]), diagonal = 0.;
  sums.row.clear();
  for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k) {
    const int j = A.columns[k], other = component_id[j / block];
    const double a = A.values[k];
    r -= a * x[j];
    magnitude += std::abs(a * x[j]);
    if (j == i)
      diagonal = a;
    if (other < 0 || is_free[j] == 0)
      continue;
    motions_of<block>(j, z_j);
    RowOfMotions &of_component = row_of(other, sums.row);
    for (std::size_t m = 0; m < motions; ++m) {
      of_component.sums[m] += a * z_j[m];
      of_component.magnitudes[m] += std::abs(a * z_j[m]);
    }
  }
  const double level = rounding_level(A.row_starts.length(i));
  for (const RowOfMotions &of_component : sums.row)
    for (std::size_t m = 0; m < motions; ++m)
      if (std::abs(of_component.sums[m]) > 0.5 * level * of_component.magnitudes[m])
        for (std::size_t l = 0; l < motions; ++l)
          sums.K[(own + l) * n + of_component.component_id * motions + m] +=
              z[l] * of_component.sums[m];
  for (std::size_t m = 0; m < motions; ++m) {
    const double rounding = level * magnitude * z[m];
    sums.D[own + m] += diagonal * z[m] * z[m];
    sums.c[own + m] += r * z[m];
    sums.noise[own + m] += rounding * rounding;
  }
}

template <int block>
void ComponentDeflation::find_motions(const double *const b, const double *const x)
{
  const std::size_t n =
      static_cast<std::size_t>(n_components) * static_cast<std::size_t>(n_motions);
  constexpr int n_chunks = 16; // fixed, so that sums do not depend on the number of threads
  std::vector<Sums> chunk_sums(n_chunks, Sums(n));
  parallel_for(n_chunks, [&](const int chunk) {
    const auto bound = [this](const long long k) { return static_cast<int>(A.n * k / n_chunks); };
    for (int i = bound(chunk); i < bound(chunk + 1); ++i)
      if (is_free[i] != 0 && component_id[i / block] >= 0)
        add_row<block>(i, b, x, chunk_sums[chunk]);
  });
  Sums &sums = chunk_sums[0];
  for (int chunk = 1; chunk < n_chunks; ++chunk)
    sums.add(chunk_sums[chunk]);
  std::vector<double> &c = sums.c;
  for (std::size_t k = 0; k < n; ++k)
    if (!(sums.K[k * n + k] <= weakly_held * sums.D[k]) || !(c[k] * c[k] > sums.noise[k]))
      c[k] = 0.;
  coefficients = solve_positive(sums.K, c);
  double squared = 0.;
  for (std::size_t k = 0; k < n; ++k)
    squared += c[k] * coefficients[k];
  energy_norm = squared > 0. ? std::sqrt(squared) : 0.;
}

void ComponentDeflation::correct(double *const x) const
{
  if (coefficients.empty())
    return;
  const std::size_t motions = n_motions;
  for (int i = 0; i < A.n; ++i)
    if (const int own = component_id[i / block]; own >= 0 && is_free[i] != 0) {
      double z[max_motions] = {};
      block == 1 ? motions_of<1>(i, z) : block == 2 ? motions_of<2>(i, z) : motions_of<3>(i, z);
      for (int k = 0; k < n_motions; ++k)
        x[i] += z[k] * coefficients[own * motions + k];
    }
}
} // namespace femgpu::linalg
