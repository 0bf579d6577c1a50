#ifndef femgpu_linalg_steps_steps_h
#define femgpu_linalg_steps_steps_h

#include "linalg/base/host_device.h"

#include <functional>
#include <tuple>
#include <type_traits>

/**
 * @file
 * Fused steps: the unit a solver is written in.
 *
 * A solver's iteration is a short list of steps. A step is a body run once for every row, the sums
 * it contributes to, and possibly an epilogue that is run once when the sums are complete. The body
 * is a plain struct of pointers with
 *
 *     FEMGPU_HD void operator()(const State &, int i, Sums &) const;               // for rows()
 *     FEMGPU_HD void operator()(const State &, int i, double Av_i, Sums &) const;  // for product()
 *     using Contributes = SumList<&Sums::gamma, &Sums::rr>;  // the members of Sums it adds to
 *     using Completes   = SumList<...>;                      // with an epilogue: the sums it reads
 *     FEMGPU_HD void finish(State &, const Sums &) const;    // the epilogue
 *
 * A body that contributes nothing does without Contributes, and one that needs neither state nor
 * sums is called as body(i) or body(i, Av_i), so that it can be run by itself as well. An epilogue
 * without Completes reads what its own step contributes to.
 *
 * State and Sums are the solver's own plain structs; they live in the memory of the executor, so
 * that no step needs the host. Sums holds doubles only, and is shared by the steps of an iteration:
 * an epilogue may read what earlier steps have contributed. Sums are added in an order that
 * is fixed for a number of rows and a device, so that results are bit-identical when repeated.
 *
 * Iteration<Backend, State, Sums> (host/iteration.h, cuda/iteration/iteration.cuh) runs steps.
 * Runner<Backend> (host/runner.h, cuda/runner.cuh) runs those that need neither state nor sums.
 */
namespace femgpu::linalg
{
/// Names members of a struct of sums.
template <auto... members>
struct SumList
{
  static constexpr bool empty = sizeof...(members) == 0;
};

/// What every solver's state begins with.
struct LoopState
{
  bool running = true; ///< the loop goes on; an epilogue sets it to false
  bool inner = false;  ///< the inner loop that comes next, or that runs, goes on
  bool asks = false;   ///< see n_kept

  /**
   * Doubles that epilogues keep in memory; they come before the history. Where there are some, a
   * state has look() and hear(). What takes long is not for epilogues: they ask, then one thread
   * looks, and hears what has come out. Threads that have a copy of the state each run the
   * epilogues side by side; one of them writes that memory, and none looks before the end.
   */
  static constexpr int n_kept = 0;
};

/// The step that runs @p body for rows 0 <= i < n.
template <class Body_>
struct RowStep
{
  using Body = Body_;
  int n;
  Body body;
};

/**
 * The step that runs @p body with (A v)_i for every row i of an operator. Kernels and loops see the
 * operator through its view (visit_view()), which supplies
 *
 *     int n, lanes;                             // rows; neighbouring GPU threads that share one
 *     int row(int position) const;              // the row at a position 0 <= position < n
 *     double row_product(int position, int lane, int lanes, const double *v) const;
 *
 * (A v)_i is the sum of row_product() over the lanes. The host takes one lane.
 */
template <class Operator, class Body_>
struct ProductStep
{
  using Body = Body_;
  const Operator *A;
  double *v; ///< of the operator's domain, with memory for ghosts
  Body body;
};

/**
 * The step that gives each item 0 <= i < n to a team of Body::team_size neighbouring GPU threads,
 * or to one thread of the host. The body is called as body(team, i) and has
 *
 *     static constexpr int team_size = 32;  // 8, a warp, or a block of 128, 256, 512 or 1024
 *     static constexpr int scratch = 0;     // doubles that the team shares
 *
 * A team has rank(), size(), sync(), sum(double), scratch(), and some operations on its shared
 * integers; all its threads must meet in sync(), sum() and sums(), which adds several values at one
 * time; after that they see what the others have written. A team of a GPU is made of n_warps()
 * warps, which have a few sums of their own; one of 8 has neither these nor sums(). Such steps run
 * without a state.
 */
template <class Body_>
struct TeamStep
{
  using Body = Body_;
  int n;
  Body body;
  int scratch = 0; ///< doubles that the team shares, where only the program's run tells how many
};

/// What the items of a chain step tell each other, in the memory of the executor; see Chains.
struct ChainProgress
{
  unsigned int *tickets; ///< items handed out in this run
  unsigned int *run;     ///< number of runs so far
  unsigned int *done;    ///< of each place: the number of the run that announced it last
};

/**
 * The step for items that need results of others. Chain c has the items starts[c] <= i <
 * starts[c + 1]; they begin in this order, one team each, and may run at the same time; the chains
 * run side by side. The body is called as body(team, i) and has team_size = 32 and scratch = 0. Its
 * team also has
 *
 *     wait_for(place)   waits until an earlier item of the chain has announced the place
 *     catch_up()        after all waits, by all threads: what was announced can be read,
 *     fresh(pointer)    but only so
 *     announce(place)   by one thread: what it wrote, or saw after sync(), is there for others
 *
 * Places are numbers of the body's own, each announced once in a run. Such steps run without a
 * state. The host takes one thread a chain, so that nothing waits.
 */
template <class Body>
struct ChainStep
{
  int n_chains;
  int longest; ///< items of a chain
  int n_teams; ///< that can be at work at one time, about: more would only wait
  const int *starts;
  ChainProgress progress;
  Body body;
};

/**
 * Steps that run again and again within one pass of a loop while the state says `inner`; perhaps
 * never. The step before it and its own last step have epilogues, which decide.
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
 * With @p scratch doubles for each team.
 * @throws DeviceError where the device has less; a team that is a block can have most_scratch()
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
 * Runs steps of functors that have neither state nor sums: body(i), body(i, Av_i) or
 * body(team, i). Operators get one to prepare a product inside a solver's loop; Runner<Backend> is
 * what it is.
 */
class StepRunner
{
public:
  /// to[k] = v[rows[k]] for k < @p n.
  virtual void gather(const double *v, const int *rows, int n, double *to) = 0;
  /// v[rows[k]] += from[k] for k < @p n; rows are different.
  virtual void add_to_rows(const double *from, const int *rows, int n, double *v) = 0;

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

/// Runs a body for row i, with (A v)_i in a product.
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

/// Does a step run although an earlier one has ended the loop?
template <class Body, class = void>
struct RunsAlways : std::false_type
{};
template <class Body>
struct RunsAlways<Body, std::void_t<decltype(Body::runs_always)>> : std::true_type
{};

/// The same of a step; of one that has no body, no.
template <class Step, class = void>
struct StepRunsAlways : std::false_type
{};
template <class Step>
struct StepRunsAlways<Step, std::void_t<typename Step::Body>> : RunsAlways<typename Step::Body>
{};

/// Adds the members of @p list of @p from to @p to.
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

/// Runs the epilogue of a step where one thread does it for all.
template <class Body, class State, class Sums>
FEMGPU_HD
void finish_step(const Body &body, State &state, const Sums &sums)
{
  body.finish(state, sums);
  if constexpr (State::n_kept > 0)
    if (state.asks) {
      state.look();
      state.hear();
    }
}

/// Is called now and then while a loop runs, with the state as it is.
template <class State>
using Watch = std::function<void(const State &)>;

/// Seconds between two calls of a Watch.
constexpr double watch_interval = 0.5;

template <class Backend, class State, class Sums>
class Iteration;
} // namespace femgpu::linalg

#endif
