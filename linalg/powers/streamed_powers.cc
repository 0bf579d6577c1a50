#include "linalg/execution/this_backend.h"
#include "linalg/powers/basis_step.h"
#include "linalg/powers/forms.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Computes v_{k+1} from v_k and v_{k-1} for those rows of a pass that perform this step.
struct RowBlockPassStep
{
  RowBlockPassView pass;
  BasisStep step;
  int number; ///< number of the step in the pass, from 1 on
  const double *v, *before;
  double *next;

  FEMGPU_HD
  bool applies_to(const int l) const
  {
    return number >= pass.from[l] && number <= pass.to[l];
  }
  FEMGPU_HD
  void finish_row(const int l, const double Av_l) const
  {
    const int i = pass.row(l);
    const double before_i = step.square != 0. ? before[i] : 0.;
    next[i] = next_basis_entry(step, Av_l, v[i], before_i);
  }
  FEMGPU_HD
  void operator()(const int l) const
  {
    if (applies_to(l))
      finish_row(l, pass.row_product<8>(l, v));
  }
};

/// A RowBlockPassStep for long rows: a team processes a slice of 32 rows, with several lanes per
/// row.
struct RowBlockPassSliceStep : RowBlockPassStep
{
  static constexpr int rows_of_slice = 1 << log_slice_of_gpu, n_lanes = 8;
  static constexpr int team_size = n_lanes * rows_of_slice, scratch = team_size;
  int n_rows;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int slice) const
  {
    for (int k = team.rank(); k < team_size; k += team.size()) {
      const int l = slice * rows_of_slice + k % rows_of_slice;
      const bool is_applied = l < n_rows && this->applies_to(l);
      team.scratch()[k] = is_applied ? pass.row_product<8>(l, v, k / rows_of_slice, n_lanes) : 0.;
    }
    team.sync();
    for (int r = team.rank(); r < rows_of_slice; r += team.size()) {
      const int l = slice * rows_of_slice + r;
      double sum = 0.;
      for (int k = r; k < team_size; k += rows_of_slice)
        sum += team.scratch()[k];
      if (l < n_rows && this->applies_to(l))
        this->finish_row(l, sum);
    }
  }
};

/// Mean number of entries per row, over all ranks, from which on the rows of a pass are too few to
/// occupy a GPU with one thread each.
constexpr double long_rows = 64.;

bool has_long_rows(const RowSpace &rows, const ScaledMatrix &A)
{
  const double n_entries =
      rows.sum(A.n_own > 0 ? static_cast<double>(A.A.row_starts[A.n_own]) : 0.);
  return n_entries >= long_rows * static_cast<double>(rows.n_global()) && n_entries > 0.;
}

template <class Backend>
class StreamedPowers final : public MatrixPowers
{
public:
  StreamedPowers(const RowSpacePtr &space, const ScaledMatrix &A, const RowBlockPasses &passes,
                 const int n_slots)
      : MatrixPowers(space), executor(space->executor()),
        by_slices(Backend::kind == BackendKind::cuda && has_long_rows(*space, A))
  {
    std::vector<std::size_t> chunk_bytes;
    for (const RowBlockPass &pass : passes.passes) {
      layouts.emplace_back(pass, passes.log_slice);
      chunk_bytes.push_back(layouts.back().end);
    }
    chunks = executor->make_chunk_stream(chunk_bytes, std::max(n_slots, 1));
    for (std::size_t c = 0; c < layouts.size(); ++c)
      fill_pass(A, passes.passes[c], layouts[c], chunks->host(static_cast<int>(c)));
    const bool is_resident =
        static_cast<int>(layouts.size()) <= n_slots; // each pass in its own slot
    std::ostringstream text;
    text.precision(4);
    text << "streamed: " << passes.depth << (passes.depth == 1 ? " step" : " steps")
         << " per pass, " << layouts.size() << " blocks, "
         << 1e-6 * static_cast<double>(passes.total_bytes()) << " MB"
         << (is_resident ? " kept in memory" : " streamed each time");
    this->properties = {text.str(), chunks->slot_bytes(), passes.depth, passes.total_bytes(), 0};
  }

protected:
  void run(const Columns &V, const std::vector<BasisStep> &steps) const override
  {
    int first = 0;
    Runner<Backend> runner(*executor);
    for (const int n_steps : sweeps_of(static_cast<int>(steps.size()), properties.depth)) {
      update_ghost_values(runner, V, steps, first);
      for (std::size_t c = 0; c < layouts.size(); ++c) {
        const char *const chunk = chunks->fetch(static_cast<int>(c));
        run_pass(runner, layouts[c].view(chunk), layouts[c].n_rows, V, steps, first, n_steps);
        chunks->release();
      }
      first += n_steps;
    }
  }

private:
  void run_pass(Runner<Backend> &runner, const RowBlockPassView &pass, const int n_rows,
                const Columns &V, const std::vector<BasisStep> &steps, const int first,
                const int n_steps) const
  {
    for (int k = first; k < first + n_steps; ++k) {
      const RowBlockPassStep step{pass,    steps[k], k - first + 1, V[k], V[k > 0 ? k - 1 : 0],
                                  V[k + 1]};
      if (by_slices)
        runner.run(teams((n_rows + RowBlockPassSliceStep::rows_of_slice - 1) /
                             RowBlockPassSliceStep::rows_of_slice,
                         RowBlockPassSliceStep{step, n_rows}));
      else
        runner.run(rows(n_rows, step));
    }
  }

  ExecutorPtr executor;
  bool by_slices; ///< runs RowBlockPassSliceStep instead of RowBlockPassStep
  std::vector<RowBlockPassLayout> layouts;
  std::unique_ptr<ChunkStream> chunks;
};
} // namespace

template <>
std::unique_ptr<MatrixPowers>
make_streamed_powers<ThisBackend>(const RowSpacePtr &space, const ScaledMatrix &A,
                                  const RowBlockPasses &passes, const int n_slots)
{
  return std::make_unique<StreamedPowers<ThisBackend>>(space, A, passes, n_slots);
}
} // namespace femgpu::linalg
