#ifndef femgpu_linalg_mpi_distribution_h
#define femgpu_linalg_mpi_distribution_h

#include "linalg/base/host_matrix.h"
#include "linalg/operators/row_space.h"

#include <mpi.h>

#include <vector>

/**
 * @file
 * The distribution of a system's rows over ranks: either the first rank sends them, or each rank
 * already has its rows. All functions are collective.
 */
namespace femgpu::linalg
{
/// Divides the rows of @p A into contiguous subdomains and returns the first row of each, then n.
/// Subdomains are balanced by the data that an iteration reads: their entries and some vectors. No
/// node is split. If a part of A's ordering (Unknowns::part_starts) begins near a boundary between
/// subdomains, within a tenth of the mean number of rows of a subdomain, the boundary moves to the
/// start of the part.
/// @param A its values are not read
std::vector<int> balanced_rows(const HostCsr &A, int n_subdomains);

/// The rows of a distributed matrix on one rank. An object must not be moved while a result of its
/// csr() is in use.
struct LocalMatrix
{
  HostMatrix rows; ///< columns are numbered from 0: owned columns, then ghosts
  GhostPlan ghosts;

  HostCsr csr() const
  {
    HostCsr A = rows.csr();
    A.ghosts = &ghosts;
    return A;
  }
};

/// The distribution of a system's rows over ranks.
class Distribution
{
public:
  /// Distributes the matrix @p A of the first rank; @p A is ignored on other ranks.
  Distribution(MPI_Comm ranks, const HostCsr &A);

  /// Makes a distribution from the rows that each rank already has.
  /// @param rows the rows of this rank, which follow the rows of lower ranks; columns have global
  /// numbers
  Distribution(MPI_Comm ranks, HostMatrix rows);

  /// Replaces the values of this rank's rows. Results of matrix().csr() remain valid and refer to
  /// the new values. Not collective.
  /// @param values the values of the rows that were passed to the constructor, in their order
  /// @return whether a value differs from the previous one
  bool set_values(const std::vector<double> &values);

  /// The matrix rows of this rank.
  const LocalMatrix &matrix() const
  {
    return subdomain;
  }
  int n() const
  {
    return subdomain.rows.n;
  }
  /// Distributes a vector of the first rank. Returns the values of this rank's rows.
  /// @param v all values, on the first rank; ignored on other ranks
  /// @param width values per row
  std::vector<double> scatter(const std::vector<double> &v, std::size_t width = 1) const;
  /// Gathers a vector on the first rank; the result is empty on other ranks.
  std::vector<double> gather(const std::vector<double> &v) const;

  /// The minimum and maximum of a number over the ranks.
  struct Range
  {
    long long minimum, maximum;
  };
  Range range_of(long long number) const;

private:
  void send_rows(const HostCsr &A);
  void receive_rows();
  void send_unknowns(const Unknowns &all);
  void make_plan();

  MPI_Comm ranks;
  int rank = 0;
  std::vector<int> starts; ///< first row of each rank, and n
  LocalMatrix subdomain;
};
} // namespace femgpu::linalg

#endif
