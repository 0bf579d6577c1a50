#include "linalg/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{
using namespace femgpu::linalg;

/// How often the loop body was called for each index 0 <= i < n.
using Visits = std::vector<std::atomic<int>>;

void expect_one_each(const Visits &visits)
{
  for (std::size_t i = 0; i < visits.size(); ++i)
    ASSERT_EQ(visits[i], 1) << i;
}

TEST(Parallel, EveryIndexIsVisitedOnceForAnyNumberOfThreads)
{
  for (const int n : {0, 1, 2, 31, 32, 33, 100007})
    for (const int n_threads : {1, 2, 3, 8, 33}) {
      Visits of_for(n), of_dynamic(n), of_ranges(n);
      parallel_for(
          n, [&](const int i) { ++of_for[i]; }, n_threads);
      parallel_for_dynamic(
          n, 7, [&](const int i, int /* thread */) { ++of_dynamic[i]; }, n_threads);
      parallel_ranges(
          n,
          [&](const int first, const int end) {
            for (int i = first; i < end; ++i)
              ++of_ranges[i];
          },
          n_threads);
      expect_one_each(of_for);
      expect_one_each(of_dynamic);
      expect_one_each(of_ranges);
    }
}

TEST(Parallel, LoopsOfMoreThanFourBillionKeepTheirIndices)
{
  const std::size_t n = (std::size_t(1) << 33) + 5;
  std::vector<std::size_t> ends(3);
  parallel_ranges(
      n,
      [&](const std::size_t first, const std::size_t end) {
        ends[first == 0 ? 0 : end == n ? 2 : 1] = end;
      },
      3);
  EXPECT_EQ(ends, (std::vector<std::size_t>{n / 3, 2 * n / 3, n}));
}

TEST(Parallel, EachThreadHasItsOwnNumber)
{
  constexpr int n_threads = 4;
  std::vector<std::atomic<int>> users(n_threads);
  std::atomic<bool> was_shared{false};
  parallel_for_dynamic(
      10000, 3,
      [&](int /* i */, const int thread) {
        if (users.at(thread).fetch_add(1) > 0)
          was_shared = true;
        users[thread].fetch_sub(1);
      },
      n_threads);
  EXPECT_FALSE(was_shared);
}

TEST(Parallel, LoopsWithinALoopRunOnTheirCaller)
{
  std::vector<std::set<std::thread::id>> of_inner(4);
  std::vector<std::thread::id> of_outer(4);
  std::vector<int> n_threads(4);
  on_threads(4, [&](const int k) {
    of_outer[k] = std::this_thread::get_id();
    n_threads[k] = n_loop_threads();
    on_threads(3, [&](int /* thread */) { of_inner[k].insert(std::this_thread::get_id()); });
  });
  for (int k = 0; k < 4; ++k)
    EXPECT_EQ(of_inner[k], std::set<std::thread::id>{of_outer[k]});
  EXPECT_EQ(n_threads, std::vector<int>(4, 1));
  EXPECT_EQ((std::set<std::thread::id>(of_outer.begin(), of_outer.end())).size(), 4U);
}

TEST(Parallel, ExceptionReachesTheCallerAfterTheOthersAreDone)
{
  for (const int thrower : {0, 1, 3}) {
    std::atomic<int> n_done{0};
    try {
      on_threads(4, [&](const int thread) {
        if (thread == thrower)
          throw std::runtime_error("of thread " + std::to_string(thread));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++n_done;
      });
      ADD_FAILURE() << "nothing was thrown";
    }
    catch (const std::runtime_error &error) {
      EXPECT_EQ(error.what(), "of thread " + std::to_string(thrower));
    }
    EXPECT_EQ(n_done, 3);
    EXPECT_EQ(n_loop_threads(), n_loop_threads());
  }
  std::atomic<int> n_done{0}; // checks that the threads still work
  on_threads(4, [&](int /* thread */) { ++n_done; });
  EXPECT_EQ(n_done, 4);
}

TEST(Parallel, CallersHaveThreadsOfTheirOwn)
{
  std::vector<long long> sums(4);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&sums, caller] {
      set_n_loop_threads(caller + 1);
      EXPECT_EQ(n_loop_threads(), caller + 1);
      for (int loop = 0; loop < 200; ++loop) {
        std::vector<int> values(1000);
        parallel_for(1000, [&](const int i) { values[i] = i + caller; });
        sums[caller] += std::accumulate(values.begin(), values.end(), 0LL);
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  for (int caller = 0; caller < 4; ++caller)
    EXPECT_EQ(sums[caller], 200LL * (499500 + 1000 * caller));
}

TEST(Parallel, ThreadsThatWaitTakeNoTime)
{
  on_threads(2, [](int /* thread */) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(10)); // by then the threads sleep
  const auto before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(double(std::clock() - before) / CLOCKS_PER_SEC, 0.05);
}

TEST(Parallel, SleepingThreadsWakeForEveryLoop)
{
  std::atomic<int> n_calls{0};
  for (int loop = 0; loop < 300; ++loop) {
    on_threads(3, [&](int /* thread */) { ++n_calls; });
    if (loop % 3 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(loop)); // about as long as threads spin
  }
  EXPECT_EQ(n_calls, 900);
}
} // namespace
