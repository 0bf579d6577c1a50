#include "linalg/matrices/format.h"

namespace femgpu::linalg
{
namespace
{
/// CSR with the original values, or with values rounded to another type, and T threads per row.
template <class Backend, class Value>
class CsrFormat final : public Format<Value>
{
public:
  CsrFormat(const CsrMatrix &A, Method &method) : Format<Value>(A)
  {
    values = Buffer<Value>(A.executor(), is_rounded ? A.n_nonzeros() : 0);
    const double mean_length = A.n() > 0 ? static_cast<double>(A.n_nonzeros()) / A.n() : 0.;
    threads = threads_option(method, *A.executor(), mean_length);
    update();
  }

  std::size_t n_stored() const override
  {
    return this->source.n_nonzeros();
  }
  std::size_t bytes() const override
  {
    return this->source.bytes() - n_stored() * (sizeof(double) - sizeof(Value));
  }
  std::string description() const override
  {
    return this->describe("csr", threads) +
           (this->source.is_on_host() ? ", read from host memory" : "");
  }
  Matrix::View view() const override
  {
    const CsrView<double> csr = this->source.csr_view();
    if constexpr (is_rounded)
      return CsrView<Value>{csr.n, threads, csr.row_starts, csr.columns, values.data()};
    else
      return CsrView<Value>{csr.n, threads, csr.row_starts, csr.columns, csr.values};
  }
  void update() override
  {
    if constexpr (is_rounded)
      convert<Backend>(*this->executor(), this->source.csr_view().values, values.data(),
                       n_stored());
  }

private:
  static constexpr bool is_rounded = !std::is_same_v<Value, double>;

  using Format<Value>::values; // only used if values are rounded
  int threads;
};
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class CsrStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  return make_with_values<ThisBackend, CsrFormat>(A, method);
}
} // namespace femgpu::linalg
