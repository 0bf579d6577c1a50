#include "linalg/execution/vector_operations.h"

#include "linalg/base/atomic.h"
#include "linalg/execution/store_product.h"

namespace femgpu::linalg
{
namespace
{
struct DotSums
{
  double xy;
};

struct DotState : LoopState
{
  double xy = 0.;
};

struct AddProducts
{
  const double *x, *y;

  using Contributes = SumList<&DotSums::xy>;
  FEMGPU_HD
  void operator()(const DotState & /* s */, const int i, DotSums &sums) const
  {
    sums.xy += x[i] * y[i];
  }

  FEMGPU_HD
  void finish(DotState &s, const DotSums &sums) const
  {
    s.xy = sums.xy;
  }
};

struct FindInvalidRow
{
  int n;
  long long n_nonzeros;
  const int *row_starts, *columns;
  int *first;

  FEMGPU_HD
  bool is_valid(const int i) const
  {
    const int begin = row_starts[i], end = row_starts[i + 1];
    if (begin < 0 || end < begin || end > n_nonzeros || (i == 0 && begin != 0) ||
        (i == n - 1 && end != n_nonzeros))
      return false;
    int previous = -1;
    for (int k = begin; k < end; ++k) {
      if (columns[k] <= previous || columns[k] >= n)
        return false;
      previous = columns[k];
    }
    return true;
  }

  FEMGPU_HD
  void operator()(const int i) const
  {
    if (!is_valid(i))
      atomic_min(first, i);
  }
};
} // namespace

template <>
double dot_on<ThisBackend>(const Vector<double> &x, const Vector<double> &y)
{
  Iteration<ThisBackend, DotState, DotSums> iteration(*x.space());
  iteration.set_state({});
  iteration.once(rows(x.n(), AddProducts{x.data(), y.data()}));
  return iteration.get_state().xy;
}

template <>
void combine_on<ThisBackend>(const double a, Vector<double> &x, const double b,
                             const Vector<double> &y)
{
  const auto body = [a, b, to = x.data(), from = y.data()] FEMGPU_BODY(const int i) {
    to[i] = a * to[i] + b * from[i];
  };
  Runner<ThisBackend>(*x.space()->executor()).run(rows(x.n(), body));
}

template <>
void get_diagonal_on<ThisBackend>(const CsrMatrix &A, Vector<double> &d)
{
  const auto body = [view = A.csr_view(), to = d.data()] FEMGPU_BODY(const int i) {
    to[i] = view.diagonal(i);
  };
  Runner<ThisBackend>(*A.executor()).run(rows(A.n(), body));
}

template <>
int first_invalid_row_on<ThisBackend>(const Executor &executor, const DeviceCsr &A)
{
  Buffer<int> first(executor.shared_from_this(), &A.n, 1);
  Runner<ThisBackend>(executor).run(
      rows(A.n, FindInvalidRow{A.n, static_cast<long long>(A.n_nonzeros), A.row_starts, A.columns,
                               first.data()}));
  return first.to_host().front();
}

template void store_product_on<ThisBackend>(const FormatViews<FormatScalars>::Operator &,
                                            const Vector<double> &, Vector<double> &);
template void store_product_on<ThisBackend>(const PreconditionerOperator &, const Vector<double> &,
                                            Vector<double> &);
template void store_product_on<ThisBackend>(const ViewedOperator<CsrView<double>> &,
                                            const Vector<double> &, Vector<double> &);
template void store_product_on<ThisBackend>(const ViewedOperator<CsrView<float>> &,
                                            const Vector<double> &, Vector<double> &);
template void store_product_on<ThisBackend>(const ViewedOperator<CsrView<BFloat16>> &,
                                            const Vector<double> &, Vector<double> &);
} // namespace femgpu::linalg
