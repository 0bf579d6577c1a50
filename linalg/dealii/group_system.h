#ifndef femgpu_linalg_dealii_group_system_h
#define femgpu_linalg_dealii_group_system_h

#include "linalg/dealii/node_memory.h"
#include "linalg/mpi/solver_groups.h"
#include "linalg/operators/csr_matrix.h"

#include <deal.II/base/types.h>

#include <functional>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/**
 * The border between deal.II and linalg: a system A x = b, or A x = b + λ W φ(x) with the diagonal
 * matrix W of weights w, distributed over solver groups. The ranks of a group share the memory that
 * has its rows. Every rank writes those it owns, which are contiguous in the global numbering; what
 * it has for rows of others waits until compress(). The leader of a group sees its rows as a CSR
 * matrix without any copy.
 */
class GroupSystem
{
public:
  using Index = dealii::types::global_dof_index;

  explicit GroupSystem(const SolverGroups &groups);
  GroupSystem(const GroupSystem &) = delete;
  GroupSystem &operator=(const GroupSystem &) = delete;
  /// Collective.
  ~GroupSystem();

  /// The columns of this rank's @p row-th row, global numbers, ascending; valid until the next
  /// call. The rows are asked for in their order.
  using RowColumns = std::function<const std::vector<Index> &(std::size_t row)>;

  /**
   * Collective. Makes the pattern; all ranks' rows, one rank after the other, are numbered 0 to
   * n-1. x is zero afterwards, nothing is known of the unknowns, and set_zero() makes A, b and w:
   * not before what made the pattern has gone.
   * @param row_lengths entries in each row of this rank
   * @throws ParameterError if a group has more rows and ghosts than most_indices, or more entries
   *         than RowStarts::most_entries
   */
  void reinit(const std::vector<unsigned int> &row_lengths, const RowColumns &row_columns);

  /// What is known of the unknowns of a group; only what its leader gives counts.
  void set_unknowns(Unknowns unknowns)
  {
    known = std::make_shared<const Unknowns>(std::move(unknowns));
  }

  /// Collective. The numbers of a group's ranks, one rank after the other, on its leader; elsewhere
  /// none. @tparam List a std::vector of int or double or a RawVector of these or unsigned char
  template <class List>
  List gather_on_leader(List mine) const;

  /// Collective. Sets this rank's rows of the matrix, of b and, of a pattern always or never, of w
  /// to zero, and forgets what it has for rows of others.
  /// @throws DeviceError, of a new pattern, if there is no memory for them
  void set_zero(bool has_weights);

  /// Adds to A(row, columns[k]), k < n; the columns ascend and are in the pattern.
  void add_row(Index row, unsigned int n, const Index *columns, const double *values);

  /// Adds to b(row).
  void add_rhs(Index row, double value);

  /// Adds to w(row).
  void add_weight(Index row, double value);

  /// Collective. Brings what was added for rows of other ranks there, in an order that is fixed.
  void compress();

  /// Collective. Makes b, w and x as the ranks wrote them visible to all of a group.
  void synchronize() const;

  /// What a group has, for its leader: rows in the order of the ranks.
  struct Part
  {
    HostCsr A; ///< of several groups its columns are the group's, and ghosts behind
    double *b, *w, *x;
  };
  /// Valid on every rank after compress(), its pattern after reinit(); the plan of ghosts on
  /// leaders.
  Part part() const;

  /// Collective. This rank's rows of A x.
  std::vector<double> vmult() const;
  /// Collective. This rank's rows of |A| |x| + |b|.
  std::vector<double> magnitudes() const;
  /// This rank's diagonal of A; for rows in which it is not positive their Euclidean norms.
  std::vector<double> row_scales() const;
  /// Collective. The number of entries in the longest row.
  int longest_row() const;

  /// Of the pattern: reinit() gives a number that no pattern of this program had before; 0 without.
  std::size_t pattern_number() const
  {
    return number;
  }

  /// Rows of all groups.
  std::size_t n() const
  {
    return static_cast<std::size_t>(row_begins.back());
  }
  /// Of each group.
  std::vector<std::size_t> rows_of_groups() const;

  /// Entries of the whole matrix.
  std::size_t n_nonzeros() const
  {
    return all_nonzeros;
  }
  /// b, w, if the system has it, and x of the rows that this rank owns.
  double *rhs() const
  {
    return b.data() + first_here;
  }
  double *weights() const
  {
    return w.data() + first_here;
  }
  double *solution() const
  {
    return x.data() + first_here;
  }
  Index first_owned() const
  {
    return row_begins[my_rank];
  }
  Index n_owned() const
  {
    return row_begins[my_rank + 1] - row_begins[my_rank];
  }
  const SolverGroups &groups() const
  {
    return solver_groups;
  }
  MPI_Comm communicator() const
  {
    return solver_groups.ranks();
  }

private:
  /// An entry for a row of another rank; two columns that no matrix has stand for b and w.
  struct Contribution
  {
    Index row;
    Index column;
    double value;
  };

  /// Collective. Brings ghosts of x, and calls f(i) for this rank's rows of A.
  template <class F>
  void for_each_row_with_x(const F &f) const;
  bool owns(const Index row) const
  {
    return row >= row_begins[my_rank] && row < row_begins[my_rank + 1];
  }
  unsigned int owner_of(Index row) const;
  void add_owned_row(Index row, unsigned int n, const Index *columns, const double *values);
  void count_rows(std::size_t my_rows, std::size_t my_nonzeros);
  std::vector<Index> fill_pattern(std::size_t n_rows, const RowColumns &row_columns);
  void number_ghosts(const std::vector<Index> &of_rank, std::size_t n_nonzeros);

  SolverGroups solver_groups;
  unsigned int my_rank = 0, n_ranks = 1;

  std::size_t number = 0;
  std::vector<Index> row_begins = {0}; ///< first row of each rank, and n
  Index first_of_group = 0;
  int n_here = 0;             ///< rows of the group
  std::size_t first_here = 0; ///< of the group's rows the first of this rank
  std::size_t first_nonzero = 0, nonzeros_here = 0, all_nonzeros = 0;
  std::vector<long long> ghosts; ///< of the group
  GhostPlan plan;                ///< on leaders
  UnknownsPtr known = nothing_known;

  RowStarts row_starts; ///< views low_starts
  NodeArray<int> low_starts, columns;
  NodeArray<double> values, b, w, x; ///< x with ghosts

  std::vector<std::vector<Contribution>> for_others; ///< by rank
};
} // namespace femgpu::linalg

#endif
