#ifndef femgpu_linalg_steps_steps_h
#define femgpu_linalg_steps_steps_h

#include "linalg/base/host_device.h"

#include <functional>
#include <tuple>
#include <type_traits>

/**
 * @file
 * Fused steps: the building blocks of solvers.
 *
 * A solver's iteration is a short list of steps. A step, usually one kernel on a GPU or one
 * parallel loop on the host, consists of a body that is run once for every row, the sums to which
 * the body contributes, and optionally an epilogue that is run once when the sums are complete. The
 * body is a plain struct of pointers with
 *
 *     FEMGPU_HD void operator()(const State &, int i, Sums &) const;               // for rows()
 *     FEMGPU_HD void operator()(const State &, int i, double Av_i, Sums &) const;  // for product()
 *     using Contributes = SumList<&Sums::gamma, &Sums::rr>;  // the members of Sums it adds to
 *     using Completes   = SumList<...>;                      // with an epilogue: the sums it reads
 *     FEMGPU_HD void finish(State &, const Sums &) const;    // the epilogue
 *
 * A body that contributes to no sums needs no Contributes. A body that needs neither state nor sums
 * is called as body(i) or body(i, Av_i), so that it can also be run outside of an iteration. An
 * epilogue without Completes reads the sums to which its own step contributes.
 *
 * State and Sums are plain structs defined by the solver. They are in the memory of the executor,
 * so that no step needs the host. Sums contains doubles only, and is shared by the steps of an
 * iteration: an epilogue may read sums of earlier steps. The order of additions is fixed for a
 * given number of rows and device, so that results are bitwise reproducible.
 *
 * Iteration<Backend, State, Sums> (host/iteration.h, cuda/iteration/iteration.cuh) runs steps.
 * Runner<Backend> (host/runner.h, cuda/runner.cuh) runs steps that need neither state nor sums.
 */
namespace femgpu::linalg
{
/// A list of members of a struct of sums.
template <auto... members>
struct SumList
{
  static constexpr bool empty = sizeof...(members) == 0;
};

/// The first members of every solver's state.
struct LoopState
{
  bool running = true;         ///< whether the loop continues; an epilogue sets it to false
  bool inner = false;          ///< whether the inner loop (InnerLoop) must run, or run again
  bool wants_deferred = false; ///< whether run_deferred() must be called; see n_epilogue_values

