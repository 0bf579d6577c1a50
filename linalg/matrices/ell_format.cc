#include "linalg/matrices/format.h"

namespace femgpu::linalg
{
namespace
{
/**
 * ELLPACK-R (T = 1) and ELLR-T (Galiano et al. 2012, §4 and §5.1): arrays as wide as the longest
 * row, and the row lengths, so that padding is never read.
 */
template <class Backend, class Value>
class EllFormat final : public Format<Value>
{
public:
  /// @param T threads per row; 0: the value of option `threads`
  EllFormat(const CsrMatrix &A, Method &method, const int T) : Format<Value>(A), name(method.name())
  {
    const int longest = A.longest_row();
    threads = T > 0 ? T : threads_option(method, *A.executor(), longest);
    constexpr std::size_t alignment = 32; // in rows
    stride = (static_cast<std::size_t>(A.n()) + alignment - 1) / alignment * alignment * threads;
    const std::size_t size = stride * static_cast<std::size_t>((longest + threads - 1) / threads);
    check_stored(method, A, size, RowStarts::max_entries);
    row_lengths = Buffer<int>(A.executor(), static_cast<std::size_t>(A.n()));
    columns = Buffer<int>(A.executor(), size);
    values = Buffer<Value>(A.executor(), size);
    columns.fill_zero();
    values.fill_zero();
    update();
  }

  std::size_t bytes() const override // a product does not read padding
  {
    return row_lengths.bytes() + this->n_nonzeros() * (sizeof(int) + sizeof(Value));
  }
  std::string description() const override
  {
    return this->describe(name, threads);
  }
  Matrix::View view() const override
  {
    return EllView<Value>{this->n(),
                          threads,
                          stride,
                          row_lengths.data(),
                          columns.data(),
                          values.data(),
                          this->fits_in_cache()};
  }
  void update() override
  {
    const CsrView<double> A = this->source.csr_view();
    Runner<Backend>(*this->executor())
        .run(rows(A.n, [A, threads = threads, stride = stride, lengths = row_lengths.data(),
                        to_columns = columns.data(), to = values.data()] FEMGPU_BODY(const int i) {
          const RowEntries<double> row = A.entries(i);
          lengths[i] = row.length;
          for (int k = 0; k < row.length; ++k) {
            const std::size_t at = static_cast<std::size_t>(k / threads) * stride +
                                   static_cast<std::size_t>(i) * threads + k % threads;
            to_columns[at] = row.columns[k];
            to[at] = static_cast<Value>(row.values[k]);
          }
        }));
  }

private:
  std::string name;
  int threads;
  std::size_t stride;
  Buffer<int> row_lengths, columns;
  using Format<Value>::values;
};
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class EllpackRStorage, ThisBackend>(Method &method,
                                                                    const CsrMatrix &A)
{
  return make_with_values<ThisBackend, EllFormat>(A, method, 1);
}

template <>
std::unique_ptr<Matrix> make_on<class EllrTStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  return make_with_values<ThisBackend, EllFormat>(A, method, 0);
}
} // namespace femgpu::linalg
