#ifndef femgpu_linalg_dealii_node_system_h
#define femgpu_linalg_dealii_node_system_h

#include "linalg/dealii/node_memory.h"
#include "linalg/operators/csr_matrix.h"

#include <deal.II/base/types.h>

#include <functional>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/**
 * The border between deal.II and linalg: a system A x = b, or A x = b + λ W φ(x) with the diagonal
 * matrix W of weights w, in memory that the ranks of a node share. Every rank writes the rows it
 * owns, which are contiguous in the global numbering; what it has for rows of others waits until
 * compress(). The leader sees the whole CSR matrix without any copy.
 */
class NodeSystem
{
public:
  using Index = dealii::types::global_dof_index;

  /// @throws DeviceError unless all ranks run on one node.
  explicit NodeSystem(MPI_Comm communicator);

  /// Writes the columns of this rank's @p row-th row, ascending.
  using FillRow = std::function<void(std::size_t row, int *columns)>;

  /**
   * Collective. Makes the pattern; all ranks' rows, one rank after the other, are numbered 0 to
   * n-1. Matrix, b, w and x are zero afterwards, and nothing is known of the unknowns.
   * @param row_lengths entries in each row of this rank
   * @throws ParameterError if there are more rows than most_indices, or more entries than
   *         RowStarts::most_entries
   */
  void reinit(const std::vector<unsigned int> &row_lengths, const FillRow &fill_row);

  /// What is known of the unknowns; only what the leader gives counts.
  void set_unknowns(Unknowns unknowns)
  {
    known = std::make_shared<const Unknowns>(std::move(unknowns));
  }

  /// Collective. The numbers of all ranks, one rank after the other, on the leader; elsewhere none.
  /// @tparam T int or double
  template <class T>
  std::vector<T> gather_on_leader(std::vector<T> mine) const;

  /// Sets this rank's rows of the matrix, of b and of w to zero.
  void set_zero();

  /// Adds to A(row, columns[k]), k < n; the columns ascend and are in the pattern.
  void add_row(Index row, unsigned int n, const Index *columns, const double *values);

  /// Adds to b(row).
  void add_rhs(Index row, double value);

  /// Adds to w(row).
  void add_weight(Index row, double value);

  /// Collective. Brings what was added for rows of other ranks there, in an order that is fixed.
  void compress();

  /// Collective. Makes b, w and x as the ranks wrote them visible to all.
  void synchronize() const;

  /// The whole matrix; valid on every rank after compress(), its pattern after reinit().
  HostCsr matrix() const;

  /// Of the pattern: reinit() gives a number that no pattern of this program had before; 0 without.
  std::size_t pattern_number() const
  {
    return number;
  }

  std::size_t n() const
  {
    return static_cast<std::size_t>(row_begins.back());
  }
  /// Entries of the whole matrix.
  std::size_t n_nonzeros() const
  {
    return total_nonzeros;
  }
  /// Bytes of shared memory, all ranks together.
  std::size_t bytes() const;

  /// b, w and x, n() elements by global number; this rank writes those it owns.
  double *rhs() const
  {
    return b.data();
  }
  double *weights() const
  {
    return w.data();
  }
  double *solution() const
  {
    return x.data();
  }
  Index first_owned() const
  {
    return row_begins[my_rank];
  }
  Index n_owned() const
  {
    return row_begins[my_rank + 1] - row_begins[my_rank];
  }
  MPI_Comm communicator() const
  {
    return comm;
  }

private:
  /// An entry for a row of another rank; two columns that no matrix has stand for b and w.
  struct Contribution
  {
    Index row;
    Index column;
    double value;
  };

  bool owns(const Index row) const
  {
    return row >= row_begins[my_rank] && row < row_begins[my_rank + 1];
  }
  unsigned int owner_of(Index row) const;
  void add_owned_row(Index row, unsigned int n, const Index *columns, const double *values);
  void count_rows(std::size_t my_rows, std::size_t my_nonzeros);

  MPI_Comm comm;
  unsigned int my_rank = 0, n_ranks = 1;

  std::size_t number = 0;
  std::vector<Index> row_begins = {0}; ///< first row of each rank, and n
  std::size_t first_nonzero = 0, total_nonzeros = 0;
  UnknownsPtr known = nothing_known;

  RowStarts row_starts; ///< views low_starts
  NodeArray<int> low_starts, columns;
  NodeArray<double> values, b, w, x;

  std::vector<std::vector<Contribution>> for_others; ///< by rank
};
} // namespace femgpu::linalg

#endif
