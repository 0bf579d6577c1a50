#include "tests/linalg/thread_ranks.h"

#include "linalg/execution/make_executor.h"
#include "linalg/linear_solver.h"
#include "linalg/solvers/registry.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace femgpu::linalg::test
{
namespace
{
/// A barrier for threads. If one thread fails, the barrier releases the others with an exception.
class Barrier
{
public:
  explicit Barrier(const int n_threads) : n_threads(n_threads)
  {}

  void wait()
  {
    std::unique_lock lock(mutex);
    const long long now = generation;
    if (++n_waiting == n_threads) {
      n_waiting = 0;
      ++generation;
      all_arrived.notify_all();
    }
    else
      all_arrived.wait(lock, [&] { return generation != now || is_broken; });
    if (is_broken)
      throw std::runtime_error("another part has failed");
  }
  void break_barrier()
  {
    const std::lock_guard lock(mutex);
    is_broken = true;
    all_arrived.notify_all();
  }

private:
  int n_threads, n_waiting = 0;
  long long generation = 0;
  bool is_broken = false;
  std::mutex mutex;
  std::condition_variable all_arrived;
};

/// The pointers that the ranks exchange between two barriers.
struct Shared
{
  explicit Shared(const int n_ranks)
      : barrier(n_ranks), gathered(static_cast<std::size_t>(n_ranks)), sent(gathered.size()),
        counts(gathered.size()), ghosts(gathered.size())
  {}

  Barrier barrier;
  std::vector<const void *> gathered;
  std::vector<const void *> sent;
  std::vector<const ExchangeCounts *> counts;
  std::vector<const std::vector<long long> *> ghosts;
};

class ThreadCommunicator final : public Communicator
{
public:
  ThreadCommunicator(Shared &shared, const int rank) : shared(shared), own(rank)
  {}

  std::string name() const override
  {
    return "threads";
  }
  int n_ranks() const override
  {
    return static_cast<int>(shared.sent.size());
  }
  int rank() const override
  {
    return own;
  }

  void do_gather(const void *mine, const std::size_t bytes, void *all) const override
  {
    shared.gathered[static_cast<std::size_t>(own)] = mine;
    shared.barrier.wait();
    auto *to = static_cast<char *>(all);
    for (const void *const of_rank : shared.gathered)
      to = std::copy_n(static_cast<const char *>(of_rank), bytes, to);
    shared.barrier.wait();
  }

  GhostPlan do_plan(std::vector<long long> ghosts,
                    const std::vector<long long> &starts) const override
  {
    shared.ghosts[static_cast<std::size_t>(own)] = &ghosts;
    shared.barrier.wait();
    GhostPlan result;
    const auto n_between = [&](const std::size_t rank) {
      return static_cast<int>(std::lower_bound(ghosts.begin(), ghosts.end(), starts[rank + 1]) -
                              std::lower_bound(ghosts.begin(), ghosts.end(), starts[rank]));
    };
    for (std::size_t rank = 0; rank < shared.ghosts.size(); ++rank) {
      std::vector<int> sent;
      const auto first = starts[static_cast<std::size_t>(own)],
                 last = starts[static_cast<std::size_t>(own) + 1];
      for (const long long ghost : *shared.ghosts[rank])
        if (ghost >= first && ghost < last)
          sent.push_back(static_cast<int>(ghost - first));
      if (const int n_received = n_between(rank); n_received > 0 || !sent.empty())
        result.neighbours.push_back({static_cast<int>(rank), std::move(sent), n_received});
    }
    shared.barrier.wait();
    result.numbers = std::move(ghosts);
    return result;
  }

  void do_exchange(const ExchangeCounts &counts, const std::size_t bytes, const void *sent,
                   void *received) const override
  {
    shared.sent[static_cast<std::size_t>(own)] = sent;
    shared.counts[static_cast<std::size_t>(own)] = &counts;
    shared.barrier.wait();
    auto *to = static_cast<char *>(received);
    for (const NeighbourCounts &neighbour : counts) {
      const auto number = static_cast<std::size_t>(neighbour.rank);
      const auto *from = static_cast<const char *>(shared.sent[number]);
      for (const NeighbourCounts &receiver : *shared.counts[number]) {
        if (receiver.rank == own)
          to = std::copy_n(from, receiver.n_sent * bytes, to);
        from += receiver.n_sent * bytes;
      }
    }
    shared.barrier.wait();
  }

private:
  Shared &shared;
  int own;
};

/// Returns the ghosts of rows begin <= i < end: their columns outside of this range, in ascending
/// order, with the local indices of these columns.
std::map<int, int> ghosts_of(const HostMatrix &A, const int begin, const int end)
{
  std::map<int, int> ghosts;
  for (int k = A.row_starts[begin]; k < A.row_starts[end]; ++k)
    if (A.columns[k] < begin || A.columns[k] >= end)
      ghosts[A.columns[k]] = 0;
  int number = end - begin;
  for (auto &ghost : ghosts)
    ghost.second = number++;
  return ghosts;
}

/// Adds row i of A to a subdomain, own columns first.
void add_row(const HostMatrix &A, const int i, const std::map<int, int> &ghosts, LocalMatrix &local)
{
  for (const bool of_ghosts : {false, true})
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k) {
      const auto ghost = ghosts.find(A.columns[k]);
      if ((ghost != ghosts.end()) != of_ghosts)
        continue;
      local.rows.add(of_ghosts ? ghost->second : A.columns[k] - local.begin, A.values[k]);
    }
  local.rows.end_row();
}

/// Returns the description of the unknowns begin <= i < end of A.
UnknownsPtr unknowns_of(const HostMatrix &A, const int begin, const int end)
{
  Unknowns known = *A.unknowns;
  if (!known.coordinates.empty())
    known.coordinates = {A.unknowns->coordinates.begin() + std::ptrdiff_t{begin} * known.dimension,
                         A.unknowns->coordinates.begin() + std::ptrdiff_t{end} * known.dimension};
  return std::make_shared<const Unknowns>(std::move(known));
}

/// Returns the local indices on this rank of those rows that are ghosts of another rank.
/// @param ghosts the ghosts of the other rank
/// @param local the rows of this rank
std::vector<int> own_rows_of(const std::map<int, int> &ghosts, const LocalMatrix &local)
{
  std::vector<int> rows;
  for (auto ghost = ghosts.lower_bound(local.begin); ghost != ghosts.lower_bound(local.end);
       ++ghost)
    rows.push_back(ghost->first - local.begin);
  return rows;
}
} // namespace

