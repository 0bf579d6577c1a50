#include "linalg/matrices/format.h"

namespace femgpu::linalg
{
namespace
{
/// Block CSR: one column index per b² values; for systems with b unknowns per node.
template <class Backend, class Value>
class BsrFormat final : public Format<Value>
{
public:
  BsrFormat(const CsrMatrix &A, Method &method) : Format<Value>(A), b(block_option(method, A))
  {
    const BlockPattern pattern(A, b);
    const std::size_t values_per_block = static_cast<std::size_t>(b) * static_cast<std::size_t>(b);
    const std::size_t size = pattern.columns.size() * values_per_block;
    check_stored(method, A, size, max_indices * values_per_block);
    const double blocks_per_row =
        A.n() > 0 ? static_cast<double>(pattern.columns.size()) * b / A.n() : 0.;
    threads = threads_option(method, *A.executor(), blocks_per_row);
    row_starts = Buffer<int>(A.executor(), pattern.row_starts.data(), pattern.row_starts.size());
    columns = Buffer<int>(A.executor(), pattern.columns.data(), pattern.columns.size());
    values = Buffer<Value>(A.executor(), size);
    values.fill_zero();
    update();
  }

  std::size_t bytes() const override
  {
    return row_starts.bytes() + columns.bytes() + values.bytes();
  }
  std::string description() const override
  {
    return this->describe("bsr, blocks of " + std::to_string(b), threads);
  }
  Matrix::View view() const override
  {
    return BsrView<Value>{this->n(), threads, b, row_starts.data(), columns.data(), values.data()};
  }
  void update() override
  {
    const CsrView<double> A = this->source.csr_view();
    Runner<Backend>(*this->executor())
        .run(rows(A.n, [A, b = b, starts = row_starts.data(), block_columns = columns.data(),
                        to = values.data()] FEMGPU_BODY(const int i) {
          int block = starts[i / b];
          const RowEntries<double> row = A.entries(i);
          for (int k = 0; k < row.length; ++k) {
            const int column = row.columns[k];
            while (block_columns[block] < column / b) // columns ascend in A and in the format
              ++block;
            to[(static_cast<std::size_t>(block) * b + i % b) * b + column % b] =
                static_cast<Value>(row.values[k]);
          }
        }));
  }

private:
  int b;
  int threads;
  Buffer<int> row_starts, columns;
  using Format<Value>::values; // entries of the blocks; zero where A has no entry
};
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class BsrStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  return make_with_values<ThisBackend, BsrFormat>(A, method);
}
} // namespace femgpu::linalg
