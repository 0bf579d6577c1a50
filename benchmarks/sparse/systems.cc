#include "benchmarks/sparse/candidate.h"
#include "linalg/execution/make_executor.h"
#include "linalg/sparse/product.h"
#include "linalg/sparse/sum.h"
#include "solve/generators/registry.h"
#include "solve/matrix_market/matrix_market.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace femgpu::linalg::benchmark
{
namespace
{
/// Returns the aggregate of each node. A node is a block of consecutive rows, one for
/// each of its unknowns. An aggregate consists of a root and its neighbours; different roots have
/// no common neighbour.
std::vector<int> aggregates_of(const SparseArrays &A, const int unknowns, int &n_aggregates)
{
  std::vector<int> aggregate(static_cast<std::size_t>(A.n() / unknowns), -1);
  const auto for_neighbours = [&](const int node, const auto &f) {
    for (int i = node * unknowns; i < (node + 1) * unknowns; ++i)
      for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
        f(aggregate[A.columns[k] / unknowns]);
  };
  const int n_nodes = static_cast<int>(aggregate.size());
  n_aggregates = 0;
  for (int node = 0; node < n_nodes; ++node) {
    bool is_free = aggregate[node] < 0;
    for_neighbours(node, [&](const int other) { is_free = is_free && other < 0; });
    if (!is_free)
      continue;
    aggregate[node] = n_aggregates;
    for_neighbours(node, [&](int &other) { other = n_aggregates; });
    ++n_aggregates;
  }
  // Each remaining node joins the aggregate of a neighbour or, without one, forms a new aggregate.
  for (int node = 0; node < n_nodes; ++node)
    if (aggregate[node] < 0) {
      int found = -1;
      for_neighbours(node, [&](const int other) { found = std::max(found, other); });
      aggregate[node] = found >= 0 ? found : n_aggregates++;
    }
  return aggregate;
}

/// Returns the prolongation (I − ω/λ D⁻¹ A) T of smoothed aggregation with ω = 2/3 and λ = 2, about
/// the largest eigenvalue of D⁻¹ A. T maps each unknown of a node to the same unknown of its
/// aggregate. In place of the diagonal entry of a row, D holds the largest magnitude in
/// the row.
SparseArrays smoothed_aggregates(const SparseArrays &A, const int unknowns)
{
  int n_aggregates = 0;
  const std::vector<int> aggregate = aggregates_of(A, unknowns, n_aggregates);
  SparseArrays T;
  T.n_columns = n_aggregates * unknowns;
  T.row_starts.resize(static_cast<std::size_t>(A.n()) + 1);
  std::iota(T.row_starts.begin(), T.row_starts.end(), 0);
  for (int i = 0; i < A.n(); ++i)
    T.columns.push_back(aggregate[i / unknowns] * unknowns + i % unknowns);
  T.values.assign(static_cast<std::size_t>(A.n()), 1.);
  SparseArrays scaled = A;
  for (int i = 0; i < A.n(); ++i) {
    double largest = 0.;
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      largest = std::max(largest, std::abs(A.values[k]));
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      scaled.values[k] = largest > 0. ? A.values[k] / largest / 3. : 0.;
  }
  const ExecutorPtr host = make_executor("host");
  const CsrMatrix on_host = to_executor(host, T);
  const Product<HostBackend> smoothing(to_executor(host, scaled), on_host);
  return to_host(*Sum<HostBackend>(1., on_host, -1., *smoothing.matrix()).matrix());
}
} // namespace

CsrMatrix to_executor(const ExecutorPtr &executor, const SparseArrays &A)
{
  return {executor, A.n_columns, Buffer<int>(executor, A.row_starts.data(), A.row_starts.size()),
          Buffer<int>(executor, A.columns.data(), A.columns.size()),
          Buffer<double>(executor, A.values.data(), A.values.size())};
}

SparseArrays to_host(const CsrMatrix &A)
{
  SparseArrays result{A.n_columns(), A.host_row_starts(), A.host_columns(),
                      std::vector<double>(A.n_nonzeros())};
  A.executor()->copy_to_host(result.values.data(), A.csr_view().values,
                             result.values.size() * sizeof(double));
  std::vector<std::pair<int, double>> row;
  for (int i = 0; i < result.n(); ++i) {
    const int begin = result.row_starts[i], end = result.row_starts[i + 1];
    if (std::is_sorted(result.columns.begin() + begin, result.columns.begin() + end))
      continue;
    row.clear();
    for (int k = begin; k < end; ++k)
      row.emplace_back(result.columns[k], result.values[k]);
    std::sort(row.begin(), row.end());
    for (int k = begin; k < end; ++k)
      std::tie(result.columns[k], result.values[k]) = row[k - begin];
  }
  return result;
}

SparseSystem make_system(const std::string &text)
{
  const bool is_file = text.find(".mtx") != std::string::npos;
  SparseSystem system;
  system.name = is_file ? text.substr(text.rfind('/') + 1) : text;
  HostMatrix A;
  if (is_file) {
    MatrixMarketMatrix file = read_matrix_market(text);
    system.is_symmetric = file.is_symmetric;
    A = std::move(file.matrix);
  }
  else {
    ModelProblem problem = generate(text);
    system.is_symmetric = problem.is_symmetric;
    A = std::move(problem.A);
  }
  system.A = {A.n, std::move(A.row_starts), std::move(A.columns), std::move(A.values)};
  system.P = smoothed_aggregates(system.A, std::max(A.unknowns->per_node, 1));
  return system;
}
} // namespace femgpu::linalg::benchmark