std::vector<LocalMatrix> cut_matrix(const HostMatrix &A, const std::vector<int> &starts)
{
  const std::size_t n_ranks = starts.size() - 1;
  std::vector<LocalMatrix> matrices;
  std::vector<std::map<int, int>> ghosts;
  for (std::size_t p = 0; p < n_ranks; ++p) {
    matrices.push_back({starts[p], starts[p + 1], {}, {}});
    ghosts.push_back(ghosts_of(A, starts[p], starts[p + 1]));
    for (int i = starts[p]; i < starts[p + 1]; ++i)
      add_row(A, i, ghosts[p], matrices[p]);
    matrices[p].rows.unknowns = unknowns_of(A, starts[p], starts[p + 1]);
  }
  for (std::size_t p = 0; p < n_ranks; ++p)
    for (std::size_t q = 0; q < n_ranks; ++q) {
      const std::vector<int> sent = own_rows_of(ghosts[q], matrices[p]);
      const auto n_received = static_cast<int>(own_rows_of(ghosts[p], matrices[q]).size());
      if (p != q && (!sent.empty() || n_received > 0))
        matrices[p].ghosts.neighbours.push_back({static_cast<int>(q), sent, n_received});
    }
  for (std::size_t p = 0; p < n_ranks; ++p)
    for (const auto &ghost : ghosts[p])
      matrices[p].ghosts.numbers.push_back(ghost.first);
  return matrices;
}

void run_on_ranks(const int n_ranks,
                  const std::function<void(int, const std::shared_ptr<const Communicator> &)> &work)
{
  Shared shared(n_ranks);
  std::exception_ptr first;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n_ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        work(rank, std::make_shared<ThreadCommunicator>(shared, rank));
      }
      catch (...) {
        {
          const std::lock_guard lock(mutex);
          if (!first)
            first = std::current_exception();
        }
        shared.barrier.break_barrier();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  if (first)
    std::rethrow_exception(first);
}

bool have_same_bits(const std::vector<double> &a, const std::vector<double> &b)
{
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

SolveReport solve_local(const LinearSolverOptions &options, const LocalMatrix &local,
                        const std::vector<double> &b, std::vector<double> &x,
                        const CommunicatorPtr &communicator, const ExecutorPtr &executor)
{
  LinearSolver solver(executor, options, communicator);
  HostCsr A = local.rows.csr();
  A.ghosts = &local.ghosts;
  solver.set_matrix(A, false);
  solver.set_matrix(A, true);
  return solver.solve(b.data() + local.begin, x.data() + local.begin);
}

SolvedOnRanks solve_on_ranks(const LinearSolverOptions &options, const HostMatrix &A,
                             const std::vector<double> &b, const std::vector<double> &x0,
                             const std::vector<int> &starts, const std::string &backend)
{
  const std::vector<LocalMatrix> matrices = cut_matrix(A, starts);
  SolvedOnRanks result{std::vector<SolveReport>(matrices.size()), x0};
  result.x.resize(b.size());
  run_on_ranks(static_cast<int>(matrices.size()), [&](const int p, const auto &communicator) {
    const auto rank = static_cast<std::size_t>(p);
    result.reports[rank] =
        solve_local(options, matrices[rank], b, result.x, communicator, make_executor(backend, 1));
  });
  return result;
}

std::vector<int> uneven(const HostMatrix &A)
{
  return {0, A.n / 5, A.n / 5, A.n / 2, A.n};
}

ModelProblem problem_for(const std::string &solver)
{
  return generate(solvers.traits(solver).needs_symmetry ? "poisson2d-5pt:31x23"
                                                        : "convection-diffusion2d:29,0.5");
}

std::vector<std::string> distributed_solvers()
{
  std::vector<std::string> names;
  for (const auto &[name, meaning, make, traits] : solvers)
    if (!traits.is_direct && name != std::string("richardson") && traits.preconditioner == nullptr)
      names.push_back(name);
  return names;
}
} // namespace femgpu::linalg::test
