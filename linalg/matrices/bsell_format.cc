#include "linalg/matrices/format.h"
#include "linalg/matrices/slices.h"

namespace femgpu::linalg
{
namespace
{
/**
 * SELL-C-σ (Kreutzer et al. 2014) with blocks instead of entries. Each row has one thread;
 * neighbouring threads read adjacent values, and the rows of a node share one column index per
 * block.
 */
template <class Backend, class Value>
class BlockSellFormat final : public Format<Value>
{
public:
  BlockSellFormat(const CsrMatrix &A, Method &method) : Format<Value>(A), b(block_option(method, A))
  {
    const bool on_host = Backend::kind == BackendKind::host;
    log_slice = slice_option(method, on_host ? 1 : 32);
    window = method.integer("window", 64, 1, 1 << 24);
    const BlockPattern pattern(A, b);
    const std::size_t values_per_block = static_cast<std::size_t>(b) * static_cast<std::size_t>(b);
    const RowSlices slices = choose_slices(pattern.row_lengths(), log_slice, window,
                                           sizeof(Value) * values_per_block + sizeof(int));
    check_stored(method, A, slices.starts.back() * values_per_block,
                 max_indices * values_per_block);
    if (slices.is_sorted)
      order = Buffer<int>(A.executor(), slices.order.data(), slices.order.size());
    store_columns(pattern, slices);
    values = Buffer<Value>(A.executor(), columns.size() * values_per_block);
    values.fill_zero();
    update();
  }

  std::size_t bytes() const override
  {
    return slice_starts.bytes() + order.bytes() + columns.bytes() + values.bytes();
  }
  std::string description() const override
  {
    const std::string sorted = order.size() > 0
                                   ? "nodes sorted in windows of " + std::to_string(window)
                                   : "nodes in the given order";
    return this->describe("bsell, blocks of " + std::to_string(b) + ", slices of " +
                          std::to_string(1 << log_slice) + " nodes, " + sorted);
  }
  Matrix::View view() const override
  {
    return blocks();
  }
  void update() override
  {
    const CsrView<double> A = this->source.csr_view();
    Runner<Backend>(*this->executor())
        .run(rows(A.n, [A, to = blocks(), block_positions = positions.data(),
                        stored = values.data()] FEMGPU_BODY(const int i) {
          const int b = to.block_size, block_row = block_positions[i / b],
                    stride = 1 << to.log_slice;
          int block = to.first_block(block_row), number = 0; // number of the block in its row
          const RowEntries<double> row = A.entries(i);
          for (int k = 0; k < row.length; ++k) {
            const int column = row.columns[k];
            for (; to.columns[block] < column / b;
                 block += stride) // columns ascend in A and in the format
              ++number;
            const int entry = number * b + column % b;
            stored[to.value_index(block_row * b + i % b, entry)] =
                static_cast<Value>(row.values[k]);
          }
        }));
  }

private:
  BlockSellView<Value> blocks() const
  {
    return {this->n(),     b,
            log_slice,     slice_starts.data(),
            order.data(),  columns.data(),
            values.data(), this->fits_in_cache()};
  }

  // Stores the columns of blocks. Padding repeats the last column of its block row, or has column 0
  // in empty block rows.
  void store_columns(const BlockPattern &pattern, const RowSlices &slices)
  {
    const std::vector<int> starts(slices.starts.begin(), slices.starts.end());
    std::vector<int> host_columns(slices.starts.back(), 0), host_positions(slices.order.size());
    const int size = 1 << log_slice, n = static_cast<int>(slices.order.size());
    for (int p = 0; p < n; ++p) {
      const int block_row = slices.order[p], slice = p >> log_slice;
      host_positions[block_row] = p;
      int column = 0, k = pattern.row_starts[block_row];
      for (int at = starts[slice] + (p & (size - 1)); at < starts[slice + 1]; at += size, ++k) {
        column = k < pattern.row_starts[block_row + 1] ? pattern.columns[k] : column;
        host_columns[at] = column;
      }
    }
    slice_starts = Buffer<int>(this->executor(), starts.data(), starts.size());
    columns = Buffer<int>(this->executor(), host_columns.data(), host_columns.size());
    positions = Buffer<int>(this->executor(), host_positions.data(), host_positions.size());
  }

  int b;
  int window;
  int log_slice = 0;
  Buffer<int> slice_starts;
  Buffer<int> order;           ///< block row at each position; empty: block rows are in order
  Buffer<int> positions;       ///< position of each block row
  Buffer<int> columns;         ///< column of each block
  using Format<Value>::values; // entries of the blocks; 0 where A has none
};
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class BsellStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  return make_with_values<ThisBackend, BlockSellFormat>(A, method);
}
} // namespace femgpu::linalg
