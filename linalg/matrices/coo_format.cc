#include "linalg/matrices/entry_blocks.h"
#include "linalg/sparse/derived_matrix.h"

namespace femgpu::linalg
{
namespace
{
constexpr int block_size = 4 * block_threads; ///< entries of a block

/// Multiplies the entries of a block by v. The thread of a row's first entry in the block sums the
/// products of that row.
template <class Value>
struct MultiplyCoordinates
{
  static constexpr int team_size = block_threads;
  static constexpr int scratch = block_size;

  int n_entries;
  const int *row_indices, *columns;
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
    if (team.rank() == 0)
      carries[block] = 0.;
    team.sync();
    for (int k = begin + team.rank(); k < end; k += team.size()) {
      const int row = row_indices[k];
      if (k > begin && row_indices[k - 1] == row)
        continue;
      double sum = 0.;
      for (int l = k; l < end && row_indices[l] == row; ++l)
        sum += products[l - begin];
      const bool began_earlier = k == begin && k > 0 && row_indices[k - 1] == row;
      *(began_earlier ? carries + block : Av + row) = sum;
    }
  }
};

/// Coordinate format in row order, with segmented sums (Dědeček 2013, §5.4).
template <class Backend, class Value>
class CooFormat final : public EntryBlockFormat<Backend, Value>
{
public:
  CooFormat(const CsrMatrix &A, Method & /* method */)
      : EntryBlockFormat<Backend, Value>(A), n_entries(static_cast<int>(A.n_nonzeros()))
  {
    const std::vector<int> row_starts = A.host_row_starts();
    for (std::size_t i = 1; i < row_starts.size(); ++i)
      has_empty_rows = has_empty_rows || row_starts[i] == row_starts[i - 1];
    this->split(row_starts, block_size);
    row_indices = row_numbers<Backend>(pattern_of(A));
    values = Buffer<Value>(A.executor(), A.n_nonzeros());
    update();
  }

  std::size_t bytes() const override
  {
    return this->n_stored() * (2 * sizeof(int) + sizeof(Value)) + this->fixup_bytes();
  }
  std::string description() const override
  {
    return this->describe("coo");
  }
  const double *prepare(StepRunner &runner, double *v) const override
  {
    auto &steps = static_cast<Runner<Backend> &>(runner);
    if (has_empty_rows)
      steps.run(rows(this->n(), FillWith<double>{Av.data(), 0.}));
    steps.run(teams(this->n_blocks,
                    MultiplyCoordinates<Value>{n_entries, row_indices.data(),
                                               this->source.csr_view().columns, values.data(), v,
                                               Av.data(), carries.data()}));
    add_carries(steps, this->split_rows, carries, Av);
    return v;
  }
  void update() override
  {
    convert<Backend>(*this->executor(), this->source.csr_view().values, values.data(),
                     this->n_stored());
  }

private:
  using Format<Value>::values;
  using EntryBlockFormat<Backend, Value>::carries, EntryBlockFormat<Backend, Value>::Av;
  int n_entries;
  bool has_empty_rows = false;
  Buffer<int> row_indices;
};
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class CooStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  return make_with_values<ThisBackend, CooFormat>(A, method);
}
} // namespace femgpu::linalg
