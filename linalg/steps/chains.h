#ifndef femgpu_linalg_steps_chains_h
#define femgpu_linalg_steps_chains_h

#include "linalg/base/error.h"
#include "linalg/memory/buffer.h"
#include "linalg/steps/steps.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * The chains of a ChainStep (steps.h), that is, sequences of items such as rows, and the counters
 * by which items wait for each other, in the memory of an executor. Several steps can use one
 * object, one after the other.
 */
class Chains
{
public:
  Chains() = default;

  /**
   * @param starts first item of each chain, then the total number of items
   * @param n_items number of results that items publish
   * @throws SolverError if the number of chains times the longest chain exceeds the range of int
   */
  Chains(const ExecutorPtr &executor, const std::vector<int> &starts, const int n_items)
      : n_chains(static_cast<int>(starts.size()) - 1),
        starts(executor, starts.data(), starts.size()), counters(executor, 2),
        done(executor, static_cast<std::size_t>(n_items))
  {
    for (int chain = 0; chain < n_chains; ++chain)
      longest = std::max(longest, starts[chain + 1] - starts[chain]);
    // Every chain has as many tickets (ChainProgress) as the longest chain has items.
    if (static_cast<double>(longest) * n_chains > std::numeric_limits<int>::max())
      throw SolverError(std::to_string(n_chains) + " blocks, the largest of which has " +
                        std::to_string(longest) +
                        " rows, exceed the range of the indices. Use blocks of more equal size.");
    counters.fill_zero();
    done.fill_zero();
  }

  /// Returns a step that runs @p body for all items.
  /// @param n_teams approximate number of items that can run at the same time
  template <class Body>
  ChainStep<Body> step(const Body &body, const int n_teams)
  {
    return {n_chains,
            longest,
            n_teams,
            starts.data(),
            {counters.data(), counters.data() + 1, done.data()},
            body};
  }

private:
  int n_chains = 0, longest = 0;
  Buffer<int> starts;
  Buffer<unsigned int> counters; // number of tickets handed out, and number of runs
  // For each result, the last run that published it. Run numbers are only compared for equality,
  // and each run publishes all results, so that the number of runs may wrap around at 2^32.
  Buffer<unsigned int> done;
};
} // namespace femgpu::linalg

#endif
