#ifndef femgpu_tests_linalg_chain_checks_h
#define femgpu_tests_linalg_chain_checks_h

#include "linalg/execution/this_backend.h"
#include "linalg/steps/chains.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

/**
 * @file
 * Checks, for any backend, that a step over chains (linalg/steps/chains.h) runs its body for an
 * item, such as a row, only after the earlier items of the same chain on which this item depends.
 */
namespace femgpu::linalg::test
{
/// The body of a kernel step that computes v_i = (v_{i−1} + 3 v_{i−7} + i) mod 1009 within each
/// chain.
struct Recurrence
{
  static constexpr int team_size = 32, scratch = 0;
  const int *first; ///< for each item, the first item of its chain
  int *v;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int i) const
  {
    const int one = i - 1 >= first[i] ? i - 1 : -1, seven = i - 7 >= first[i] ? i - 7 : -1;
    if (one >= 0)
      team.wait_for(one);
    if (seven >= 0)
      team.wait_for(seven);
    team.acquire_fence();
    if (team.rank() == 0) {
      v[i] = next(i, one < 0 ? 0 : team.load_published(v + one),
                  seven < 0 ? 0 : team.load_published(v + seven));
      team.publish(i);
    }
  }

  FEMGPU_HD
  static int next(const int i, const int one, const int seven)
  {
    return (one + 3 * seven + i) % 1009;
  }
};

template <class Backend>
void check_items_wait_for_those_before(const ExecutorPtr &executor)
{
  const std::vector<std::vector<int>> all_starts = {
      {0, 0}, {0, 1}, {0, 33}, {0, 31, 63, 96}, {0, 0, 5, 1000, 1000, 5007}, {0, 20011}};
  for (const std::vector<int> &starts : all_starts) {
    SCOPED_TRACE(std::to_string(starts.size() - 1) + " chains with " +
                 std::to_string(starts.back()) + " items");
    const int n = starts.back();
    std::vector<int> first(static_cast<std::size_t>(n)), expected = first;
    for (std::size_t chain = 0; chain + 1 < starts.size(); ++chain)
      for (int i = starts[chain]; i < starts[chain + 1]; ++i) {
        first[i] = starts[chain];
        expected[i] = Recurrence::next(i, i - 1 >= first[i] ? expected[i - 1] : 0,
                                       i - 7 >= first[i] ? expected[i - 7] : 0);
      }
    const Buffer<int> device_first(executor, first.data(), first.size());
    Buffer<int> v(executor, first.size());
    Chains chains(executor, starts, n);
    for (int run = 0; run < 5; ++run) {
      v.fill_zero();
      Runner<Backend>(*executor).run(chains.step(Recurrence{device_first.data(), v.data()}, n));
      EXPECT_EQ(v.to_host(), expected) << "run " << run;
    }
  }
}
} // namespace femgpu::linalg::test

#endif
