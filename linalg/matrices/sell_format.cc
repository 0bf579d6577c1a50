#include "linalg/matrices/format.h"
#include "linalg/matrices/short_columns.h"
#include "linalg/matrices/slices.h"

namespace femgpu::linalg
{
namespace
{
/// The entries of a CSR in slices.
struct Slices
{
  CsrView<double> A;
  int log_slice;
  const int *slice_starts, *order;

  /// The row at a position; -1 where the last slice has no more rows.
  FEMGPU_HD
  int row(const int position) const
  {
    return position >= A.n ? -1 : order == nullptr ? position : order[position];
  }

  /// Calls f(at, k) for the places of a position and the entries of its row; k = -1: padding.
  template <class Function>
  FEMGPU_HD
  void for_places(const int position, const Function &f) const
  {
    const int slice = position >> log_slice, size = 1 << log_slice;
    const int i = row(position);
    int k = i < 0 ? 0 : A.row_starts[i];
    const int end = i < 0 ? 0 : A.row_starts[i + 1];
    for (int at = slice_starts[slice] + (position & (size - 1)); at < slice_starts[slice + 1];
         at += size, ++k)
      f(at, k < end ? k : -1);
  }
};

template <class Value>
struct StoreValues
{
  Slices slices;
  Value *values;

  FEMGPU_HD
  void operator()(const int position) const
  {
    slices.for_places(position, [&](const int at, const int k) {
      values[at] = k < 0 ? Value(0) : static_cast<Value>(slices.A.values[k]);
    });
  }
};

/// Columns; padding has that of the row itself.
struct StoreColumns
{
  Slices slices;
  int *columns;

  FEMGPU_HD
  void operator()(const int position) const
  {
    const int row = slices.row(position), padding = row < 0 ? 0 : row;
    slices.for_places(position, [&](const int at, const int k) {
      columns[at] = k < 0 ? padding : slices.A.columns[k];
    });
  }
};

/// Columns of two bytes; padding has the last column of the row.
struct StoreCodes
{
  Slices slices;
  ShortColumns short_columns;
  std::uint16_t *codes;

  FEMGPU_HD
  void operator()(const int position) const
  {
    const int base = position < slices.A.n ? short_columns.first_base(position) : -1;
    if (base < 0)
      return;
    RowEncoder encode(short_columns.bases + base);
    std::uint16_t code = 0;
    slices.for_places(position, [&](const int at, const int k) {
      if (k >= 0)
        code = encode(slices.A.columns[k]);
      codes[at] = code;
    });
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
    log_slice = slice_option(method, on_host ? 4 : 32);
    window = method.integer("window", 256, 1, 1 << 24);
    const bool are_short = method.word("columns", "int", {"int", "short"}) == "short";
    const std::size_t entry_bytes =
        sizeof(Value) + (are_short ? sizeof(std::uint16_t) : sizeof(int));
    const RowSlices slices = choose_slices(A.host_row_starts(), log_slice, window, entry_bytes);
    check_stored(method, A, slices.starts.back()); // before it is rounded to int
    if (slices.is_sorted)
      order = Buffer<int>(A.executor(), slices.order.data(), slices.order.size());
    const std::vector<int> starts(slices.starts.begin(), slices.starts.end());
    slice_starts = Buffer<int>(A.executor(), starts.data(), starts.size());
    values = Buffer<Value>(A.executor(), static_cast<std::size_t>(starts.back()));
    store_columns(are_short, starts);
    update();
  }

  std::size_t n_stored() const override
  {
    return values.size();
  }
  std::size_t bytes() const override
  {
    return order.bytes() + slice_starts.bytes() + values.bytes() +
           (short_columns ? short_columns->bytes() : columns.bytes());
  }
  std::string format() const override
  {
    const std::string sorted =
        order.size() > 0 ? "sorted in windows of " + std::to_string(window) : "rows in their order";
    const std::string text =
        this->describe("sell, slices of " + std::to_string(1 << log_slice) + ", " + sorted);
    return short_columns ? text + short_columns->describe() : text;
  }
  Matrix::View view() const override
  {
    const SellView<Value> plain{this->n(),    log_slice,      slice_starts.data(),
                                order.data(), columns.data(), values.data()};
    if (short_columns)
      return ShortSellView<Value>{plain, short_columns->view()};
    return plain;
  }
  int rows_together() const override
  {
    return order.size() == 0 ? 1 : window;
  }
  void update() override
  {
    run(StoreValues<Value>{layout(), values.data()});
  }

private:
  Slices layout() const
  {
    return {this->source.csr_view(), log_slice, slice_starts.data(), order.data()};
  }

  /// Runs @p body for all positions, also those without a row.
  template <class Body>
  void run(const Body &body) const
  {
    const auto n_slices = static_cast<int>(slice_starts.size()) - 1;
    Runner<Backend>(*this->executor()).run(rows(n_slices * (1 << log_slice), body));
  }

  void store_columns(const bool are_short, const std::vector<int> &starts)
  {
    if (are_short) {
      const CsrView<double> A = this->source.csr_view();
      short_columns.emplace(this->executor(),
                            OrderedRows{A.n, A.row_starts, A.columns, order.data()},
                            starts_of_positions(starts));
      run(StoreCodes{layout(), short_columns->view(), short_columns->mutable_codes()});
    }
    if (!short_columns || short_columns->n_long_columns() > 0) {
      columns = Buffer<int>(this->executor(), values.size());
      run(StoreColumns{layout(), columns.data()});
    }
  }

  // Stored entries before each position, and all of them.
  std::vector<int> starts_of_positions(const std::vector<int> &starts) const
  {
    std::vector<int> of_positions(static_cast<std::size_t>(this->n()) + 1, starts.back());
    for (int p = 0; p < this->n(); ++p) {
      const int slice = p >> log_slice;
      const int width = (starts[slice + 1] - starts[slice]) >> log_slice;
      of_positions[p] = starts[slice] + (p & ((1 << log_slice) - 1)) * width;
    }
    return of_positions;
  }

  int window;
  int log_slice = 0;
  Buffer<int> order; ///< empty: rows are in their places
  Buffer<int> slice_starts;
  Buffer<int> columns; ///< also where some columns are short; empty where all are
  Buffer<Value> values;
  std::optional<ShortColumnsOwner<Backend>> short_columns;
};
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class SellStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  return with_values<ThisBackend, SellFormat>(A, method);
}
} // namespace femgpu::linalg
