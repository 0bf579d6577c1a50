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
  RowStarts slice_starts;
  const int *order;

  /// The row at a position; -1 where the last slice has no more rows.
  FEMGPU_HD
  int row(const int position) const
  {
    return position >= A.n ? -1 : order == nullptr ? position : order[position];
  }

  FEMGPU_HD
  RowEntries<double> entries(const int position) const
  {
    const int i = row(position);
    return i < 0 ? RowEntries<double>{} : A.entries(i);
  }

  /// Calls f(at, k) for the places of a position and the entries of its row; k = -1: padding.
  template <class Function>
  FEMGPU_HD
  void for_places(const int position, const Function &f) const
  {
    const int slice = position >> log_slice, size = 1 << log_slice;
    const int length = entries(position).length;
    const std::size_t end = slice_starts[slice + 1];
    std::size_t at = slice_starts[slice] + (position & (size - 1));
    for (int k = 0; at < end; at += size, ++k)
      f(at, k < length ? k : -1);
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
    const RowEntries<double> row = slices.entries(position);
    slices.for_places(position, [&](const std::size_t at, const int k) {
      values[at] = k < 0 ? Value(0) : static_cast<Value>(row.values[k]);
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
    const int i = slices.row(position), padding = i < 0 ? 0 : i;
    const RowEntries<double> row = slices.entries(position);
    slices.for_places(position, [&](const std::size_t at, const int k) {
      columns[at] = k < 0 ? padding : row.columns[k];
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
    const RowEntries<double> row = slices.entries(position);
    slices.for_places(position, [&](const std::size_t at, const int k) {
      if (k >= 0)
        code = encode(row.columns[k]);
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
    const RowSlices slices = choose_slices(A.host_row_lengths(), log_slice, window, entry_bytes);
    const std::size_t n_stored = slices.starts.back();
    check_stored(method, A, n_stored, RowStarts::most_entries);
    if (slices.is_sorted)
      order = Buffer<int>(A.executor(), slices.order.data(), slices.order.size());
    const std::vector<int> low = slices.low_starts();
    slice_starts = Buffer<int>(A.executor(), low.data(), low.size());
    starts = RowStarts(low.data(), n_slices(), n_stored);
    values = Buffer<Value>(A.executor(), n_stored);
    store_columns(are_short, slices.starts);
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
    const SellView<Value> plain{this->n(),    log_slice,      starts.in(slice_starts.data()),
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
    return {this->source.csr_view(), log_slice, starts.in(slice_starts.data()), order.data()};
  }

  /// Runs @p body for all positions, also those without a row.
  template <class Body>
  void run(const Body &body) const
  {
    Runner<Backend>(*this->executor()).run(rows(n_slices() * (1 << log_slice), body));
  }
  int n_slices() const
  {
    return static_cast<int>(slice_starts.size()) - 1;
  }

  void store_columns(const bool are_short, const std::vector<std::size_t> &of_slices)
  {
    if (are_short) {
      const CsrView<double> A = this->source.csr_view();
      short_columns.emplace(this->executor(),
                            OrderedRows{A.n, A.row_starts, A.columns, order.data()},
                            starts_of_positions(of_slices));
      run(StoreCodes{layout(), short_columns->view(), short_columns->mutable_codes()});
    }
    if (!short_columns || short_columns->n_long_columns() > 0) {
      columns = Buffer<int>(this->executor(), values.size());
      run(StoreColumns{layout(), columns.data()});
    }
  }

  // Stored entries before each position, and all of them.
  std::vector<std::size_t> starts_of_positions(const std::vector<std::size_t> &of_slices) const
  {
    std::vector<std::size_t> of_positions(static_cast<std::size_t>(this->n()) + 1,
                                          of_slices.back());
    for (int p = 0; p < this->n(); ++p) {
      const int slice = p >> log_slice;
      const std::size_t width = (of_slices[slice + 1] - of_slices[slice]) >> log_slice;
      of_positions[p] = of_slices[slice] + (p & ((1 << log_slice) - 1)) * width;
    }
    return of_positions;
  }

  int window;
  int log_slice = 0;
  Buffer<int> order;        ///< empty: rows are in their places
  Buffer<int> slice_starts; ///< their low 32 bits
  RowStarts starts;         ///< where the high ones grow
  Buffer<int> columns;      ///< also where some columns are short; empty where all are
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
