#ifndef femgpu_linalg_dealii_matrix_rows_h
#define femgpu_linalg_dealii_matrix_rows_h

#include "linalg/base/error.h"
#include "linalg/base/host_matrix.h"
#include "linalg/mpi/mpi_communicator.h"

#include <deal.II/base/config.h>
#include <deal.II/base/mpi.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>
#ifdef DEAL_II_WITH_TRILINOS
#include <deal.II/lac/trilinos_index_access.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>
#endif

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * Rows of deal.II's matrices and elements of its vectors, in the form that linalg uses. Functions
 * with the same name exist for each type of matrix and vector.
 */
namespace femgpu::dealii_rows
{
/// Calls @p work on each rank. If it throws on some ranks, all ranks throw; see
/// Communicator::rethrow_on_all_ranks().
/// @param ranks MPI_COMM_NULL: there is one rank
template <class Work>
void rethrow_on_all_ranks(MPI_Comm ranks, const Work &work)
{
  if (ranks == MPI_COMM_NULL)
    work();
  else
    linalg::MpiCommunicator(ranks).rethrow_on_all_ranks(work);
}

/// Checks that a matrix of @p n rows and @p n_columns columns is square, and that n is within the
/// range of linalg's indices.
/// @throws InputError if it is not
inline void check_size(const unsigned long long n, const unsigned long long n_columns)
{
  if (n != n_columns)
    throw InputError("A matrix has " + std::to_string(n) + " rows and " +
                     std::to_string(n_columns) + " columns, but a system needs a square matrix.");
  constexpr int limit = std::numeric_limits<int>::max();
  if (n > static_cast<unsigned long long>(limit))
    throw InputError("A matrix with " + std::to_string(n) + " rows is too large: the limit is " +
                     std::to_string(limit) + " rows. Use fewer unknowns.");
}

/// Appends a row to @p rows.
/// @param row the columns and values of the row, in any order; sorted on return
inline void append_row(std::vector<std::pair<int, double>> &row, linalg::HostMatrix &rows)
{
  const auto is_before = [](const auto &a, const auto &b) { return a.first < b.first; };
  if (!std::is_sorted(row.begin(), row.end(), is_before))
    std::sort(row.begin(), row.end(), is_before);
  for (const auto &[column, value] : row)
    rows.add(column, value);
  rows.end_row();
}

/// @name Matrices and vectors of one process
///@{

/// Returns the ranks that have rows of the matrix; MPI_COMM_NULL: this process has all rows.
inline MPI_Comm ranks_of(const dealii::SparseMatrix<double> & /* A */)
{
  return MPI_COMM_NULL;
}

/// Returns the rows of this rank, with global columns.
inline linalg::HostMatrix rows_of(const dealii::SparseMatrix<double> &A)
{
  check_size(A.m(), A.n());
  linalg::HostMatrix rows;
  rows.columns.reserve(A.n_nonzero_elements());
  rows.values.reserve(A.n_nonzero_elements());
  std::vector<std::pair<int, double>> row;
  for (dealii::types::global_dof_index i = 0; i < A.m(); ++i) {
    row.clear();
    for (auto entry = A.begin(i); entry != A.end(i); ++entry) // the diagonal entry is the first
      row.emplace_back(static_cast<int>(entry->column()), entry->value());
    append_row(row, rows);
  }
  return rows;
}

/// Returns the elements of @p v that belong to the @p n rows of this rank.
/// @throws InputError if @p v does not have as many elements
inline const double *elements_of(const dealii::Vector<double> &v, const int n)
{
  if (v.size() != static_cast<std::size_t>(n))
    throw InputError("A vector with " + std::to_string(v.size()) +
                     " elements does not fit a matrix with " + std::to_string(n) + " rows.");
  return v.begin();
}
///@}

#ifdef DEAL_II_WITH_TRILINOS
/// @name Matrices and vectors that Trilinos distributes over ranks
///@{
inline MPI_Comm ranks_of(const dealii::TrilinosWrappers::SparseMatrix &A)
{
  return A.get_mpi_communicator();
}

inline linalg::HostMatrix rows_of(const dealii::TrilinosWrappers::SparseMatrix &A)
{
  check_size(A.m(), A.n());
  if (!A.locally_owned_range_indices().is_ascending_and_one_to_one(A.get_mpi_communicator()))
    throw InputError("A rank does not own contiguous rows that follow those of lower ranks. Number "
                     "the dofs so that it does, for example with "
                     "DoFRenumbering::subdomain_wise(dof_handler).");
  const Epetra_CrsMatrix &matrix = A.trilinos_matrix();
  linalg::HostMatrix rows;
  rows.columns.reserve(static_cast<std::size_t>(matrix.NumMyNonzeros()));
  rows.values.reserve(static_cast<std::size_t>(matrix.NumMyNonzeros()));
  std::vector<std::pair<int, double>> row;
  for (int i = 0; i < matrix.NumMyRows(); ++i) {
    int length = 0;
    double *values = nullptr;
    int *columns = nullptr;
    matrix.ExtractMyRowView(i, length, values, columns);
    row.clear();
    for (int k = 0; k < length; ++k)
      row.emplace_back(
          static_cast<int>(dealii::TrilinosWrappers::global_column_index(matrix, columns[k])),
          values[k]);
    append_row(row, rows);
  }
  return rows;
}

inline const double *elements_of(const dealii::TrilinosWrappers::MPI::Vector &v, const int n)
{
  if (v.has_ghost_elements())
    throw InputError("A vector with ghost elements cannot be used in a solve. Use one that is "
                     "initialised with the locally owned dofs only.");
  const auto n_elements = v.end() - v.begin();
  if (n_elements != n)
    throw InputError("A vector with " + std::to_string(n_elements) +
                     " elements on this rank does not fit a matrix with " + std::to_string(n) +
                     " rows on this rank.");
  return v.begin();
}
///@}
#endif

template <class VectorType>
double *elements_of(VectorType &v, const int n)
{
  return const_cast<double *>(elements_of(static_cast<const VectorType &>(v), n));
}
} // namespace femgpu::dealii_rows

#endif
