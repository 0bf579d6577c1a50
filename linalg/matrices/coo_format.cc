#include "linalg/matrices/cut_rows.h"
#include "linalg/matrices/format.h"

namespace femgpu::linalg
{
namespace
{
constexpr int threads = 256;
constexpr int block_size = 4 * threads; ///< entries

/// The row of each entry of row i.
struct FillRows
{
  CsrView<double> A;
  int *row_indices;

  FEMGPU_HD
  void operator()(const int i) const
  {
    for (int k = A.row_starts.low[i]; k < A.row_starts.low[i + 1]; ++k)
      row_indices[k] = i;
  }
};

/// Av_i = 0
struct SetZero
{
  double *Av;

  FEMGPU_HD
  void operator()(const int i) const
  {
    Av[i] = 0.;
  }
};

/// Multiplies the entries of a block; the first entry of each row adds up the row's segment.
template <class Value>
struct MultiplyBlock
{
  static constexpr int team_size = threads;
  static constexpr int scratch = block_size;

  int n_entries;
  const int *row_indices, *columns;
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
    if (team.rank() == 0)
      heads[block] = 0.;
    team.sync();
    for (int k = begin + team.rank(); k < end; k += team.size()) {
      const int row = row_indices[k];
      if (k > begin && row_indices[k - 1] == row)
        continue;
      double sum = 0.;
      for (int l = k; l < end && row_indices[l] == row; ++l)
        sum += products[l - begin];
      const bool began_earlier = k == begin && k > 0 && row_indices[k - 1] == row;
      *(began_earlier ? heads + block : Av + row) = sum;
    }
  }
};

/// Coordinates, in the order of the rows, with segmented sums (Dědeček, §5.4).
template <class Backend, class Value>
class CooFormat final : public Format<Value>
{
public:
  CooFormat(const CsrMatrix &A, Method & /* method */)
      : Format<Value>(A), n_entries(static_cast<int>(A.n_nonzeros())),
        n_blocks(n_entry_blocks(n_entries, block_size))
  {
    const std::vector<int> row_starts = A.host_row_starts();
    for (std::size_t i = 1; i < row_starts.size(); ++i)
      has_empty_rows = has_empty_rows || row_starts[i] == row_starts[i - 1];
    const std::vector<CutRow> cut = find_cut_rows(row_starts, block_size);
    const ExecutorPtr owner = A.executor();
    cut_rows = Buffer<CutRow>(owner, cut.data(), cut.size());
    row_indices = Buffer<int>(owner, A.n_nonzeros());
    values = Buffer<Value>(owner, A.n_nonzeros());
    heads = Buffer<double>(owner, static_cast<std::size_t>(n_blocks));
    Av = Buffer<double>(owner, static_cast<std::size_t>(A.n()));
    Runner<Backend>(*owner).run(rows(A.n(), FillRows{A.csr_view(), row_indices.data()}));
    update();
  }

  std::size_t n_stored() const override
  {
    return this->n_nonzeros();
  }
  std::size_t bytes() const override // and the product is written and read once more
  {
    return n_stored() * (2 * sizeof(int) + sizeof(Value)) + cut_rows.bytes() + 2 * heads.bytes() +
           2 * Av.bytes();
  }
  std::string format() const override
  {
    return this->describe("coo");
  }
  Matrix::View view() const override
  {
    return StoredView{this->n(), Av.data()};
  }
  const double *prepare(StepRunner &runner, double *v) const override
  {
    auto &steps = static_cast<Runner<Backend> &>(runner);
    if (has_empty_rows)
      steps.run(rows(this->n(), SetZero{Av.data()}));
    steps.run(teams(n_blocks, MultiplyBlock<Value>{n_entries, row_indices.data(),
                                                   this->source.csr_view().columns, values.data(),
                                                   v, Av.data(), heads.data()}));
    steps.run(rows(static_cast<int>(cut_rows.size()),
                   AddHeads{cut_rows.data(), heads.data(), Av.data()}));
    return v;
  }
  void update() override
  {
    convert<Backend>(*this->executor(), this->source.csr_view().values, values.data(), n_stored());
  }

private:
  int n_entries, n_blocks;
  bool has_empty_rows = false;
  Buffer<CutRow> cut_rows;
  Buffer<int> row_indices;
  Buffer<Value> values;
  mutable Buffer<double> heads, Av; // a matrix is used by one solver at a time
};
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class CooStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  return with_values<ThisBackend, CooFormat>(A, method);
}
} // namespace femgpu::linalg
