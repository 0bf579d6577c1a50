#include "linalg/sparse/subset.h"

#include "linalg/sparse/choose.h"
#include "linalg/sparse/row_workspace.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
struct IsInTriangle
{
  TrianglePart part;

  FEMGPU_HD
  bool operator()(const int i, const int j) const
  {
    return part == TrianglePart::lower            ? j <= i
           : part == TrianglePart::strictly_lower ? j < i
           : part == TrianglePart::upper          ? j >= i
                                                  : j > i;
  }
};

/// Some rows and columns; see choose().
struct ListChoice
{
  const int *rows;
  const int *new_columns; ///< of each column of A; -1: not chosen

  FEMGPU_HD
  int row(const int r) const
  {
    return rows[r];
  }
  FEMGPU_HD
  int column(const int /* i */, const int j) const
  {
    return new_columns[j];
  }
};

struct MarkBadIndex
{
  const int *indices;
  int end;
  bool must_ascend;
  int *is_bad;

  FEMGPU_HD
  void operator()(const int k) const
  {
    const bool ascends = !must_ascend || k == 0 || indices[k] > indices[k - 1];
    is_bad[k] = indices[k] < 0 || indices[k] >= end || !ascends ? 1 : 0;
  }
};

template <class Backend>
void check_indices(const CsrMatrix &A, const Buffer<int> &indices, const bool are_columns)
{
  const auto n = static_cast<int>(indices.size());
  Buffer<int> is_bad(A.executor(), indices.size());
  Runner<Backend>(*A.executor())
      .run(rows(n, MarkBadIndex{indices.data(), are_columns ? A.n_columns() : A.n(), are_columns,
                                is_bad.data()}));
  const RowList bad = flagged_rows<Backend>(A.executor(), is_bad);
  if (bad.n == 0)
    return;
  const int place = bad.some.to_host(1)[0];
  throw SolverError("Number " + std::to_string(place) + " of the " +
                    (are_columns ? "columns" : "rows") + " chosen from " + describe(A) + " is " +
                    std::to_string(indices.to_host()[static_cast<std::size_t>(place)]) +
                    (are_columns ? "; columns must ascend within the matrix."
                                 : "; rows must be those of the matrix."));
}

struct StoreNewColumn
{
  const int *columns;
  int *new_columns;

  FEMGPU_HD
  void operator()(const int c) const
  {
    new_columns[columns[c]] = c;
  }
};

struct StoreNoColumn
{
  int *new_columns;

  FEMGPU_HD
  void operator()(const int j) const
  {
    new_columns[j] = -1;
  }
};

struct FindDiagonal
{
  CsrView<double> A;
  double *diagonal;

  FEMGPU_HD
  void operator()(const int i) const
  {
    diagonal[i] = A.diagonal(i);
  }
};
} // namespace

template <class Backend>
DerivedPattern triangle_pattern(const PatternRef &A, const TrianglePart part)
{
  return choose<Backend>(A, EntriesWhere<IsInTriangle>{{part}}, A.n, "A triangle");
}

template <class Backend>
DerivedMatrix<Backend> triangle(const CsrMatrix &A, const TrianglePart part)
{
  return {A, A.n_columns(), triangle_pattern<Backend>(pattern_of(A), part)};
}

template <class Backend>
DerivedMatrix<Backend> submatrix(const CsrMatrix &A, const Buffer<int> &rows,
                                 const Buffer<int> &columns)
{
  check_indices<Backend>(A, rows, false);
  check_indices<Backend>(A, columns, true);
  Runner<Backend> runner(*A.executor());
  const auto n_columns = static_cast<int>(columns.size());
  Buffer<int> new_columns(A.executor(), static_cast<std::size_t>(A.n_columns()));
  runner.run(linalg::rows(A.n_columns(), StoreNoColumn{new_columns.data()}));
  runner.run(linalg::rows(n_columns, StoreNewColumn{columns.data(), new_columns.data()}));
  const ListChoice choice{rows.data(), new_columns.data()};
  return {A, n_columns,
          choose<Backend>(pattern_of(A), choice, static_cast<int>(rows.size()),
                          "A part of " + describe(A))};
}

template <class Backend>
Buffer<double> diagonal(const CsrMatrix &A)
{
  const int n = std::min(A.n(), A.n_columns());
  Buffer<double> result(A.executor(), static_cast<std::size_t>(n));
  Runner<Backend>(*A.executor()).run(rows(n, FindDiagonal{A.csr_view(), result.data()}));
  return result;
}

template DerivedPattern triangle_pattern<ThisBackend>(const PatternRef &, TrianglePart);
template DerivedMatrix<ThisBackend> triangle<ThisBackend>(const CsrMatrix &, TrianglePart);
template DerivedMatrix<ThisBackend> submatrix<ThisBackend>(const CsrMatrix &, const Buffer<int> &,
                                                           const Buffer<int> &);
template Buffer<double> diagonal<ThisBackend>(const CsrMatrix &);
} // namespace femgpu::linalg