  /**
   * The number of doubles that epilogues keep in memory, before the history of residuals. If it is
   * not 0, the state has run_deferred() and receive_deferred(). Epilogues do not do expensive work
   * themselves, but set wants_deferred; one thread then calls run_deferred() to do the work and
   * receive_deferred() to read its result. If several threads have copies of the state, each thread
   * runs the epilogues; only one of them writes to this memory, and none reads it before the loop
   * ends.
   */
  static constexpr int n_epilogue_values = 0;
};

/// A step that runs @p body for rows 0 <= i < n.
template <class Body_>
struct RowStep
{
  using Body = Body_;
  int n;
  Body body;
};

/**
 * A step that runs @p body with (A v)_i for every row i of an operator. Kernels and loops access
 * the operator through its view (visit_view()), which has
 *
 *     int n, lanes;                             // number of rows, and of GPU threads per row
 *     int row(int position) const;              // the row at a position 0 <= position < n
 *     double row_product(int position, int lane, int lanes, const double *v) const;
 *
 * (A v)_i is the sum of row_product() over the lanes. The host uses one lane.
 */
template <class Operator, class Body_>
struct ProductStep
{
  using Body = Body_;
  const Operator *A;
  double *v; ///< vector of the operator's domain, with memory for ghosts
  Body body;
};

/**
 * A step that assigns each item 0 <= i < n to a team of Body::team_size neighbouring GPU threads,
 * or to one thread of the host. The body is called as body(team, i) and has
 *
 *     static constexpr int team_size = 32;  // 8, a warp, or a block of 128, 256, 512 or 1024
 *     static constexpr int scratch = 0;     // doubles that the team shares
 *
 * A team has rank(), size(), sync(), sum(double), sums() for several values at once, scratch(), and
 * some operations on shared integers. All threads of a team must call sync(), sum() and sums();
 * afterwards they see what the other threads have written. A team of a GPU consists of n_warps()
 * warps, which can compute sums separately; a team of 8 threads has neither n_warps() nor sums().
 * Team steps run without a state.
 */
template <class Body_>
struct TeamStep
{
  using Body = Body_;
  int n;
  Body body;
  int scratch = 0; ///< doubles that the team shares, if their number is known only at run time
};

/// Counters by which the items of a ChainStep wait for each other, in the memory of the executor.
struct ChainProgress
{
  unsigned int *tickets; ///< number of tickets, each for one item, that teams took in this run
  unsigned int *run;     ///< number of runs so far
  unsigned int *done;    ///< for each result: the last run that published it
};

/**
 * A step for items i, each processed by one team, that need results of other items. Chain c has the
 * items starts[c] <= i < starts[c+1]. The items of a chain begin in ascending order, and may run at
 * the same time; the chains run in parallel. The body is called as body(team, i) and has
 * team_size = 32 and scratch = 0. In addition to the functions of a TeamStep's team, its team has
 *
 *     wait_for(k)       waits until an earlier item of the chain has published result k
 *     acquire_fence()   called by all threads after all waits and before load_published()
 *     load_published(p) returns *p; published data must not be read in any other way
 *     publish(k)        called by one thread: publishes its writes, and the team's before sync()
 *
 * The body numbers the results; each is published once per run. Chain steps run without a state.
 * The host uses one thread per chain, so that nothing waits.
 */
template <class Body>
struct ChainStep
{
  int n_chains;
  int longest; ///< number of items of the longest chain
  int n_teams; ///< number of teams that can run at the same time, approximately; more teams would
               ///< only wait
  const int *starts;
  ChainProgress progress;
  Body body;
};

/**
 * Steps that are repeated within one pass of a loop as long as the state's `inner` is true; they do
 * not run if it is false at first. The epilogues of the step before the inner loop and of the last
 * step of the inner loop set `inner`.
 */
template <class... Steps>
struct InnerLoop
{
  std::tuple<Steps...> steps;
};

template <class Step>
struct IsInnerLoop : std::false_type
{};
template <class... Steps>
struct IsInnerLoop<InnerLoop<Steps...>> : std::true_type
{};

template <class Body>
RowStep<Body> rows(const int n, const Body &body)
{
  return {n, body};
}

template <class Operator, class Body>
ProductStep<Operator, Body> product(const Operator &A, double *v, const Body &body)
{
  return {&A, v, body};
}

template <class Body>
TeamStep<Body> teams(const int n, const Body &body)
{
  return {n, body};
}

/**
 * Makes a team step that gives each team memory for @p scratch doubles.
 * Running the step throws DeviceError if the device does not have that much memory for a team. A
 * team that is a whole block can have up to Runner::max_scratch() doubles.
 */
template <class Body>
TeamStep<Body> teams(const int n, const Body &body, const int scratch)
{
  static_assert(Body::scratch == 0);
  return {n, body, scratch};
}

template <class... Steps>
InnerLoop<Steps...> inner_loop(const Steps &...steps)
{
  return {{steps...}};
}

/**
 * The base class of Runner<Backend>, which runs steps whose bodies need neither state nor sums:
 * body(i), body(i, Av_i) or body(team, i). Virtual functions such as LinearOperator::prepare() get
 * a StepRunner, because they are not templates on the backend.
 */
class StepRunner
{
public:
  /// Copies row rows[k] of @p v to row k of @p to for k < @p n. Rows have @p width numbers.
  virtual void gather(const double *v, const int *rows, int n, double *to, int width) = 0;
  /// Adds row k of @p from to row rows[k] of @p v for k < @p n; the rows must be distinct. Rows
  /// have @p width numbers.
  virtual void add_to_rows(const double *from, const int *rows, int n, double *v, int width) = 0;
  /// Computes to[i to_stride] = from[i from_stride] for i < @p n.
  virtual void copy_strided(const double *from, int from_stride, int n, double *to,
                            int to_stride) = 0;

protected:
  ~StepRunner() = default;
};

template <class Backend>
class Runner;

template <class Body>
SumList<> sums_added_by(long);
template <class Body>
typename Body::Contributes sums_added_by(int);
template <class Body>
using AddedSums = decltype(sums_added_by<Body>(0));

template <class Body>
AddedSums<Body> sums_read_by(long);
template <class Body>
typename Body::Completes sums_read_by(int);
template <class Body>
using CompletedSums = decltype(sums_read_by<Body>(0));

template <class Body, class = void>
struct HasEpilogue : std::false_type
{};
template <class Body>
struct HasEpilogue<Body, std::void_t<decltype(&Body::finish)>> : std::true_type
{};

/// Runs a body for row @p i. Only product steps pass @p Av_i, the value of (A v)_i.
template <class Body, class State, class Sums, class... Product>
FEMGPU_HD
void run_body(const Body &body, [[maybe_unused]] const State &state, const int i,
              [[maybe_unused]] Sums &sums, const Product... Av_i)
{
  if constexpr (std::is_invocable_v<const Body &, int, Product...>)
    body(i, Av_i...);
  else
    body(state, i, Av_i..., sums);
}

/// Whether a body runs even if an earlier step has ended the loop.
template <class Body, class = void>
struct RunsAlways : std::false_type
{};
template <class Body>
struct RunsAlways<Body, std::void_t<decltype(Body::runs_always)>> : std::true_type
{};

/// Whether a step runs even if an earlier step has ended the loop; false if it has no body.
template <class Step, class = void>
struct StepRunsAlways : std::false_type
{};
template <class Step>
struct StepRunsAlways<Step, std::void_t<typename Step::Body>> : RunsAlways<typename Step::Body>
{};

/// Computes to.m += from.m for each member m in the list.
template <class Sums, auto... members>
FEMGPU_HD
void add_sums(Sums &to, const Sums &from, SumList<members...> /* list */)
{
  ((to.*members += from.*members), ...);
}

template <class Sums, auto... members>
FEMGPU_HD
void set_sums(Sums &to, const Sums &from, SumList<members...> /* list */)
{
  ((to.*members = from.*members), ...);
}

/// Runs the epilogue of a step, then the work that the epilogue defers (n_epilogue_values). For
/// loops in which only one thread runs epilogues.
template <class Body, class State, class Sums>
FEMGPU_HD
void finish_step(const Body &body, State &state, const Sums &sums)
{
  body.finish(state, sums);
  if constexpr (State::n_epilogue_values > 0)
    if (state.wants_deferred) {
      state.run_deferred();
      state.receive_deferred();
    }
}

/// A function that is called at intervals while a loop runs, with the current state.
template <class State>
using Watch = std::function<void(const State &)>;

/// The minimum time between two calls of a Watch in seconds.
constexpr double watch_interval = 0.5;

template <class Backend, class State, class Sums>
class Iteration;
} // namespace femgpu::linalg

#endif
