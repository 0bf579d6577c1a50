#ifndef femgpu_linalg_operators_csr_matrix_h
#define femgpu_linalg_operators_csr_matrix_h

#include "linalg/base/host_matrix.h"
#include "linalg/memory/buffer.h"
#include "linalg/operators/matrix.h"

#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// Compressed sparse rows with double values: the matrix as it comes, and the base of all formats.
class CsrMatrix final : public Matrix
{
public:
  /// Copies @p A to the memory of @p executor; without values (nullptr) the pattern, and values are
  /// undefined before update_values(). @throws DeviceError if there is not enough.
  CsrMatrix(const ExecutorPtr &executor, const HostCsr &A);

  /// The same for the rows of one part, in any place; columns from range->n() on are ghosts of the
  /// domain.
  CsrMatrix(const RowSpacePtr &range, const RowSpacePtr &domain, const HostCsr &A,
            MemoryPlace place = MemoryPlace::executor);

  /// Takes over arrays in the memory of @p executor: n+1 row starts, columns that ascend and are
  /// less than @p n_columns, values; of no more than most_indices entries.
  CsrMatrix(const ExecutorPtr &executor, int n_columns, Buffer<int> row_starts, Buffer<int> columns,
            Buffer<double> values);

  /// The same, for rows and columns of parts. (By reference, so that row_starts is whole until all
  /// arguments are there.)
  CsrMatrix(const RowSpacePtr &range, const RowSpacePtr &domain, Buffer<int> &&row_starts,
            Buffer<int> &&columns, Buffer<double> &&values);

  /// With those of ghosts.
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
  /// Is it in the memory of the host, from where each product reads it?
  bool is_on_host() const
  {
    return values.is_on_host();
  }
  std::string description() const override
  {
    return "csr";
  }
  const CsrMatrix &csr() const override
  {
    return *this;
  }
  void update() override
  {}
  double value_precision() const override;

  View view() const override
  {
    return csr_view();
  }
  /// Threads a row: the first power of two that leaves about four entries a thread; 1 on the host.
  CsrView<double> csr_view() const;

  /// The same matrix once more.
  CsrMatrix copy() const;

  /// The values of @p other, whose pattern is the same.
  void copy_values_from(const CsrMatrix &other);

  /// n_nonzeros() values in the executor's memory, to be written by steps.
  double *mutable_values()
  {
    return values.data();
  }

  /// New values for the same pattern; @p host_values is in host memory, in the order of the CSR.
  void update_values(const double *host_values);

  /// Of its rows; never nullptr.
  const UnknownsPtr &unknowns() const
  {
    return known;
  }
  void set_unknowns(UnknownsPtr unknowns)
  {
    known = std::move(unknowns);
  }

  /// Entries of the longest row.
  int longest_row() const;

  /// n numbers, in host memory.
  std::vector<int> host_row_lengths() const;

  /// The matrix itself, where the host reaches it.
  HostCsr view_on_host() const
  {
    HostCsr view{n(), n_nonzeros(), starts.in(row_starts.data()), columns.data(), values.data()};
    view.unknowns = known;
    return view;
  }

  /// n_nonzeros() columns, in host memory.
  std::vector<int> host_columns() const
  {
    return columns.to_host();
  }
  /// n+1 numbers in host memory: of the row starts their low 32 bits, see RowStarts.
  std::vector<int> host_row_starts() const
  {
    return row_starts.to_host();
  }

private:
  UnknownsPtr known = nothing_known;
  mutable int longest = -1; // not known yet
  Buffer<int> row_starts;   // their low 32 bits
  RowStarts starts;         // where the high ones grow
  Buffer<int> columns;
  Buffer<double> values;
};

/// Where a matrix is known to be CSR, its products have one view.
template <class Function>
decltype(auto) visit_view(const CsrMatrix &A, const Function &f)
{
  return f(A.csr_view());
}

/// Threads of a GPU that should share a row where rows have @p mean_length entries.
int threads_for_rows(const Executor &executor, double mean_length);
} // namespace femgpu::linalg

#endif
