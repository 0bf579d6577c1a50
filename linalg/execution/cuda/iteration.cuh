#ifndef femgpu_linalg_execution_cuda_iteration_cuh
#define femgpu_linalg_execution_cuda_iteration_cuh

#include "linalg/execution/cuda/graph.cuh"
#include "linalg/execution/cuda/lanes.cuh"
#include "linalg/execution/cuda/on_chip/basis.cuh"
#include "linalg/execution/cuda/step_kernel.cuh"
#include "linalg/execution/steps/execution.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace femgpu::linalg
{
/**
 * Runs steps on a CUDA device. A loop is one launch: of a graph, a conditional WHILE node whose
 * body holds the steps several times (after the iteration that ends the loop the rest of the body
 * does nothing); or of a resident kernel, where all are vector steps and the system is small
 * enough.
 */
template <class State, class Sums>
class Iteration<CudaBackend, State, Sums>
{
public:
  /// @param space has as many rows as a step, or more
  explicit Iteration(const RowSpace &space)
      : executor(static_cast<const CudaExecutor &>(*space.executor())), n(space.n()),
        state(space.executor(), 1)
  {}

  /// @throws ParameterError in repeat_between() if the loop cannot be run as @p how asks
  void choose(const Execution how)
  {
    chosen = how;
  }
  /// How the last loop ran, for people.
  const std::string &execution() const
  {
    return ran_as;
  }

  /// Memory for @p size numbers that epilogues leave, one for each iteration.
  double *keep_history(const int size)
  {
    history_buffer = Buffer<double>(executor.shared_from_this(), static_cast<std::size_t>(size));
    return history_buffer.data();
  }
  /// The first @p count of them, after get_state().
  std::vector<double> history(const int count) const
  {
    const auto size = static_cast<std::size_t>(count);
    if (!has_result() || size > most_history())
      return history_buffer.to_host(size);
    return {result()->history(), result()->history() + size};
  }

  void set_state(const State &s)
  {
    next_state = s;
    is_state_new = true;
    mail = 0;
  }
  State get_state()
  {
    send_state();
    if (has_result()) {
      executor.synchronize();
      return result()->state;
    }
    State s;
    state.copy_to_host(&s);
    return s;
  }

  template <class... Steps>
  void once(const Steps &...steps)
  {
    send_state();
    prepare_meetings();
    const int blocks = n_blocks(steps...);
    (run({executor.stream(), blocks, {}}, steps), ...);
  }

  /// Gives the loop to the device; get_state() waits for its end.
  template <class... Steps>
  void repeat(const Watch<State> &watch, const Steps &...steps)
  {
    send_state();
    prepare_meetings(); // while nothing is captured
    if (executor.launches_stepwise()) {
      repeat_stepwise(watch, steps...);
      return;
    }
    graph = std::make_unique<cuda::Graph>();
    capture_loop(*graph, steps...);
    FEMGPU_CUDA(cudaGraphInstantiate(&graph->executable, graph->graph, 0));
    FEMGPU_CUDA(cudaGraphLaunch(graph->executable, executor.stream()));
    ran_as = "graph";
    watch_stream(watch);
  }

  /// The same between two products with one matrix and one vector. @p has_begun: the first of them
  /// has been run.
  template <class Begin, class End, class... Steps>
  void repeat_between(const ProductStep<CsrMatrix, Begin> &begin,
                      const ProductStep<CsrMatrix, End> &end, const bool has_begun,
                      const Watch<State> &watch, const Steps &...steps)
  {
    if (watch)
      send_state(); // for those who look before the loop has left one
    if (chosen != Execution::graph && launch_resident(begin, end, has_begun, steps...)) {
      watch_stream(watch);
      return;
    }
    if (!has_begun)
      once(begin);
    if (chosen == Execution::graph || !launch_streaming(watch, steps...)) {
      if (chosen == Execution::resident)
        refuse_resident(n);
      repeat(watch, steps...);
    }
    once(end);
  }

  /// Gives a loop with a basis to the device, as one kernel. @return whether that can be
  template <class Method>
  bool keep_on_chip(const Matrix &A, const Watch<State> &watch, const Method &method)
  {
    if (chosen == Execution::graph || A.value_precision() != A.csr().value_precision())
      return false;
    if (watch)
      send_state(); // for those who look before the loop has left one
    cuda::BasisLoop<Method, State> loop{
        {},         method,       A.csr().csr_view(), executor.grid_memory(),          nullptr,
        next_state, state.data(), result(),           static_cast<int>(most_history())};
    const std::string shape = cuda::launch_basis<Sums>(
        executor, loop, {A.n(), A.n_nonzeros(), A.csr().longest_row(), method.size + 1}, packets);
    if (!shape.empty())
      note_resident(shape);
    watch_stream(watch);
    return !shape.empty();
  }

private:
  /// Launches every step from here, and looks at the state after each pass.
  template <class... Steps>
  void repeat_stepwise(const Watch<State> &watch, const Steps &...steps)
  {
    const int blocks = n_blocks(steps...);
    State now = get_state();
    while (now.running) {
      (run_stepwise(blocks, steps), ...);
      now = get_state();
      if (watch)
        watch(now);
    }
    ran_as = "single kernels";
  }

  template <class Step>
  void run_stepwise(const int blocks, const Step &step)
  {
    run({executor.stream(), blocks, {}}, step);
  }
  template <class... Steps>
  void run_stepwise(const int blocks, const InnerLoop<Steps...> &loop)
  {
    for (State now = get_state(); now.running && now.inner; now = get_state())
      std::apply([&](const auto &...steps) { (run_stepwise(blocks, steps), ...); }, loop.steps);
  }

  void note_resident(const std::string &shape)
  {
    is_state_new = false;
    mail = executor.claim_mailbox();
    ran_as = "resident: " + shape;
  }

  // The steps of an iteration, in the graph's body this often: evaluating the WHILE costs some
  // microseconds, running past the end of a solve costs one microsecond a kernel.
  static constexpr int unrolled = 8;

  static constexpr int blocks_per_multiprocessor = 2048 / cuda::threads_per_block;

  int max_blocks() const
  {
    return executor.n_multiprocessors() * blocks_per_multiprocessor;
  }

  // Steps that share sums have the same places for them.
  template <class... Steps>
  int n_blocks(const Steps &...steps) const
  {
    const long long threads = static_cast<long long>(n) * std::max({cuda::Lanes::of(steps)...});
    const long long blocks = (threads + cuda::threads_per_block - 1) / cuda::threads_per_block;
    return static_cast<int>(std::clamp(blocks, 1LL, static_cast<long long>(max_blocks())));
  }

  /// Where and how a step is launched.
  struct Launch
  {
    cudaStream_t stream;
    int blocks; // at most
    cuda::Decision decision;
  };

  template <class Body>
  void run(const Launch &how, const RowStep<Body> &step)
  {
    launch(how, step);
  }

  template <class Operator, class Body>
  void run(const Launch &how, const ProductStep<Operator, Body> &step)
  {
    Runner<CudaBackend> runner = runner_for<Body>(how);
    const double *const v = prepare_product(*step.A, runner, step.v);
    cuda::visit_product(step, v, [&](const auto &kernel_step) { launch(how, kernel_step); });
  }

  template <class Body>
  void run(const Launch &how, const GramStep<Body> &step)
  {
    cuda::launch_gram(step, executor.n_multiprocessors(), how.stream, state.data());
  }

  template <class Body>
  void run(const Launch &how, const TeamStep<Body> &step)
  {
    runner_for<Body>(how).run(step);
  }

  /// For what belongs to a step without a state of its own.
  template <class Body>
  Runner<CudaBackend> runner_for(const Launch &how) const
  {
    return {executor, how.stream, RunsAlways<Body>::value ? nullptr : state.data()};
  }

  template <class Make>
  void run(const Launch &how, const CountedSteps<Make> &steps)
  {
    for (int j = 0; j < steps.count; ++j)
      std::apply([&](const auto &...of_j) { (run(how, of_j), ...); }, steps.make(j));
  }

  // The one place that launches the kernel of a step with state.
  template <class Step>
  void launch(const Launch &how, const Step &step)
  {
    const auto n_places = static_cast<unsigned int>(how.blocks);
    const cuda::Workspace<State, Sums> work{state.data(), partials.data(), n_places, arrived.data(),
                                            how.decision};
    const int blocks = std::min(how.blocks, executor.n_multiprocessors() * blocks_at_once<Step>());
    cuda::run_step<<<blocks, cuda::threads_per_block, 0, how.stream>>>(step, work);
    FEMGPU_CUDA(cudaGetLastError());
  }

  /// Of a multiprocessor: a block that had to wait for a place would be alone with its rows.
  template <class Step>
  static int blocks_at_once()
  {
    static const int blocks = [] {
      constexpr auto kernel = cuda::run_step<Step, State, Sums>;
      // Rows of CSR are read by threads with a stride: all that is not shared memory should be L1.
      FEMGPU_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                       cudaSharedmemCarveoutMaxL1));
      int at_once = 0;
      FEMGPU_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel,
                                                                cuda::threads_per_block, 0));
      return std::max(at_once, 1);
    }();
    return blocks;
  }

  template <class... Steps>
  void capture_loop(cuda::Graph &of_loop, const Steps &...steps)
  {
    cuda::LoopNode loop(of_loop.graph, {}, cuda::make_handle(of_loop.graph, 1));
    // The watch stream has nothing to do before the graph is launched.
    const cudaStream_t stream = executor.watch_stream();
    cuda::begin_capture(stream, loop.body);
    const int blocks = n_blocks(steps...);
    constexpr int times = (IsCountedSteps<Steps>::value || ...) ? 1 : unrolled;
    for (int repetition = 1; repetition <= times; ++repetition)
      capture({stream, blocks, {loop.handle, cuda::Decides::loop}}, repetition == times, steps...);
    FEMGPU_CUDA(cudaStreamEndCapture(stream, &loop.body));
  }

  /// Captures steps one after the other; if @p is_last, the last of them decides as @p how says.
  template <class Step, class... Rest>
  void capture(const Launch &how, const bool is_last, const Step &step, const Rest &...rest)
  {
    static_assert(sizeof...(Rest) > 0 || cuda::can_decide<Step>, "the last step of a loop ends it");
    if constexpr (IsInnerLoop<Step>::value)
      capture_inner(how, step);
    else if constexpr (comes_before_inner_loop<Rest...>()) {
      static_assert(HasEpilogue<decltype(step.body)>::value, "must decide on the inner loop");
      inner_handle = cuda::make_handle(cuda::captured_graph(how.stream).graph, 0);
      run({how.stream, how.blocks, {inner_handle, cuda::Decides::inner_loop}}, step);
    }
    else
      run({how.stream, how.blocks,
           is_last && sizeof...(Rest) == 0 ? how.decision : cuda::Decision()},
          step);
    if constexpr (sizeof...(Rest) > 0)
      capture(how, is_last, rest...);
  }

  template <class First = void, class... Rest>
  static constexpr bool comes_before_inner_loop()
  {
    return IsInnerLoop<First>::value;
  }

  /// Adds a WHILE node to what @p how.stream captures.
  template <class... Steps>
  void capture_inner(const Launch &how, const InnerLoop<Steps...> &inner)
  {
    const auto captured = cuda::captured_graph(how.stream);
    cuda::LoopNode loop(captured.graph, captured.last_nodes, inner_handle);
    cuda::set_last_node(how.stream, loop.node);
    const cudaStream_t stream = executor.stream(); // has nothing to do either
    cuda::begin_capture(stream, loop.body);
    std::apply(
        [&](const auto &...steps) {
          capture({stream, how.blocks, {inner_handle, cuda::Decides::inner_loop}}, true, steps...);
        },
        inner.steps);
    FEMGPU_CUDA(cudaStreamEndCapture(stream, &loop.body));
  }

  /// Gives a new state to the device. Nobody waits: the call has copied it when it returns.
  void send_state()
  {
    if (!is_state_new)
      return;
    FEMGPU_CUDA(cudaMemcpyAsync(state.data(), &next_state, sizeof(State), cudaMemcpyHostToDevice,
                                executor.stream()));
    is_state_new = false;
  }

  template <class... Steps>
  static constexpr bool are_vector_steps = (IsVectorStep<Steps>::value && ...);

  /// Launches all as one resident kernel if the steps allow it and the system is small enough.
  template <class Begin, class End, class First, class... Rest>
  bool launch_resident(const ProductStep<CsrMatrix, Begin> &begin,
                       const ProductStep<CsrMatrix, End> &end, const bool has_begun,
                       const First &first, const Rest &...rest)
  {
    if constexpr (are_vector_steps<First, Rest...>) {
      const Matrix *const A = cuda::matrix_of(first, rest...);
      if (A == nullptr || begin.A != &A->csr() || end.A != begin.A || end.v != begin.v)
        return false;
      constexpr int n_vectors = First::Body::size;
      const ResidentLimits limits = executor.resident_limits();
      const auto shape = resident_shape(*A, n_vectors, limits);
      if (!shape)
        return false;
      using Loop = cuda::ResidentLoop<n_vectors, State, Begin, End>;
      const cuda::LoopLauncher<Sums, Loop, typename cuda::VectorStepParts<First>::Tag,
                               typename cuda::VectorStepParts<Rest>::Tag...>
          launcher(executor.stream(), limits);
      if (has_begun)
        send_state();
      Loop loop{{},
                first.body.vectors,
                first.body.m,
                A->csr().csr_view(),
                executor.grid_memory(),
                begin.v,
                begin.body,
                end.body,
                has_begun,
                next_state,
                state.data(),
                result(),
                static_cast<int>(most_history())};
      if (!launcher.launch(loop, *shape))
        return false;
      note_resident(shape->description());
      return true;
    }
    return false;
  }

  static std::optional<ResidentShape> resident_shape(const Matrix &A, const int n_vectors,
                                                     const ResidentLimits &limits)
  {
    if (A.value_precision() != A.csr().value_precision() || !may_be_resident(A.n(), limits))
      return {};
    return choose_resident_shape({A.n(), A.n_nonzeros(), A.csr().longest_row(), n_vectors}, limits);
  }

  /// Launches the loop as a streaming kernel if rows of A are read side by side.
  template <class First, class... Rest>
  bool launch_streaming(const Watch<State> &watch, const First &first, const Rest &...rest)
  {
    if constexpr (are_vector_steps<First, Rest...>) {
      const Matrix *const A = cuda::matrix_of(first, rest...);
      const ResidentLimits limits = executor.resident_limits();
      if (A == nullptr || !is_worth_streaming(A->n(), A->rows_together(), limits))
        return false;
      // Two threads a long row: a block has few rows more than threads, and all end together.
      const int lanes = A->n_nonzeros() > 16 * static_cast<std::size_t>(A->n()) ? 2 : 1;
      const auto launch_view = [&](const auto &view) {
        using View = std::decay_t<decltype(view)>;
        if constexpr (IsSliced<View>::value)
          cuda::launch_streaming<Sums, typename cuda::VectorStepParts<First>::Tag,
                                 typename cuda::VectorStepParts<Rest>::Tag...>(
              executor.stream(), limits, view, A->rows_together(), lanes, first.body.vectors,
              first.body.m, state.data(), executor.grid_memory());
        return IsSliced<View>::value;
      };
      if (!std::visit(launch_view, A->view()))
        return false;
      ran_as = "resident: vectors in shared memory, as far as they fit; matrix streamed";
      watch_stream(watch);
      return true;
    }
    return false;
  }

  /// Memory where the blocks of a step meet; resident loops have their own.
  void prepare_meetings()
  {
    if (arrived.size() > 0)
      return;
    const ExecutorPtr owner = executor.shared_from_this();
    partials = Buffer<Sums>(owner, static_cast<std::size_t>(max_blocks()));
    arrived = Buffer<unsigned int>(owner, 1);
    partials.fill_zero();
    arrived.fill_zero();
  }

  // What a resident loop leaves for the host. Another loop may have left its own there since.
  using Result = cuda::LoopResult<State>;
  Result *result() const
  {
    return static_cast<Result *>(executor.mailbox());
  }
  bool has_result() const
  {
    return mail != 0 && mail == executor.last_mail();
  }
  static constexpr std::size_t most_history()
  {
    return (CudaExecutor::mailbox_bytes - sizeof(Result)) / sizeof(double);
  }

  // Shows the state now and then until the work stream is done; without a watch nobody waits.
  void watch_stream(const Watch<State> &watch)
  {
    if (!watch)
      return;
    using clock = std::chrono::steady_clock;
    auto last = clock::now();
    while (cudaStreamQuery(executor.stream()) == cudaErrorNotReady) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (std::chrono::duration<double>(clock::now() - last).count() < watch_interval)
        continue;
      State now;
      FEMGPU_CUDA(cudaMemcpyAsync(&now, state.data(), sizeof(State), cudaMemcpyDeviceToHost,
                                  executor.watch_stream()));
      FEMGPU_CUDA(cudaStreamSynchronize(executor.watch_stream()));
      watch(now);
      last = clock::now();
    }
  }

  const CudaExecutor &executor;
  int n;
  Buffer<State> state;
  State next_state{}; // that the device may not have yet
  bool is_state_new = false;
  Buffer<double> history_buffer;
  unsigned long long mail = 0; // number of the result in the mailbox; 0: none
  Buffer<Sums> partials;
  Buffer<unsigned int> arrived;       // number of blocks of a step
  Buffer<cuda::Packet> packets;       // of the blocks of a loop with a basis
  std::unique_ptr<cuda::Graph> graph; // that may still run
  Execution chosen = Execution::automatic;
  std::string ran_as;
  cudaGraphConditionalHandle inner_handle = 0; // of the inner loop that is captured next
};
} // namespace femgpu::linalg

#endif
