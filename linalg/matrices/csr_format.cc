#include "linalg/matrices/format.h"
#include "linalg/matrices/short_columns.h"

namespace femgpu::linalg
{
namespace
{
/// CSR as it comes, or with values rounded to float or columns of two bytes, and T threads a row.
template <class Backend, class Value>
class CsrFormat final : public Format<Value>
{
public:
  CsrFormat(const CsrMatrix &A, Method &method)
      : Format<Value>(A), own_values(A.executor(), is_rounded ? A.n_nonzeros() : 0)
  {
    const double mean_length = A.n() > 0 ? static_cast<double>(A.n_nonzeros()) / A.n() : 0.;
    threads = threads_option(method, *A.executor(), mean_length);
    if (short_columns_option(method)) {
      const CsrView<double> csr = A.csr_view();
      short_columns = short_columns_of_rows<Backend>(
          A.executor(), {csr.n, csr.row_starts, csr.columns}, A.host_row_starts());
    }
    update();
  }

  std::size_t n_stored() const override
  {
    return this->source.n_nonzeros();
  }
  std::size_t bytes() const override
  {
    const std::size_t with_ints =
        this->source.bytes() - n_stored() * (sizeof(double) - sizeof(Value));
    return short_columns ? with_ints - n_stored() * sizeof(int) + short_columns->bytes()
                         : with_ints;
  }
  std::string format() const override
  {
    const std::string text = this->describe("csr", threads);
    return short_columns ? text + short_columns->describe() : text;
  }
  Operator::View view() const override
  {
    const CsrView<double> csr = this->source.csr_view();
    CsrView<Value> view{csr.n, threads, csr.row_starts, csr.columns, own_values.data()};
    if constexpr (!is_rounded)
      view.values = csr.values;
    if (short_columns)
      view.short_columns = short_columns->view();
    return view;
  }
  void update() override
  {
    if constexpr (is_rounded)
      Runner<Backend>(*this->executor())
          .run(rows(static_cast<int>(n_stored()),
                    Convert<double, Value>{this->source.csr_view().values, own_values.data()}));
  }

private:
  static constexpr bool is_rounded = !std::is_same_v<Value, double>;

  int threads;
  Buffer<Value> own_values;
  std::optional<ShortColumnsOwner<Backend>> short_columns;
};
} // namespace

template <class Backend>
std::unique_ptr<Matrix> make_csr_format(const CsrMatrix &A, Method &method)
{
  return with_values<Backend, CsrFormat>(A, method);
}

template std::unique_ptr<Matrix> make_csr_format<ThisBackend>(const CsrMatrix &, Method &);
} // namespace femgpu::linalg
