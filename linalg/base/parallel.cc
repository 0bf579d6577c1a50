#include "linalg/base/parallel.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
namespace
{
using Clock = std::chrono::steady_clock;

std::string environment(const char *const name)
{
  const char *const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns how long a thread spins before it sleeps.
Clock::duration spin_time()
{
  static const Clock::duration time = [] {
    const std::string policy = environment("OMP_WAIT_POLICY");
    if (policy == "passive" || policy == "PASSIVE")
      return Clock::duration::zero();
    if (policy == "active" || policy == "ACTIVE")
      return Clock::duration(std::chrono::seconds(1));
    return Clock::duration(std::chrono::microseconds(20));
  }();
  return time;
}

/// Returns the first number of the list OMP_NUM_THREADS if it is set, otherwise the number of cores
/// that the process may use.
int default_n_threads()
{
  static const int n = [] {
    const int n_requested =
        std::atoi(environment("OMP_NUM_THREADS").c_str()); // NOLINT(cert-err34-c)
    if (n_requested > 0)
      return n_requested;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (sched_getaffinity(0, sizeof(cores), &cores) == 0)
      return std::max(CPU_COUNT(&cores), 1);
    return static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
  }();
  return n;
}

void pause_core()
{
#ifdef __x86_64__
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Lets threads wait for a change of shared data; they spin first, then sleep.
class WaitableEvent
{
public:
  /// Returns when @p has_occurred() is true.
  template <class Condition>
  void wait(const Condition &has_occurred)
  {
    if (occurs_while_spinning(has_occurred))
      return;
    ++n_sleeping; // before the test below; notify_all() reads n_sleeping after the change
    for (;;) {
      const std::uint32_t seen = n_notifications.load();
      if (has_occurred())
        break;
      // Returns at once if n_notifications has changed since it was read.
      ::syscall(SYS_futex, &n_notifications, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
    }
    --n_sleeping;
  }

  /// Wakes up the waiting threads. Call it after the change of the shared data, which must be
  /// sequentially consistent.
  void notify_all()
  {
    if (n_sleeping.load() == 0)
      return;
    ++n_notifications;
    ::syscall(SYS_futex, &n_notifications, FUTEX_WAKE_PRIVATE, std::numeric_limits<int>::max(),
              nullptr, nullptr, 0);
  }

private:
  template <class Condition>
  static bool occurs_while_spinning(const Condition &has_occurred)
  {
    constexpr int polls_per_clock_read = 32;
    const Clock::time_point begin = Clock::now();
    do
      for (int poll = 0; poll < polls_per_clock_read; ++poll) {
        if (has_occurred())
          return true;
        pause_core();
      }
    while (Clock::now() - begin < spin_time());
    return false;
  }

  std::atomic<std::uint32_t> n_notifications{0}; ///< the futex of sleeping threads
  std::atomic<int> n_sleeping{0};
};

/// Whether the calling thread is within a loop.
thread_local bool is_in_loop = false;

/// The worker threads of one calling thread's loops.
class Team
{
public:
  Team() = default;
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;
  ~Team()
  {
    publish(stop_request);
    for (const auto &worker : workers)
      worker->thread.join();
  }

  void run(const int n_threads, void (*const call)(const void *, int), const void *const task)
  {
    grow(n_threads - 1);
    const int n_running = std::min(n_threads, static_cast<int>(workers.size()) + 1);
    loop = {call, task};
    n_busy.store(n_running - 1);
    publish(n_running);
    is_in_loop = true;
    for (int k = 0; k < n_threads; k = k == 0 ? n_running : k + 1)
      run_one(k);
    is_in_loop = false;
    end.wait([this] { return n_busy.load() == 0; });
    if (error)
      std::rethrow_exception(std::exchange(error, nullptr));
  }

private:
  struct Loop
  {
    void (*call)(const void *task, int thread) = nullptr;
    const void *task = nullptr;
  };
  struct alignas(64) Worker
  {
    std::thread thread;
    WaitableEvent begin;
  };

  static constexpr std::uint64_t stop_request = 0xffffffffU;

  /// Starts workers until there are @p n_workers, or as many as the system allows.
  void grow(const int n_workers)
  {
    try {
      while (static_cast<int>(workers.size()) < n_workers) {
        auto worker = std::make_unique<Worker>();
        worker->thread = std::thread([this, begin = &worker->begin,
                                      thread = static_cast<int>(workers.size()) + 1,
                                      seen = published.load()] { work(thread, *begin, seen); });
        workers.push_back(std::move(worker));
      }
    }
    catch (const std::system_error &) {
    }
  }

  /// Publishes a loop for @p n_running threads. One atomic stores both the loop's number and its
  /// number of threads, so that a thread that is not needed does not read `loop`, which may already
  /// describe the next loop.
  void publish(const std::uint64_t n_running)
  {
    const std::uint64_t number = (published.load() >> 32) + 1;
    published.store(number << 32 | n_running);
    for (std::size_t k = 0; k < workers.size() && k + 1 < n_running; ++k)
      workers[k]->begin.notify_all();
  }

  void work(const int thread, WaitableEvent &begin, std::uint64_t seen)
  {
    is_in_loop = true;
    for (;;) {
      std::uint64_t now = seen;
      begin.wait([&] {
        now = published.load();
        return now != seen && static_cast<std::uint64_t>(thread) < (now & 0xffffffffU);
      });
      seen = now;
      if ((seen & 0xffffffffU) == stop_request)
        return;
      run_one(thread);
      if (n_busy.fetch_sub(1) == 1)
        end.notify_all();
    }
  }

  void run_one(const int thread) noexcept
  {
    try {
      loop.call(loop.task, thread);
    }
    catch (...) {
      const std::lock_guard<std::mutex> lock(error_mutex);
      if (!error)
        error = std::current_exception();
    }
  }

  // `published` and `n_busy` are on separate cache lines, because threads that poll one of them
  // would slow down threads that change the other.
  alignas(64) std::atomic<std::uint64_t> published{0}; ///< high 32 bits: number of the loop;
                                                       ///< low 32 bits: number of its threads
  Loop loop;
  std::vector<std::unique_ptr<Worker>> workers;
  alignas(64) std::atomic<int> n_busy{0}; ///< number of workers that have not finished the loop
  WaitableEvent end;
  std::mutex error_mutex;
  std::exception_ptr error;
};

/// A calling thread's workers, and the number of threads of its loops.
struct Caller
{
  int n_threads = default_n_threads();
  std::unique_ptr<Team> team;
};

thread_local Caller caller;
} // namespace

int n_loop_threads()
{
  return is_in_loop ? 1 : caller.n_threads;
}

void set_n_loop_threads(const int n)
{
  if (n == caller.n_threads)
    return;
  caller.n_threads = n;
  caller.team.reset();
}

void detail::run_on_threads(const int n_threads, void (*const call)(const void *task, int thread),
                            const void *const task)
{
  if (n_threads <= 1 || is_in_loop) {
    for (int thread = 0; thread < n_threads; ++thread)
      call(task, thread);
    return;
  }
  if (!caller.team)
    caller.team = std::make_unique<Team>();
  caller.team->run(n_threads, call, task);
}
} // namespace femgpu::linalg
