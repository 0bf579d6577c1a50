#include "linalg/sparse/derived_matrix.h"

namespace femgpu::linalg
{
template <class Backend>
DerivedMatrix<Backend>::DerivedMatrix(const CsrMatrix &A, const int n_columns,
                                      DerivedPattern pattern)
    : sources(std::move(pattern.sources)), n_entries(A.n_nonzeros())
{
  Buffer<double> values(A.executor(), sources.size());
  own = std::make_shared<CsrMatrix>(A.executor(), n_columns, std::move(pattern.pattern.row_starts),
                                    std::move(pattern.pattern.columns), std::move(values));
  result = own;
  update(A);
}

template <class Backend>
void DerivedMatrix<Backend>::update(const CsrMatrix &A)
{
  check_same_pattern("A transpose or a part", A, n_entries);
  Runner<Backend>(*A.executor())
      .run(rows(static_cast<int>(sources.size()),
                Gather<double>{A.csr_view().values, sources.data(), own->mutable_values()}));
}

template class DerivedMatrix<ThisBackend>;
} // namespace femgpu::linalg
