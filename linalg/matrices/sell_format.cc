#include "linalg/matrices/format.h"
#include "linalg/matrices/short_columns.h"
#include "linalg/matrices/slices.h"

#include <optional>

namespace femgpu::linalg
{
namespace
{
template <class Value>
struct StoreValues
{
  SlicedRows slices;
  Value *values;

  FEMGPU_HD
  void operator()(const int position) const
  {
    Value *const slice_begin = values + slices.slice_starts[position >> slices.log_slice];
    slices.for_slots(position, [&](const int at, const RowEntries<double> &row, const int k) {
      slice_begin[at] = k < 0 ? Value(0) : static_cast<Value>(row.values[k]);
    });
  }
};

/// Stores the column of each entry; the column of padding is the row's own number.
struct StoreColumns
{
  SlicedRows slices;
  int *columns;

  FEMGPU_HD
  void operator()(const int position) const
  {
    const int i = slices.row(position), padding = i < 0 ? 0 : i;
    int *const slice_begin = columns + slices.slice_starts[position >> slices.log_slice];
    slices.for_slots(position, [&](const int at, const RowEntries<double> &row, const int k) {
      slice_begin[at] = k < 0 ? padding : row.columns[k];
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
    check_stored(method, A, n_stored, RowStarts::max_entries);
    if (slices.is_sorted)
      order = Buffer<int>(A.executor(), slices.order.data(), slices.order.size());
    const std::vector<int> low = slices.low_starts();
    slice_starts = Buffer<int>(A.executor(), low.data(), low.size());
    starts = RowStarts(low.data(), n_slices(), n_stored);
    values = Buffer<Value>(A.executor(), n_stored);
    store_columns(are_short, slices.starts);
    update();
  }

  std::size_t bytes() const override
  {
    return order.bytes() + slice_starts.bytes() + values.bytes() +
           (short_columns ? short_columns->bytes() : columns.bytes());
  }
  std::string description() const override
  {
    const std::string sorted = order.size() > 0 ? "sorted in windows of " + std::to_string(window)
                                                : "rows in the given order";
    const std::string text =
        this->describe("sell, slices of " + std::to_string(1 << log_slice) + ", " + sorted);
    return short_columns ? text + short_columns->describe() : text;
  }
  Matrix::View view() const override
  {
    return SellView<Value>{this->n(),
                           log_slice,
                           starts.rebased(slice_starts.data()),
                           order.data(),
                           columns.data(),
                           values.data(),
                           short_columns ? short_columns->view() : ShortColumns{},
                           this->fits_in_cache()};
  }
  void update() override
  {
    run(StoreValues<Value>{layout(), values.data()});
  }

private:
  SlicedRows layout() const
  {
    return {this->source.csr_view(), log_slice, starts.rebased(slice_starts.data()), order.data()};
  }

  /// Runs @p body for all positions, including those without a row.
  template <class Body>
  void run(const Body &body) const
  {
    Runner<Backend>(*this->executor()).run(rows(n_slices() * (1 << log_slice), body));
  }
  int n_slices() const
  {
    return static_cast<int>(slice_starts.size()) - 1;
  }

  void store_columns(const bool are_short, const std::vector<std::size_t> &host_starts)
  {
    if (are_short)
      short_columns.emplace(this->executor(), layout(), host_starts);
    if (!short_columns || short_columns->has_long_columns()) {
      columns = Buffer<int>(this->executor(), values.size());
      run(StoreColumns{layout(), columns.data()});
    }
  }

  int window;
  int log_slice = 0;
  Buffer<int> order;        ///< row at each position; empty: rows are in order
  Buffer<int> slice_starts; ///< low 32 bits of the slice starts
  RowStarts starts;         ///< the complete slice starts
  Buffer<int> columns;      ///< column of each entry; empty if all slices have short columns
  using Format<Value>::values;
  std::optional<ShortColumnsOwner<Backend>> short_columns;
};
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class SellStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  return make_with_values<ThisBackend, SellFormat>(A, method);
}
} // namespace femgpu::linalg
