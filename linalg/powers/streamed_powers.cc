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
/// A chunk as steps see it.
struct VisitView
{
  int begin, n_own, log_slice;
  const double *values;
  const int *columns;
  const unsigned int *slice_starts;
  const int *others;
  const std::uint8_t *from, *to;

  FEMGPU_HD
  int row(const int l) const
  {
    return l < n_own ? begin + l : others[l - n_own];
  }
  FEMGPU_HD
  double row_product(const int l, const double *v) const
  {
    const unsigned int size = 1U << log_slice;
    const int slice = l >> log_slice;
    return strided_product<8>(values, columns,
                              places_in_slice(slice_starts[slice], slice_starts[slice + 1],
                                              static_cast<unsigned int>(l), size),
                              v);
  }
};

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
    next[i] = next_of_basis(step, visit.row_product(l, v), v[i], before_i);
  }
};

template <class Backend>
class StreamedPowers final : public MatrixPowers
{
public:
  StreamedPowers(const ExecutorPtr &executor, const ScaledMatrix &A, const RowVisits &visits,
                 const int n_slots)
      : executor(executor), depth(visits.depth), log_slice(visits.log_slice),
        streamed_bytes(visits.total_bytes())
  {
    std::vector<std::size_t> chunk_bytes;
    for (const RowVisit &visit : visits.visits) {
      shapes.push_back({visit.begin, visit.end - visit.begin, visit.n_rows(), VisitOffsets(visit)});
      chunk_bytes.push_back(shapes.back().offsets.end);
    }
    stays = static_cast<int>(shapes.size()) <= n_slots;
    chunks = executor->make_chunk_stream(chunk_bytes, std::max(n_slots, 1));
    for (std::size_t c = 0; c < shapes.size(); ++c)
      fill_visit(A, visits.visits[c], log_slice, chunks->host(static_cast<int>(c)));
  }

  std::string description() const override
  {
    std::ostringstream text;
    text.precision(4);
    text << "streamed: " << depth << (depth == 1 ? " step" : " steps") << " a visit, "
         << shapes.size() << " blocks, " << 1e-6 * static_cast<double>(streamed_bytes) << " MB"
         << (stays ? " that stay" : " each time");
    return text.str();
  }
  std::size_t bytes() const override
  {
    return chunks->slot_bytes();
  }
  std::size_t traffic(const int n_steps) const override
  {
    return sweeps_of(n_steps, depth).size() * streamed_bytes;
  }

protected:
  void run(const Columns &V, const std::vector<BasisStep> &steps) const override
  {
    int first = 0;
    for (const int n_steps : sweeps_of(static_cast<int>(steps.size()), depth)) {
      for (std::size_t c = 0; c < shapes.size(); ++c) {
        const char *const chunk = chunks->fetch(static_cast<int>(c));
        run_visit(view(shapes[c], chunk), shapes[c].n_rows, V, steps, first, n_steps);
        chunks->release();
      }
      first += n_steps;
    }
  }

private:
  struct Shape
  {
    int begin, n_own, n_rows;
    VisitOffsets offsets;
  };

  VisitView view(const Shape &shape, const char *chunk) const
  {
    const VisitOffsets &at = shape.offsets;
    return {shape.begin,
            shape.n_own,
            log_slice,
            part<double>(chunk, at.values),
            part<int>(chunk, at.columns),
            part<unsigned int>(chunk, at.slice_starts),
            part<int>(chunk, at.others),
            part<std::uint8_t>(chunk, at.from),
            part<std::uint8_t>(chunk, at.to)};
  }

  template <class T>
  static const T *part(const char *chunk, const std::size_t offset)
  {
    return reinterpret_cast<const T *>(chunk + offset);
  }

  void run_visit(const VisitView &visit, const int n_rows, const Columns &V,
                 const std::vector<BasisStep> &steps, const int first, const int n_steps) const
  {
    Runner<Backend> runner(*executor);
    for (int k = first; k < first + n_steps; ++k)
      runner.run(rows(
          n_rows, VisitStep{visit, steps[k], k - first + 1, V[k], V[k > 0 ? k - 1 : 0], V[k + 1]}));
  }

  ExecutorPtr executor;
  int depth, log_slice;
  std::size_t streamed_bytes;
  bool stays = false; ///< all chunks have slots of their own
  std::vector<Shape> shapes;
  std::unique_ptr<ChunkStream> chunks;
};
} // namespace

template <>
std::unique_ptr<MatrixPowers>
make_streamed_powers<ThisBackend>(const ExecutorPtr &executor, const ScaledMatrix &A,
                                  const RowVisits &visits, const int n_slots)
{
  return std::make_unique<StreamedPowers<ThisBackend>>(executor, A, visits, n_slots);
}
} // namespace femgpu::linalg
