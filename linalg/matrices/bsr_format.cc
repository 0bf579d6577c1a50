#include "linalg/matrices/format.h"

namespace femgpu::linalg
{
namespace
{
/// Adds the entries of row i of A to the blocks, which hold zeros.
template <class Value>
struct FillRow
{
  CsrView<double> A;
  int b;
  const int *row_starts, *columns;
  Value *values;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int block = row_starts[i / b];
    const RowEntries<double> row = A.entries(i);
    for (int k = 0; k < row.length; ++k) {
      const int column = row.columns[k];
      while (columns[block] < column / b) // both ascend
        ++block;
      values[(static_cast<std::size_t>(block) * b + i % b) * b + column % b] =
          static_cast<Value>(row.values[k]);
    }
  }
};

/// Block CSR: one column index for b² values; for systems with b unknowns a node.
template <class Backend, class Value>
class BsrFormat final : public Format<Value>
{
public:
  BsrFormat(const CsrMatrix &A, Method &method) : Format<Value>(A), b(block_option(method, A))
  {
    const BlockPattern pattern(A, b);
    const std::size_t block_values = static_cast<std::size_t>(b) * static_cast<std::size_t>(b);
    const std::size_t size = pattern.columns.size() * block_values;
    check_stored(method, A, size, most_indices * block_values);
    const double blocks_per_row =
        A.n() > 0 ? static_cast<double>(pattern.columns.size()) * b / A.n() : 0.;
    threads = threads_option(method, *A.executor(), blocks_per_row);
    row_starts = Buffer<int>(A.executor(), pattern.row_starts.data(), pattern.row_starts.size());
    columns = Buffer<int>(A.executor(), pattern.columns.data(), pattern.columns.size());
    values = Buffer<Value>(A.executor(), size);
    values.fill_zero();
    update();
  }

  std::size_t n_stored() const override
  {
    return values.size();
  }
  std::size_t bytes() const override
  {
    return row_starts.bytes() + columns.bytes() + values.bytes();
  }
  std::string format() const override
  {
    return this->describe("bsr, blocks of " + std::to_string(b), threads);
  }
  Matrix::View view() const override
  {
    return BsrView<Value>{this->n(), threads, b, row_starts.data(), columns.data(), values.data()};
  }
  void update() override
  {
    Runner<Backend>(*this->executor())
        .run(rows(this->n(), FillRow<Value>{this->source.csr_view(), b, row_starts.data(),
                                            columns.data(), values.data()}));
  }

private:
  int b;
  int threads;
  Buffer<int> row_starts, columns;
  Buffer<Value> values;
};
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class BsrStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  return with_values<ThisBackend, BsrFormat>(A, method);
}
} // namespace femgpu::linalg
