#include "linalg/base/error.h"
#include "linalg/matrices/format.h"

#include <algorithm>
#include <numeric>

namespace femgpu::linalg
{
namespace
{
/// Copies the row at a position to its place, and fills it up to the width of its slice.
template <class Value>
struct FillPosition
{
  CsrView<double> A;
  int log_slice;
  const int *slice_starts, *order;
  int *columns;
  Value *values;

  FEMGPU_HD
  void operator()(const int position) const
  {
    const int slice = position >> log_slice, size = 1 << log_slice;
    const int row = position < A.n ? order[position] : -1; // the last slice may have fewer rows
    int k = row < 0 ? 0 : A.row_starts[row];
    const int end = row < 0 ? 0 : A.row_starts[row + 1];
    for (int at = slice_starts[slice] + (position & (size - 1)); at < slice_starts[slice + 1];
         at += size, ++k) {
      columns[at] = k < end ? A.columns[k] : row < 0 ? 0 : row;
      values[at] = k < end ? static_cast<Value>(A.values[k]) : Value(0);
    }
  }
};

/// SELL-C-σ (Kreutzer et al. 2014; sliced ELLPACK in Rupp et al. 2016, §4).
template <class Backend, class Value>
class SellFormat final : public Format<Value>
{
public:
  SellFormat(const CsrMatrix &A, Method &method) : Format<Value>(A)
  {
    const bool on_host = Backend::kind == BackendKind::host;
    const int slice = method.integer("slice", on_host ? 4 : 32, 1, 1024);
    window = method.integer("window", 256, 1, 1 << 24);
    while (1 << log_slice < slice)
      ++log_slice;
    if (1 << log_slice != slice)
      throw ParameterError("Option 'slice' of the format 'sell' is " + std::to_string(slice) +
                           ", but must be a power of two.");
    const std::vector<int> row_starts = A.host_row_starts();
    const std::vector<int> by_length = sorted_rows(row_starts);
    const std::vector<int> starts = slices(method, row_starts, by_length);
    order = Buffer<int>(A.executor(), by_length.data(), by_length.size());
    slice_starts = Buffer<int>(A.executor(), starts.data(), starts.size());
    columns = Buffer<int>(A.executor(), static_cast<std::size_t>(starts.back()));
    values = Buffer<Value>(A.executor(), static_cast<std::size_t>(starts.back()));
    update();
  }

  std::size_t n_stored() const override
  {
    return values.size();
  }
  std::size_t bytes() const override
  {
    return order.bytes() + slice_starts.bytes() + columns.bytes() + values.bytes();
  }
  std::string format() const override
  {
    return this->describe("sell, slices of " + std::to_string(1 << log_slice) +
                          ", sorted in windows of " + std::to_string(window));
  }
  Operator::View view() const override
  {
    return SellView<Value>{this->n(),    log_slice,      slice_starts.data(),
                           order.data(), columns.data(), values.data()};
  }
  int rows_together() const override
  {
    return window;
  }
  void update() override
  {
    const auto n_slices = static_cast<int>(slice_starts.size()) - 1;
    const int n_positions = n_slices * (1 << log_slice);
    Runner<Backend>(*this->executor())
        .run(rows(n_positions,
                  FillPosition<Value>{this->source.csr_view(), log_slice, slice_starts.data(),
                                      order.data(), columns.data(), values.data()}));
  }

private:
  std::vector<int> sorted_rows(const std::vector<int> &row_starts) const
  {
    std::vector<int> by_length(row_starts.size() - 1);
    std::iota(by_length.begin(), by_length.end(), 0);
    const auto is_longer = [&](const int i, const int j) {
      return row_starts[i + 1] - row_starts[i] > row_starts[j + 1] - row_starts[j];
    };
    const auto n = static_cast<std::ptrdiff_t>(by_length.size());
    for (std::ptrdiff_t begin = 0; begin < n; begin += window)
      std::stable_sort(by_length.begin() + begin,
                       by_length.begin() + std::min<std::ptrdiff_t>(begin + window, n), is_longer);
    return by_length;
  }

  // Where each slice starts; checks the sum before it is rounded to int.
  std::vector<int> slices(Method &method, const std::vector<int> &row_starts,
                          const std::vector<int> &by_length) const
  {
    std::vector<std::size_t> starts = {0};
    const std::size_t n = by_length.size(), size = std::size_t{1} << log_slice;
    for (std::size_t begin = 0; begin < n; begin += size) {
      int width = 0;
      for (std::size_t p = begin; p < std::min(begin + size, n); ++p)
        width = std::max(width, row_starts[by_length[p] + 1] - row_starts[by_length[p]]);
      starts.push_back(starts.back() + size * static_cast<std::size_t>(width));
    }
    check_stored(method, this->source, starts.back());
    return {starts.begin(), starts.end()};
  }

  int window;
  int log_slice = 0;
  Buffer<int> order, slice_starts, columns;
  Buffer<Value> values;
};
} // namespace

template <class Backend>
std::unique_ptr<Matrix> make_sell_format(const CsrMatrix &A, Method &method)
{
  return with_values<Backend, SellFormat>(A, method);
}

template std::unique_ptr<Matrix> make_sell_format<ThisBackend>(const CsrMatrix &, Method &);
} // namespace femgpu::linalg
