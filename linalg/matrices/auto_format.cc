#include "linalg/base/error.h"
#include "linalg/base/timing.h"
#include "linalg/matrices/format.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <sstream>

namespace femgpu::linalg
{
namespace
{
struct TrialState : LoopState
{
  double sum = 0.;
};

struct TrialSums
{
  double sum;
};

/// result_i = (A v)_i, with a sum: what products in solvers are like.
struct Multiply
{
  const double *v;
  double *result;

  using Contributes = SumList<&TrialSums::sum>;
  FEMGPU_HD
  void operator()(const TrialState & /* s */, const int i, const double Av_i, TrialSums &sums) const
  {
    result[i] = Av_i;
    sums.sum += v[i] * Av_i;
  }

  using Completes = Contributes;
  FEMGPU_HD
  void finish(TrialState &s, const TrialSums &sums) const
  {
    s.sum = sums.sum;
  }
};

/// Mean and scatter of the row lengths.
struct RowStatistics
{
  explicit RowStatistics(const CsrMatrix &A)
  {
    const double n = std::max(1, A.n());
    mean = static_cast<double>(A.n_nonzeros()) / n;
    for (const int length : A.host_row_lengths()) {
      deviation += std::pow(length - mean, 2) / n;
      longest = std::max(longest, length);
    }
    deviation = std::sqrt(deviation);
  }

  double mean = 0., deviation = 0.;
  int longest = 0;
};

/// Formats worth a trial, the plainest first; on a GPU, where rows have similar lengths, that of
/// the fewest bytes, because a trial has the cache to itself and a loop has vectors too. On an H100
/// twice the threads of csr and ellr-t were never the fastest by more than noise; cores lose more
/// by decoding short columns than bytes save.
std::vector<std::string> candidates(const CsrMatrix &A, const RowStatistics &rows)
{
  const int per_node = A.unknowns()->per_node;
  const bool has_blocks = per_node > 1 && A.n() % per_node == 0;
  std::vector<std::string> methods = {"csr"};
  if (has_blocks)
    methods.emplace_back("bsr");
  if (A.executor()->backend() == BackendKind::host) // long loops over a row are what a core likes
    return methods;
  const bool is_even = rows.deviation < 0.5 * rows.mean;
  const auto sliced = [&](const char *const method) {
    methods.insert(is_even ? methods.begin() : methods.end(), method);
  };
  if (has_blocks)
    sliced("bsell");
  const int threads = threads_for_rows(*A.executor(), rows.mean);
  if (threads > 1)
    methods.push_back("csr threads=" + std::to_string(threads / 2));
  if (!has_blocks || !is_even)
    sliced("sell columns=short"); // faster than sell with conjugate gradients
  if (rows.deviation > 2. * rows.mean)
    methods.emplace_back("pcsr");
  return methods;
}

/// The views of candidates(): no other needs a kernel for trials.
template <class Scalars>
struct TriedViews;
template <class... Values>
struct TriedViews<ScalarTypes<Values...>>
{
  using Operator = ViewedOperator<CsrView<Values>..., SellView<Values>..., BsrView<Values>...,
                                  BlockSellView<Values>..., StoredView>;
};

/// A candidate, as a trial sees it.
class TriedMatrix final : public TriedViews<FormatScalars>::Operator
{
public:
  explicit TriedMatrix(const Matrix &A) : ViewedOperator(A.range(), A.domain()), A(A)
  {}

  View view() const override
  {
    return std::visit(
        [](const auto &view) -> View {
          if constexpr (std::is_constructible_v<View, decltype(view)>)
            return view;
          else
            throw ParameterError("Matrix format 'auto' tries no ELLPACK.");
        },
        A.view());
  }
  const double *prepare(StepRunner &runner, double *v) const override
  {
    return A.prepare(runner, v);
  }

private:
  const Matrix &A;
};

/// Seconds of one product: the best of some, after one that is not counted.
template <class Backend>
double seconds_of_product(const Matrix &matrix, Buffer<double> &v, Buffer<double> &result)
{
  const TriedMatrix A(matrix);
  constexpr int repeats = 5;
  constexpr double seconds_of_repeat = 2e-3; // shorter ones see a GPU that is not awake
  Iteration<Backend, TrialState, TrialSums> trial(*A.range());
  trial.set_state({});
  int products = 4;
  double best = 0.;
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    const Stopwatch watch;
    for (int k = 0; k < products; ++k)
      trial.once(product(A, v.data(), Multiply{v.data(), result.data()}));
    A.executor()->synchronize();
    const double seconds = watch.elapsed() / products;
    best = repeat <= 1 ? seconds : std::min(best, seconds);
    products = static_cast<int>(std::clamp(seconds_of_repeat / seconds, 4., 200.));
  }
  return best;
}
} // namespace

template <>
std::unique_ptr<Matrix> make_on<class AutoStorage, ThisBackend>(Method &method, const CsrMatrix &A)
{
  // Another format must be so much faster than the ones before it, so that noise decides nothing.
  constexpr double clearly_faster = 0.93;

  if (A.range()->communicator() != nullptr) // the others would have to try as often
    throw ParameterError("Matrix format 'auto' needs all rows in one part. Name a format.");
  const RowStatistics statistics(A);
  const std::string values = FormatScalars::choose(method, [](const auto scalar) {
    return std::string(" values=") + scalar_name<typename decltype(scalar)::Type>;
  });
  Buffer<double> v = A.domain()->make_vector();
  Buffer<double> result = A.range()->make_vector();
  v.fill_zero();

  // A GPU that has been idle is slow for a while: no trial counts before it is awake.
  double before = 0., awake = seconds_of_product<ThisBackend>(A, v, result);
  do {
    before = awake;
    awake = seconds_of_product<ThisBackend>(A, v, result);
  } while (awake < clearly_faster * before);

  std::unique_ptr<Matrix> best;
  double least = 0.;
  std::ostringstream story;
  story.precision(3);
  story << "chosen for rows of " << statistics.mean << " +- " << statistics.deviation
        << " entries, at most " << statistics.longest << ", by products in us:";
  std::exception_ptr no_memory;
  for (const std::string &candidate : candidates(A, statistics)) {
    std::unique_ptr<Matrix> trial;
    double seconds = 0.;
    try {
      trial = make_format(candidate + values, A);
      seconds = seconds_of_product<ThisBackend>(*trial, v, result);
    }
    catch (const ParameterError &) { // it cannot hold this matrix
      continue;
    }
    catch (const DeviceError &) { // not beside the best one
      no_memory = std::current_exception();
      continue;
    }
    story << (best ? ", " : " ") << candidate << ' ' << 1e6 * seconds;
    if (!best || seconds < clearly_faster * least) {
      best = std::move(trial);
      least = seconds;
    }
  }
  if (!best)
    std::rethrow_exception(no_memory); // plain rows hold any matrix
  best->reason = story.str();
  return best;
}
} // namespace femgpu::linalg
