#ifndef femgpu_linalg_execution_host_runner_h
#define femgpu_linalg_execution_host_runner_h

#include "linalg/base/parallel.h"
#include "linalg/execution/host/executor.h"
#include "linalg/execution/host/gram.h"
#include "linalg/memory/executor.h"
#include "linalg/operators/linear_operator.h"
#include "linalg/steps/steps.h"

#include <algorithm>
#include <vector>

namespace femgpu::linalg
{
/// The backend that runs steps (steps/steps.h) on the cores of the host, each as one parallel loop
/// over rows.
struct HostBackend
{
  static constexpr BackendKind kind = BackendKind::host;
};

/// A team of one thread; see TeamStep.
template <int scratch_size>
class HostTeam
{
public:
  /// Makes a team with uninitialised scratch of scratch_size doubles.
  /// @param dynamic_scratch used if scratch_size is 0: scratch whose size is known only at run
  /// time, zero before the thread's first item; nullptr: there is none
  explicit HostTeam(double *dynamic_scratch = nullptr) : dynamic_scratch(dynamic_scratch)
  {}
  static constexpr int rank()
  {
    return 0;
  }
  static constexpr int size()
  {
    return 1;
  }
  static void sync()
  {}
  static double sum(const double value)
  {
    return value;
  }
  /// Returns @p value. A GPU team sums the values of neighbouring threads; here there is only one.
  static double sum(const double value, const int /* lanes */)
  {
    return value;
  }
  /// Returns the number of doubles of scratch that sums() needs for P values.
  static constexpr int workspace_for_sums(const int /* P */)
  {
    return 0;
  }
  /// Does nothing: for one thread, each of the P values is its own sum.
  template <int P>
  static void sums(double (&/* values */)[P], double * /* room */)
  {}
  double *scratch() const
  {
    return scratch_size > 0 ? shared : dynamic_scratch;
  }

  // The functions of a ChainStep's team. Nothing waits: all earlier items have finished.
  static void wait_for(const int /* k */)
  {}
  static void acquire_fence()
  {}
  static void publish(const int /* k */)
  {}
  template <class T>
  static T load_published(const T *from)
  {
    return *from;
  }

  /// Returns *from.
  static int load_volatile(const int *from)
  {
    return *from;
  }
  /// Stores @p value in *to if *to is @p expected. @return the old value of *to
  static int compare_and_swap(int *to, const int expected, const int value)
  {
    const int old = *to;
    if (old == expected)
      *to = value;
    return old;
  }
  /// Adds 1 to *counter. @return the old value of *counter
  static int fetch_increment(int *counter)
  {
    return (*counter)++;
  }
  /// Stores the n distinct numbers at @p from in ascending order at @p to. The arrays must not
  /// overlap.
  static void sort(const int *from, const int n, int *to)
  {
    std::copy(from, from + n, to);
    std::sort(to, to + n);
  }

private:
  mutable double shared[scratch_size > 0 ? scratch_size : 1];
  double *dynamic_scratch;
};

template <>
class Runner<HostBackend> final : public StepRunner
{
public:
  explicit Runner(const Executor &executor)
      : n_threads(static_cast<int>(static_cast<const HostExecutor &>(executor).n_threads()))
  {}

  void gather(const double *v, const int *rows, int n, double *to, int width) override;
  void add_to_rows(const double *from, const int *rows, int n, double *v, int width) override;
  void copy_strided(const double *from, int from_stride, int n, double *to, int to_stride) override;

  template <class Body>
  void run(const RowStep<Body> &step)
  {
    for_each(step.n, [&](const int i) { step.body(i); });
  }

  template <class Operator, class Body>
  void run(const ProductStep<Operator, Body> &step)
  {
    const double *const v = prepare_product(*step.A, *this, step.v);
    const auto run_rows = [&](const auto &A) {
      for_each(A.n, [&](const int i) { step.body(A.row(i), A.row_product(i, 0, 1, v)); });
    };
    visit_view(*step.A, run_rows);
  }

  template <class Body>
  void run(const TeamStep<Body> &step)
  {
    const int threads = step.n > 1 ? n_threads : 1;
    const int chunk = std::clamp(step.n / (8 * threads), 1, 16); // few items may each be large
    std::vector<std::vector<double>> scratch(static_cast<std::size_t>(threads));
    for (std::vector<double> &thread_scratch : scratch)
      thread_scratch.resize(static_cast<std::size_t>(step.scratch));
    parallel_for_dynamic(
        step.n, chunk,
        [&](const int i, const int thread) {
          const HostTeam<Body::scratch> team(scratch[static_cast<std::size_t>(thread)].data());
          step.body(team, i);
        },
        threads);
  }

  /// The maximum number of doubles of scratch for a team.
  static int max_scratch()
  {
    return 1 << 15;
  }

  template <class Body>
  void run(const ChainStep<Body> &step)
  {
    const int threads = step.n_chains > 1 ? n_threads : 1;
    parallel_for_dynamic(
        step.n_chains, 1,
        [&](const int chain, int /* thread */) {
          const HostTeam<Body::scratch> team;
          for (int i = step.starts[chain]; i < step.starts[chain + 1]; ++i)
            step.body(team, i);
        },
        threads);
  }

  template <class Body>
  void run(const GramStep<Body> &step)
  {
    run_gram(step, n_threads);
  }

private:
  // With fewer rows per thread, starting a thread costs more than it saves.
  static constexpr int rows_per_thread = 4096;

  template <class Function>
  void for_each(const int n, const Function &f)
  {
    parallel_for(n, f, n < 2 * rows_per_thread ? 1 : n_threads);
  }

  int n_threads;
};
} // namespace femgpu::linalg

#endif
