#ifndef femgpu_linalg_base_parallel_h
#define femgpu_linalg_base_parallel_h

#include <algorithm>
#include <atomic>
#include <cstddef>

/**
 * @file
 * Loops on the cores of the host.
 *
 * A thread that calls these functions takes part in its loops. Its first loop starts the other
 * threads, which exist as long as the calling thread. A thread that waits for the next loop, or for
 * the end of a loop, spins for 20 µs and then sleeps, so that other programs can use the cores.
 * With OMP_WAIT_POLICY=passive it sleeps at once, with =active it spins for a second.
 *
 * A nested loop runs on the thread that starts it. An exception thrown by a loop's body ends the
 * work of the throwing thread. It is rethrown in the calling thread when the other threads have
 * finished.
 */
namespace femgpu::linalg
{
/// Returns the default number of threads of the calling thread's loops: the number passed to
/// set_n_loop_threads(), otherwise OMP_NUM_THREADS, otherwise one for each core that the process
/// may use. Within a loop, returns 1.
int n_loop_threads();

/// Sets n_loop_threads() of the calling thread. If @p n differs from the current number, the next
/// loop starts new threads, on the cores that the calling thread may use at that time.
/// @param n at least 1
void set_n_loop_threads(int n);

namespace detail
{
void run_on_threads(int n_threads, void (*call)(const void *task, int thread), const void *task);
}

/// Calls task(thread) for 0 <= thread < n_threads, each on its own thread. Task 0 runs on the
/// calling thread, and so do the tasks for which the system cannot start a thread.
template <class Task>
void on_threads(const int n_threads, const Task &task)
{
  detail::run_on_threads(
      n_threads,
      [](const void *const caller_task, const int thread) {
        (*static_cast<const Task *>(caller_task))(thread);
      },
      &task);
}

/// Divides 0 <= i < n into consecutive ranges first <= i < end, one per thread, and calls
/// f(first, end) for each range.
template <class Index, class F>
void parallel_ranges(const Index n, const F &f, const int n_threads = n_loop_threads())
{
  const Index n_ranges = std::clamp(n, Index(1), static_cast<Index>(n_threads));
  if (n_ranges == 1)
    return f(Index(0), n);
  on_threads(static_cast<int>(n_ranges), [&f, n, n_ranges](const int range) {
    const auto begin_of = [n, n_ranges](const int k) {
      return static_cast<Index>(static_cast<std::size_t>(n) * static_cast<std::size_t>(k) /
                                static_cast<std::size_t>(n_ranges));
    };
    f(begin_of(range), begin_of(range + 1));
  });
}

/// Calls f(i) for 0 <= i < n; each thread processes one range of consecutive i.
template <class Index, class F>
void parallel_for(const Index n, const F &f, const int n_threads = n_loop_threads())
{
  parallel_ranges(
      n,
      [&f](const Index first, const Index end) {
        for (Index i = first; i < end; ++i)
          f(i);
      },
      n_threads);
}

/// Calls f(i, thread) for 0 <= i < n with dynamic scheduling: a thread that has finished @p chunk
/// consecutive i takes the next ones. Two calls with the same number 0 <= thread < n_threads never
/// run at the same time.
template <class Index, class F>
void parallel_for_dynamic(const Index n, const Index chunk, const F &f,
                          const int n_threads = n_loop_threads())
{
  std::atomic<std::size_t> next{0};
  const auto size = static_cast<std::size_t>(n), step = static_cast<std::size_t>(chunk);
  const std::size_t n_chunks = (size + step - 1) / step;
  on_threads(static_cast<int>(std::min(n_chunks, static_cast<std::size_t>(n_threads))),
             [&f, &next, size, step](const int thread) {
               for (;;) {
                 const std::size_t first = next.fetch_add(step, std::memory_order_relaxed);
                 for (std::size_t i = first; i < std::min(first + step, size); ++i)
                   f(static_cast<Index>(i), thread);
                 if (first + step >= size)
                   return;
               }
             });
}
} // namespace femgpu::linalg

#endif
