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
/// One step for those rows of a visit that take it: v_{k+1} of v_k and v_{k-1}.
struct VisitStep
{
  VisitView visit;
  BasisStep step;
  int number; ///< of the step in a visit, from 1 on
  const double *v, *before;
  double *next;

  FEMGPU_HD
  void operator()(const int l) const
  {
    if (number < visit.from[l] || number > visit.to[l])
      return;
    const int i = visit.row(l);
    const double before_i = step.square != 0. ? before[i] : 0.;
    next[i] = next_of_basis(step, visit.row_product<8>(l, v), v[i], before_i);
  }
};

template <class Backend>
class StreamedPowers final : public MatrixPowers
{
public:
  StreamedPowers(const RowSpacePtr &space, const ScaledMatrix &A, const RowVisits &visits,
                 const int n_slots)
      : MatrixPowers(space), executor(space->executor())
  {
    std::vector<std::size_t> chunk_bytes;
    for (const RowVisit &visit : visits.visits) {
      layouts.emplace_back(visit, visits.log_slice);
      chunk_bytes.push_back(layouts.back().end);
    }
    chunks = executor->make_chunk_stream(chunk_bytes, std::max(n_slots, 1));
    for (std::size_t c = 0; c < layouts.size(); ++c)
      fill_visit(A, visits.visits[c], layouts[c], chunks->host(static_cast<int>(c)));
    const bool stays = static_cast<int>(layouts.size()) <= n_slots; // in slots of their own
    std::ostringstream text;
    text.precision(4);
    text << "streamed: " << visits.depth << (visits.depth == 1 ? " step" : " steps") << " a visit, "
         << layouts.size() << " blocks, " << 1e-6 * static_cast<double>(visits.total_bytes())
         << " MB" << (stays ? " that stay" : " each time");
    this->facts = {text.str(), chunks->slot_bytes(), visits.depth, visits.total_bytes(), 0};
  }

protected:
  void run(const Columns &V, const std::vector<BasisStep> &steps) const override
  {
    int first = 0;
    Runner<Backend> runner(*executor);
    for (const int n_steps : sweeps_of(static_cast<int>(steps.size()), facts.depth)) {
      bring_ghosts(runner, V, steps, first);
      for (std::size_t c = 0; c < layouts.size(); ++c) {
        const char *const chunk = chunks->fetch(static_cast<int>(c));
        run_visit(runner, layouts[c].view(chunk), layouts[c].n_rows, V, steps, first, n_steps);
        chunks->release();
      }
      first += n_steps;
    }
  }

private:
  static void run_visit(Runner<Backend> &runner, const VisitView &visit, const int n_rows,
                        const Columns &V, const std::vector<BasisStep> &steps, const int first,
                        const int n_steps)
  {
    for (int k = first; k < first + n_steps; ++k)
      runner.run(rows(
          n_rows, VisitStep{visit, steps[k], k - first + 1, V[k], V[k > 0 ? k - 1 : 0], V[k + 1]}));
  }

  ExecutorPtr executor;
  std::vector<VisitLayout> layouts;
  std::unique_ptr<ChunkStream> chunks;
};
} // namespace

template <>
std::unique_ptr<MatrixPowers>
make_streamed_powers<ThisBackend>(const RowSpacePtr &space, const ScaledMatrix &A,
                                  const RowVisits &visits, const int n_slots)
{
  return std::make_unique<StreamedPowers<ThisBackend>>(space, A, visits, n_slots);
}
} // namespace femgpu::linalg
