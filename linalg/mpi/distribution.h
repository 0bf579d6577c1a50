#ifndef femgpu_linalg_mpi_distribution_h
#define femgpu_linalg_mpi_distribution_h

#include "linalg/base/host_matrix.h"
#include "linalg/operators/row_space.h"

#include <mpi.h>

#include <vector>

/**
 * @file
 * A system cut into rows for all ranks, which the first one has, or each its own. All functions are
 * collective.
 */
namespace femgpu::linalg
{
/// The first rows of parts that follow each other, and n: parts are about equal in what an
/// iteration reads of them, their entries and some vectors, and cut no node. Where a part of A's
/// order begins within a tenth of a share, a part of rows does, too. @param A with or without
/// values
std::vector<int> balanced_rows(const HostCsr &A, int n_parts);

/// The rows of a matrix that a rank has. It may be moved, but not while somebody has its csr().
struct MatrixPart
{
  HostMatrix rows; ///< columns are own ones first, from 0 on, then ghosts
  GhostPlan ghosts;

  HostCsr csr() const
  {
    HostCsr A = rows.csr();
    A.ghosts = &ghosts;
    return A;
  }
};

/// How the rows of a system are distributed.
class Distribution
{
public:
  /// Cuts @p A, of the first rank; that of others is not read.
  Distribution(MPI_Comm ranks, const HostCsr &A);

  /// @param rows of this rank, behind those of the ranks before, with columns by their numbers in
  /// the whole matrix
  Distribution(MPI_Comm ranks, HostMatrix rows);

  /// Of this rank.
  const MatrixPart &matrix() const
  {
    return part;
  }
  int n() const
  {
    return part.rows.n;
  }
  /// Rows of the first rank to those of all. @param v of the first rank, all numbers, @p width of
  /// them a row
  std::vector<double> scatter(const std::vector<double> &v, std::size_t width = 1) const;
  /// And back: all numbers on the first rank, elsewhere none.
  std::vector<double> gather(const std::vector<double> &v) const;

  /// The least and the most of the ranks' numbers.
  struct Range
  {
    long long least, most;
  };
  Range range_of(long long number) const;

private:
  void send_rows(const HostCsr &A);
  void receive_rows();
  void send_unknowns(const Unknowns &all);
  void make_plan();

  MPI_Comm ranks;
  int rank = 0;
  std::vector<int> starts; ///< of all ranks, and n
  MatrixPart part;
};
} // namespace femgpu::linalg

#endif
