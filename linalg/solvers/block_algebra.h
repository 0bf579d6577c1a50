#ifndef femgpu_linalg_solvers_block_algebra_h
#define femgpu_linalg_solvers_block_algebra_h

#include "linalg/execution/this_backend.h"
#include "linalg/memory/buffer.h"
#include "linalg/operators/multi_vector.h"
#include "linalg/solvers/block_steps.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace femgpu::linalg
{
/// Returns the map that reads and writes the first @p n columns of blocks.
inline ColumnMap identity_map(const int n)
{
  ColumnMap map;
  for (int c = 0; c < ColumnMap::max_columns; ++c) {
    map.base[c] = static_cast<short>(c < n ? c : -1);
    map.result[c] = static_cast<short>(c < n + n % 2 ? c : -1);
  }
  return map;
}

/**
 * Operations on blocks of vectors with the same owned rows and up to ColumnMap::max_columns
 * columns, and small matrices in the executor's memory: products of blocks, summed over the ranks
 * in a fixed order, and coefficients for updates of blocks.
 */
template <class Backend>
class BlockAlgebra
{
public:
  /// @param max_columns maximum number of columns of a block
  /// @param n_matrices number of small matrices; one more contains coefficients
  /// @throws DeviceError if memory is exhausted
  BlockAlgebra(const RowSpacePtr &space, const int max_columns, const int n_matrices)
      : space(space), runner(*space->executor()), n_matrices(n_matrices),
        rows_per_chunk(std::max(min_rows_per_chunk, space->n() / max_chunks + 1)),
        n_chunks(space->n() / rows_per_chunk + 1)
  {
    reshape(max_columns);
    partial_sums = Buffer<double>(space->executor(), n_entries() * n_chunks);
    matrices = Buffer<double>(space->executor(), n_entries() * (n_matrices + 1) + 1);
  }

  /// Sets the number of columns of blocks in the following calls.
  void reshape(const int new_columns)
  {
    columns = new_columns;
    stride = MultiVector<double>::stride_of(new_columns);
  }

  /// Stores XᵀdY in a small matrix, with the diagonal matrix d. On several ranks, it is the part of
  /// this rank's rows until sum_over_ranks().
  void multiply_transposed(MultiVector<double> &X, const DiagonalView &d, MultiVector<double> &Y,
                           const int matrix, const bool only_diagonal = false)
  {
    runner.run(teams(n_chunks,
                     MultiplyBlocks{space->n(), rows_per_chunk, n_chunks, view(X), view(Y), d,
                                    only_diagonal, partial_sums.data()},
                     MultiplyBlocks::scratch_size));
    runner.run(
        teams(static_cast<int>(n_entries()), AddChunks{n_chunks, partial_sums.data(), at(matrix)}));
  }

  /// Replaces @p count small matrices by their sums over the ranks. They pass through the host.
  void sum_over_ranks(const int first, const int count)
  {
    if (space->communicator() == nullptr)
      return;
    std::vector<double> values(n_entries() * count);
    space->executor()->copy_to_host(values.data(), at(first), values.size() * sizeof(double));
    space->communicator()->sum(values.data(), static_cast<int>(values.size()));
    space->executor()->copy_from_host(at(first), values.data(), values.size() * sizeof(double));
  }

  /// Computes the coefficients sign D⁻¹F of updates; see SolveSmallSystem.
  void solve(const int D, const double sign, const int F)
  {
    runner.run(teams(
        1,
        SolveSmallSystem{columns, stride, at(D), at(F), sign, at(n_matrices), at(n_matrices + 1)},
        SolveSmallSystem::scratch_size(columns)));
  }

  /// Copies of small matrices in host memory.
  struct HostMatrices
  {
    std::vector<double> values;
    std::size_t stride;
    bool is_semidefinite; ///< the matrix D of the last solve()

    double diagonal_entry(const int matrix, const std::size_t c) const
    {
      return values[(static_cast<std::size_t>(matrix) * stride + c) * stride + c];
    }
  };
  /// Copies the small matrices to the host, after all steps launched so far.
  HostMatrices to_host() const
  {
    HostMatrices host{matrices.to_host(n_entries() * (n_matrices + 1) + 1),
                      static_cast<std::size_t>(stride), true};
    host.is_semidefinite = host.values.back() >= 0.;
    return host;
  }

  /// Computes result = d base + sign V C for the columns of @p map, with the coefficients C.
  void update(MultiVector<double> &base, const DiagonalView &d, MultiVector<double> &V,
              const double sign, MultiVector<double> &result, const ColumnMap &map)
  {
    for_pieces(stride, [&](const RowPieces &pieces) {
      return UpdateBlock{view(base),   d,   view(V), stride, at(n_matrices), sign,
                         view(result), map, pieces};
    });
  }

  /// Copies column kept[c] of @p from, multiplied by @p d, to column c of @p to, which becomes a
  /// block of these columns.
  void select(MultiVector<double> &from, const DiagonalView &d, const std::vector<int> &kept,
              MultiVector<double> &to)
  {
    to.reshape(static_cast<int>(kept.size()));
    ColumnMap map = identity_map(to.n_columns());
    for (std::size_t c = 0; c < kept.size(); ++c)
      map.base[c] = static_cast<short>(kept[c]);
    for_pieces(to.stride(), [&](const RowPieces &pieces) {
      return UpdateBlock{view(from), d, view(from), 0, nullptr, 0., view(to), map, pieces};
    });
  }

  /// Computes R = B − V.
  void subtract(const MultiVector<double> &B, MultiVector<double> &V, MultiVector<double> &R)
  {
    for_pieces(B.stride(), [&](const RowPieces &pieces) {
      return SubtractBlock{B.data(), view(V), view(R), pieces};
    });
  }

private:
  static constexpr int max_chunks = 1024, min_rows_per_chunk = 256;

  static Block view(MultiVector<double> &block)
  {
    return {block.data(), block.stride()};
  }
  std::size_t n_entries() const
  {
    return static_cast<std::size_t>(stride) * static_cast<std::size_t>(stride);
  }
  double *at(const int matrix)
  {
    return matrices.data() + n_entries() * static_cast<std::size_t>(matrix);
  }

  template <class Make>
  void for_pieces(const int row_stride, const Make &make)
  {
    for_row_pieces(space->n(), row_stride,
                   [&](const RowPieces &pieces) { runner.run(rows(pieces.count, make(pieces))); });
  }

  RowSpacePtr space;
  Runner<Backend> runner;
  int n_matrices;
  int rows_per_chunk, n_chunks;
  int columns = 0, stride = 0;
  Buffer<double> partial_sums;
  Buffer<double> matrices; ///< small matrices, coefficients, and the rank that solve() reports
};
} // namespace femgpu::linalg

#endif
