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
 * The interface between deal.II and linalg: a system A x = b, or A x = b + λ W φ(x) with the
 * diagonal matrix W of weights w, distributed over solver groups. The ranks of a group share the
 * memory that holds its rows. Every rank writes the rows it owns, which are contiguous in the
 * global numbering; contributions to rows of other ranks are stored until compress(). The leader of
 * a group accesses the group's rows as a CSR matrix without copying.
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

  /// Returns the global column numbers of this rank's @p row-th row in ascending order; valid until
  /// the next call. reinit() calls this function for the rows in ascending order.
  using RowColumns = std::function<const std::vector<Index> &(std::size_t row)>;

  /**
   * Makes the pattern. The rows of all ranks, in rank order, are numbered from 0 to n-1. Afterwards
   * x is zero, and the unknowns have default properties. A, b and w are only allocated by
   * set_zero(), when temporary data of the pattern have been freed. Collective.
   * @param row_lengths number of entries in each row of this rank
   * @throws ParameterError if a group has more rows and ghosts than max_indices, or more entries
   *   than RowStarts::max_entries
   */
  void reinit(const std::vector<unsigned int> &row_lengths, const RowColumns &row_columns);

  /// Sets the properties of the unknowns of a group; only the call of the group's leader has an
  /// effect.
  void set_unknowns(Unknowns unknowns)
  {
    unknowns_info = std::make_shared<const Unknowns>(std::move(unknowns));
  }

  /// Gathers the lists of a group's ranks, in rank order, on the group's leader; returns an empty
  /// list on other ranks. Collective.
  /// @tparam List a std::vector of int or double, or a RawVector of these or unsigned char
  template <class List>
  List gather_on_leader(List mine) const;

  /// Sets this rank's rows of the matrix, b and w to zero, and drops the rank's contributions to
  /// rows of other ranks. Collective.
  /// @param has_weights whether the system has w; must be the same in all calls for one pattern
  /// @throws DeviceError if the pattern is new and memory is exhausted
  void set_zero(bool has_weights);

  /// Sets this rank's rows of b to zero, and drops the rank's contributions to rows of other ranks.
  /// Collective.
  void set_rhs_zero();

  /// Adds values[k] to A(row, columns[k]) for k < @p n. The columns must be in ascending order and
  /// in the pattern.
  void add_row(Index row, unsigned int n, const Index *columns, const double *values);

  /// Adds @p value to b(row).
  void add_rhs(Index row, double value);

  /// Adds @p value to w(row).
  void add_weight(Index row, double value);

  /// Sends contributions to rows of other ranks to their owners, which add them in a reproducible
  /// order. Collective.
  void compress();

  /// Makes b, w and x, as written by the ranks of a group, visible to all these ranks. Collective.
  void synchronize() const;

  /// The rows of a group, in rank order, for its leader.
  struct Block
  {
    HostCsr A; ///< with several groups, the columns are the group's rows, then ghosts
    double *b, *w, *x;
  };
  /// Returns the rows of the group. They are valid on every rank after compress(), and the pattern
  /// already after reinit(); the plan of ghosts is valid on leaders only.
  Block block() const;

  /// The entries of A in the rows that this rank owns, n_owned_nonzeros() numbers in the order of
  /// the pattern. @pre set_zero() was called
  double *matrix() const
  {
    return values.data() + first_nonzero;
  }
  std::size_t n_owned_nonzeros() const
  {
    const auto first = static_cast<int>(first_in_group);
    return row_starts[first + static_cast<int>(n_owned())] - row_starts[first];
  }
  /// Returns this rank's rows of A x. Collective.
  std::vector<double> vmult() const
  {
    return vmult(matrix());
  }
  /// Returns this rank's rows of B x, for a matrix B that has the pattern of A. Collective.
  /// @param B the entries in the rows of this rank, as in matrix()
  std::vector<double> vmult(const double *B) const;
  /// Returns this rank's rows of |A| |x| + |b|. Collective.
  std::vector<double> magnitudes() const;
  /// Returns for each row of this rank its diagonal entry or, if that is not positive, the
  /// Euclidean norm of the row.
  std::vector<double> row_scales() const;
  /// Returns the number of entries in the longest row. Collective.
  int longest_row() const;

  /// The number of the pattern, unique within this process; 0 before the first reinit().
  std::size_t pattern_number() const
  {
    return number;
  }

  /// The number of rows of all groups.
  std::size_t n() const
  {
    return static_cast<std::size_t>(rank_starts.back());
  }
  /// The number of rows of each group.
  std::vector<std::size_t> rows_of_groups() const;

  /// The number of entries of the whole matrix.
  std::size_t n_nonzeros() const
  {
    return all_nonzeros;
  }
  /// The entries of b in the rows that this rank owns.
  double *rhs() const
  {
    return b.data() + first_in_group;
  }
  /// The entries of w in the rows that this rank owns, if the system has w.
  double *weights() const
  {
    return w.data() + first_in_group;
  }
  /// The entries of x in the rows that this rank owns.
  double *solution() const
  {
    return x.data() + first_in_group;
  }
  Index first_owned() const
  {
    return rank_starts[my_rank];
  }
  Index n_owned() const
  {
    return rank_starts[my_rank + 1] - rank_starts[my_rank];
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
  /// A value to add to a row of A that another rank owns; two reserved columns denote b and w.
  struct Contribution
  {
    Index row;
    Index column;
    double value;
  };

  /// Updates the ghosts of x, and calls f(i) for this rank's rows i, counted in the group.
  /// Collective.
  template <class F>
  void for_each_row_with_x(const F &f) const;
  bool owns(const Index row) const
  {
    return row >= rank_starts[my_rank] && row < rank_starts[my_rank + 1];
  }
  unsigned int owner_of(Index row) const;
  void add_owned_row(Index row, unsigned int n, const Index *columns, const double *values);
  void count_rows(std::size_t my_rows, std::size_t my_nonzeros);
  std::vector<Index> fill_pattern(std::size_t n_rows, const RowColumns &row_columns);
  void number_ghosts(const std::vector<Index> &rank_entries, std::size_t n_nonzeros);

  SolverGroups solver_groups;
  unsigned int my_rank = 0, n_ranks = 1;

  std::size_t number = 0;
  std::vector<Index> rank_starts = {0}; ///< first row of each rank, then n
  Index first_of_group = 0;
  int n_group_rows = 0;           ///< rows of the group
  std::size_t first_in_group = 0; ///< first row of this rank, counted in the group
  std::size_t first_nonzero = 0, group_nonzeros = 0, all_nonzeros = 0;
  std::vector<long long> ghosts; ///< global numbers of the group's ghosts
  GhostPlan plan;                ///< plan to exchange ghosts, on leaders only
  UnknownsPtr unknowns_info = default_unknowns;

  RowStarts row_starts; ///< a view of low_starts
  NodeArray<int> low_starts, columns;
  NodeArray<double> values, b, w, x; ///< x includes ghosts

  std::vector<std::vector<Contribution>> off_rank_contributions; ///< one list per rank
};
} // namespace femgpu::linalg

#endif
