#include "linalg/base/error.h"
#include "linalg/matrices/entry_blocks.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
constexpr int max_entries = 4 * block_threads; ///< maximum number of entries in a block

/// Multiplies the entries of a block by v, sums each group of f products by a tree, and then sums
/// the groups of each row.
template <class Value>
struct MultiplyGroups
{
  static constexpr int team_size = block_threads;
  static constexpr int scratch = max_entries;

  int block_size, group; ///< entries of a block, and of a group (f)
  int n_entries;
  const int *row_starts; ///< n+1
  const int *first_rows; ///< for each block: the first row that starts in it; then n
  const int *columns;
  const Value *values;
  const double *v;
  double *Av, *carries;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int block) const
  {
    double *const products = team.scratch();
    const auto [begin, end] =
        multiply_entries(team, block, block_size, n_entries, columns, values, v);
    for (int g = team.rank() * group; g < end - begin; g += team.size() * group)
      for (int width = group / 2; width > 0; width /= 2)
        for (int k = 0; k < width; ++k)
          products[g + k] += products[g + k + width];
    team.sync();
    const int first = first_rows[block], last = first_rows[block + 1];
    for (int i = first + team.rank(); i < last; i += team.size())
      Av[i] = sum_of_groups(products, row_starts[i] - begin,
                            (row_starts[i + 1] < end ? row_starts[i + 1] : end) - begin);
    if (team.rank() == 0) {
      const int next_row = row_starts[first];
      carries[block] = sum_of_groups(products, 0, (next_row < end ? next_row : end) - begin);
    }
  }

  FEMGPU_HD
  double sum_of_groups(const double *products, const int begin, const int end) const
  {
    double sum = 0.;
    for (int k = begin; k < end; k += group)
      sum += products[k];
    return sum;
  }
};

/**
 * PCSR (Dehnavi 2012, chapters 3 and 4): CSR divided into blocks of 256 entries or a multiple
 * (`prefetch`), with rows padded by zeros to a multiple of f (`padding`).
 */
template <class Backend, class Value>
class PcsrFormat final : public EntryBlockFormat<Backend, Value>
{
public:
  PcsrFormat(const CsrMatrix &A, Method &method) : EntryBlockFormat<Backend, Value>(A)
  {
    block_size = block_threads * std::stoi(method.word("prefetch", "2", {"1", "2", "4"}));
    group = std::stoi(method.word("padding", "2", {"1", "2", "4", "8"}));
    const std::vector<int> starts = padded_starts(method);
    this->split(starts, block_size);
    std::vector<int> first(static_cast<std::size_t>(n_blocks) + 1, A.n());
    for (int block = 0; block < n_blocks; ++block)
      first[block] = static_cast<int>(
          std::lower_bound(starts.begin(), starts.end() - 1, block * block_size) - starts.begin());
    const ExecutorPtr &owner = A.executor();
    row_starts = Buffer<int>(owner, starts.data(), starts.size());
    first_rows = Buffer<int>(owner, first.data(), first.size());
    columns = Buffer<int>(owner, static_cast<std::size_t>(starts.back()));
    values = Buffer<Value>(owner, static_cast<std::size_t>(starts.back()));
    columns.fill_zero();
    values.fill_zero();
    Av.fill_zero(); // products do not write Av if there are no entries
    update();
  }

  std::size_t bytes() const override
  {
    return row_starts.bytes() + first_rows.bytes() + columns.bytes() + values.bytes() +
           this->fixup_bytes();
  }
  std::string description() const override
  {
    return this->describe("pcsr, prefetch " + std::to_string(block_size / block_threads) +
                          ", rows padded to " + std::to_string(group));
  }
  const double *prepare(StepRunner &runner, double *v) const override
  {
    auto &steps = static_cast<Runner<Backend> &>(runner);
    steps.run(
        teams(n_blocks, MultiplyGroups<Value>{block_size, group, static_cast<int>(values.size()),
                                              row_starts.data(), first_rows.data(), columns.data(),
                                              values.data(), v, Av.data(), carries.data()}));
    add_carries(steps, this->split_rows, carries, Av);
    return v;
  }
  void update() override
  {
    const CsrView<double> A = this->source.csr_view();
    Runner<Backend>(*this->executor())
        .run(rows(A.n, [A, starts = row_starts.data(), to_columns = columns.data(),
                        to = values.data()] FEMGPU_BODY(const int i) {
          int at = starts[i]; // the values of padding stay 0
          for (int k = A.row_starts.low[i]; k < A.row_starts.low[i + 1]; ++k, ++at) {
            to_columns[at] = A.columns[k];
            to[at] = static_cast<Value>(A.values[k]);
          }
        }));
  }

private:
  std::vector<int> padded_starts(Method &method) const
  {
    std::vector<std::size_t> padded = {0};
    for (const int length : this->source.host_row_lengths()) {
      const int groups = (length + group - 1) / group;
      padded.push_back(padded.back() + static_cast<std::size_t>(groups) * group);
    }
    check_stored(method, this->source, padded.back());
    return {padded.begin(), padded.end()};
  }

  using Format<Value>::values;
  using EntryBlockFormat<Backend, Value>::n_blocks, EntryBlockFormat<Backend, Value>::carries,
      EntryBlockFormat<Backend, Value>::Av;
  int block_size, group;
  Buffer<int> row_starts, first_rows, columns;
};
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class PcsrStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  return make_with_values<ThisBackend, PcsrFormat>(A, method);
}
} // namespace femgpu::linalg
