#ifndef femgpu_linalg_operators_csr_matrix_h
#define femgpu_linalg_operators_csr_matrix_h

#include "linalg/base/host_matrix.h"
#include "linalg/memory/buffer.h"
#include "linalg/operators/matrix.h"

#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// Compressed sparse rows with double values: the format of assembled matrices, from which all
/// other formats are made.
class CsrMatrix final : public Matrix
{
public:
  /// Copies @p A to the memory of @p executor. If the values of @p A are nullptr, copies the
  /// pattern only; the values are then undefined until update_values().
  /// @throws DeviceError if memory is exhausted
  CsrMatrix(const ExecutorPtr &executor, const HostCsr &A);

  /// Copies this rank's rows of a distributed matrix to the memory that @p location specifies.
  /// Columns from range->n() on are ghosts of @p domain.
  CsrMatrix(const RowSpacePtr &range, const RowSpacePtr &domain, const HostCsr &A,
            MemoryLocation location = MemoryLocation::executor);

  /// Takes ownership of arrays in the memory of @p executor: n + 1 row starts, columns less than
  /// @p n_columns in ascending order, and values. There may be at most max_indices entries.
  CsrMatrix(const ExecutorPtr &executor, int n_columns, Buffer<int> row_starts, Buffer<int> columns,
            Buffer<double> values);

  /// Takes ownership of the arrays of a distributed matrix. (The arrays are passed by reference, so
  /// that callers can still use @p row_starts in other arguments.)
  CsrMatrix(const RowSpacePtr &range, const RowSpacePtr &domain, Buffer<int> &&row_starts,
            Buffer<int> &&columns, Buffer<double> &&values);

  /// The number of columns, including ghosts.
  int n_columns() const
  {
    return static_cast<int>(domain()->n_with_ghosts());
  }
  std::size_t n_nonzeros() const override
  {
    return columns.size();
  }
  std::size_t n_stored() const override
  {
    return columns.size();
  }
  std::size_t bytes() const override
  {
    return row_starts.bytes() + columns.bytes() + values.bytes();
  }
  /// Returns whether the matrix is in host memory, from which every product reads it.
  bool is_on_host() const
  {
    return values.is_on_host();
  }
  std::string description() const override
  {
    return "csr";
  }
  const CsrMatrix *find_csr() const override
  {
    return this;
  }
  void update() override
  {}
  double value_precision() const override;

  View view() const override
  {
    return csr_view();
  }
  /// Returns a view with the largest number of threads per row, a power of two up to 32, that
  /// leaves at least four entries per thread on average; on the host, with one thread per row.
  CsrView<double> csr_view() const;

  /// Returns a copy of the matrix.
  CsrMatrix copy() const;

  /// Copies the values of @p other, which must have the same pattern.
  void copy_values_from(const CsrMatrix &other);

  /// The n_nonzeros() values in the executor's memory; kernels may write them.
  double *mutable_values()
  {
    return values.data();
  }

  /// Replaces the values.
  /// @param host_values n_nonzeros() values in host memory, in the order of the columns
  void update_values(const double *host_values);

  /// Properties of the unknowns that belong to the rows; never nullptr.
  const UnknownsPtr &unknowns() const
  {
    return row_unknowns;
  }
  void set_unknowns(UnknownsPtr unknowns)
  {
    row_unknowns = std::move(unknowns);
  }

  /// The number of entries of the longest row.
  int longest_row() const;

  /// Returns the lengths of the n rows in host memory.
  std::vector<int> host_row_lengths() const;

  /// Returns a view of the matrix for the host; the matrix must be in memory that the host can
  /// access.
  HostCsr view_on_host() const
  {
    HostCsr view{n(), n_nonzeros(), starts.rebased(row_starts.data()), columns.data(),
                 values.data()};
    view.unknowns = row_unknowns;
    return view;
  }

  /// Returns the n_nonzeros() columns in host memory.
  std::vector<int> host_columns() const
  {
    return columns.to_host();
  }
  /// Returns the n_nonzeros() values in host memory.
  std::vector<double> host_values() const
  {
    return values.to_host();
  }
  /// Returns the low 32 bits of the n+1 row starts in host memory; see RowStarts.
  std::vector<int> host_row_starts() const
  {
    return row_starts.to_host();
  }

private:
  UnknownsPtr row_unknowns = default_unknowns;
  mutable int longest = -1; // -1: not computed yet
  Buffer<int> row_starts;   // low 32 bits
  RowStarts starts;         // rows at which the high bits increase
  Buffer<int> columns;
  Buffer<double> values;
};

/// Calls @p f with the CsrView of @p A, the only kind of view that a CsrMatrix has.
template <class Function>
decltype(auto) visit_view(const CsrMatrix &A, const Function &f)
{
  return f(A.csr_view());
}

/**
 * The product with a matrix in double precision, which computes true residuals: with its CSR matrix
 * or, if the entries are not stored, with the operator itself.
 */
class ExactProduct
{
public:
  /// @param A must outlive this object
  explicit ExactProduct(const Matrix &A) : matrix(&A), stored(A.find_csr())
  {}

  /// The CSR matrix; nullptr if the entries are not stored.
  const CsrMatrix *csr() const
  {
    return stored;
  }
  const RowSpacePtr &domain() const
  {
    return matrix->domain();
  }
  bool is_capturable() const
  {
    return matrix->is_capturable();
  }
  const double *prepare(StepRunner &runner, double *v) const
  {
    return stored ? v : matrix->prepare(runner, v);
  }
  template <class Function>
  friend decltype(auto) visit_view(const ExactProduct &A, const Function &f)
  {
    return A.stored ? f(A.stored->csr_view()) : f(std::get<StoredView>(A.matrix->view()));
  }

private:
  const Matrix *matrix;
  const CsrMatrix *stored;
};

/// Returns how many threads of a GPU should share a row if rows have @p mean_length entries on
/// average; 1 on the host.
int threads_for_rows(const Executor &executor, double mean_length);
} // namespace femgpu::linalg

#endif
