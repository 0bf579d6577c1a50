#include "linalg/base/error.h"
#include "linalg/matrices/cut_rows.h"
#include "linalg/matrices/format.h"

#include <algorithm>

namespace femgpu::linalg
{
namespace
{
constexpr int threads = 256;
constexpr int most_entries = 4 * threads; ///< in a block

/// Copies row i of A to its place; the padding stays as it is.
template <class Value>
struct FillRow
{
  CsrView<double> A;
  const int *row_starts;
  int *columns;
  Value *values;

  FEMGPU_HD
  void operator()(const int i) const
  {
    int at = row_starts[i];
    for (int k = A.row_starts.low[i]; k < A.row_starts.low[i + 1]; ++k, ++at) {
      columns[at] = A.columns[k];
      values[at] = static_cast<Value>(A.values[k]);
    }
  }
};

/// Multiplies the entries of a block, adds them in groups of f by a tree, then row by row.
template <class Value>
struct MultiplyBlock
{
  static constexpr int team_size = threads;
  static constexpr int scratch = most_entries;

  int block_size, group; ///< entries; f
  int n_entries;
  const int *row_starts; ///< n+1
  const int *first_rows; ///< of each block: the first row that starts in it; and n
  const int *columns;
  const Value *values;
  const double *v;
  double *Av, *heads;

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
      heads[block] = sum_of_groups(products, 0, (next_row < end ? next_row : end) - begin);
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
 * PCSR (Dehnavi 2012, chapters 3 and 4): CSR cut into blocks of 256 entries or a multiple
 * (`prefetch`), rows padded with zeros to a multiple of f (`padding`).
 */
template <class Backend, class Value>
class PcsrFormat final : public Format<Value>
{
public:
  PcsrFormat(const CsrMatrix &A, Method &method) : Format<Value>(A)
  {
    block_size = threads * std::stoi(method.word("prefetch", "2", {"1", "2", "4"}));
    group = std::stoi(method.word("padding", "2", {"1", "2", "4", "8"}));
    const std::vector<int> starts = padded_starts(method);
    n_blocks = n_entry_blocks(starts.back(), block_size);
    std::vector<int> first(static_cast<std::size_t>(n_blocks) + 1, A.n());
    for (int block = 0; block < n_blocks; ++block)
      first[block] = static_cast<int>(
          std::lower_bound(starts.begin(), starts.end() - 1, block * block_size) - starts.begin());
    const std::vector<CutRow> cut = find_cut_rows(starts, block_size);

    const ExecutorPtr owner = A.executor();
    row_starts = Buffer<int>(owner, starts.data(), starts.size());
    first_rows = Buffer<int>(owner, first.data(), first.size());
    cut_rows = Buffer<CutRow>(owner, cut.data(), cut.size());
    columns = Buffer<int>(owner, static_cast<std::size_t>(starts.back()));
    values = Buffer<Value>(owner, static_cast<std::size_t>(starts.back()));
    heads = Buffer<double>(owner, static_cast<std::size_t>(n_blocks));
    Av = Buffer<double>(owner, static_cast<std::size_t>(A.n()));
    columns.fill_zero();
    values.fill_zero();
    Av.fill_zero(); // stays so if there is no entry at all
    update();
  }

  std::size_t n_stored() const override
  {
    return values.size();
  }
  std::size_t bytes() const override // and the product is written and read once more
  {
    return row_starts.bytes() + first_rows.bytes() + cut_rows.bytes() + columns.bytes() +
           values.bytes() + 2 * heads.bytes() + 2 * Av.bytes();
  }
  std::string format() const override
  {
    return this->describe("pcsr, prefetch " + std::to_string(block_size / threads) +
                          ", rows padded to " + std::to_string(group));
  }
  Matrix::View view() const override
  {
    return StoredView{this->n(), Av.data()};
  }
  const double *prepare(StepRunner &runner, double *v) const override
  {
    auto &steps = static_cast<Runner<Backend> &>(runner);
    steps.run(
        teams(n_blocks, MultiplyBlock<Value>{block_size, group, static_cast<int>(values.size()),
                                             row_starts.data(), first_rows.data(), columns.data(),
                                             values.data(), v, Av.data(), heads.data()}));
    steps.run(rows(static_cast<int>(cut_rows.size()),
                   AddHeads{cut_rows.data(), heads.data(), Av.data()}));
    return v;
  }
  void update() override
  {
    Runner<Backend>(*this->executor())
        .run(rows(this->n(), FillRow<Value>{this->source.csr_view(), row_starts.data(),
                                            columns.data(), values.data()}));
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

  int block_size, group, n_blocks;
  Buffer<int> row_starts, first_rows, columns;
  Buffer<CutRow> cut_rows;
  Buffer<Value> values;
  mutable Buffer<double> heads, Av; // a matrix is used by one solver at a time
};
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class PcsrStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  return with_values<ThisBackend, PcsrFormat>(A, method);
}
} // namespace femgpu::linalg
