#include "tests/linalg/parts.h"

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
      all_are_there.notify_all();
    }
    else
      all_are_there.wait(lock, [&] { return generation != now || is_broken; });
    if (is_broken)
      throw std::runtime_error("another part has failed");
  }
  void give_up()
  {
    const std::lock_guard lock(mutex);
    is_broken = true;
    all_are_there.notify_all();
  }

private:
  int n_threads, n_waiting = 0;
  long long generation = 0;
  bool is_broken = false;
  std::mutex mutex;
  std::condition_variable all_are_there;
};

/// The pointers that the ranks exchange between two barriers.
struct Shared
{
  explicit Shared(const int n_parts)
      : barrier(n_parts), gathered(static_cast<std::size_t>(n_parts)), sent(gathered.size()),
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
  ThreadCommunicator(Shared &shared, const int part) : shared(shared), own(part)
  {}

  std::string name() const override
  {
    return "threads";
  }
  int n_parts() const override
  {
    return static_cast<int>(shared.sent.size());
  }
  int part() const override
  {
    return own;
  }

  void do_gather(const void *mine, const std::size_t bytes, void *all) const override
  {
    shared.gathered[static_cast<std::size_t>(own)] = mine;
    shared.barrier.wait();
    auto *to = static_cast<char *>(all);
    for (const void *const of_part : shared.gathered)
      to = std::copy_n(static_cast<const char *>(of_part), bytes, to);
    shared.barrier.wait();
  }

  GhostPlan do_plan(std::vector<long long> ghosts,
                    const std::vector<long long> &starts) const override
  {
    shared.ghosts[static_cast<std::size_t>(own)] = &ghosts;
    shared.barrier.wait();
    GhostPlan result;
    const auto n_between = [&](const std::size_t part) {
      return static_cast<int>(std::lower_bound(ghosts.begin(), ghosts.end(), starts[part + 1]) -
                              std::lower_bound(ghosts.begin(), ghosts.end(), starts[part]));
    };
    for (std::size_t part = 0; part < shared.ghosts.size(); ++part) {
      std::vector<int> sent;
      const auto first = starts[static_cast<std::size_t>(own)],
                 last = starts[static_cast<std::size_t>(own) + 1];
      for (const long long ghost : *shared.ghosts[part])
        if (ghost >= first && ghost < last)
          sent.push_back(static_cast<int>(ghost - first));
      if (const int n_received = n_between(part); n_received > 0 || !sent.empty())
        result.neighbours.push_back({static_cast<int>(part), std::move(sent), n_received});
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
      const auto number = static_cast<std::size_t>(neighbour.part);
      const auto *from = static_cast<const char *>(shared.sent[number]);
      for (const NeighbourCounts &receiver : *shared.counts[number]) {
        if (receiver.part == own)
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

/// Returns the columns of rows begin <= i < end outside of this range, in ascending order, with
/// their local indices.
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
void add_row(const HostMatrix &A, const int i, const std::map<int, int> &ghosts, MatrixPart &part)
{
  for (const bool of_ghosts : {false, true})
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k) {
      const auto ghost = ghosts.find(A.columns[k]);
      if ((ghost != ghosts.end()) != of_ghosts)
        continue;
      part.rows.add(of_ghosts ? ghost->second : A.columns[k] - part.begin, A.values[k]);
    }
  part.rows.end_row();
}

/// Returns the information on unknowns begin <= i < end.
UnknownsPtr unknowns_of(const HostMatrix &A, const int begin, const int end)
{
  Unknowns known = *A.unknowns;
  if (!known.coordinates.empty())
    known.coordinates = {A.unknowns->coordinates.begin() + std::ptrdiff_t{begin} * known.dimension,
                         A.unknowns->coordinates.begin() + std::ptrdiff_t{end} * known.dimension};
  return std::make_shared<const Unknowns>(std::move(known));
}

/// Returns the local indices of the rows of @p part among @p ghosts.
std::vector<int> own_rows_of(const std::map<int, int> &ghosts, const MatrixPart &part)
{
  std::vector<int> rows;
  for (auto ghost = ghosts.lower_bound(part.begin); ghost != ghosts.lower_bound(part.end); ++ghost)
    rows.push_back(ghost->first - part.begin);
  return rows;
}
} // namespace

std::vector<MatrixPart> cut_matrix(const HostMatrix &A, const std::vector<int> &starts)
{
  const std::size_t n_parts = starts.size() - 1;
  std::vector<MatrixPart> parts;
  std::vector<std::map<int, int>> ghosts;
  for (std::size_t p = 0; p < n_parts; ++p) {
    parts.push_back({starts[p], starts[p + 1], {}, {}});
    ghosts.push_back(ghosts_of(A, starts[p], starts[p + 1]));
    for (int i = starts[p]; i < starts[p + 1]; ++i)
      add_row(A, i, ghosts[p], parts[p]);
    parts[p].rows.unknowns = unknowns_of(A, starts[p], starts[p + 1]);
  }
  for (std::size_t p = 0; p < n_parts; ++p)
    for (std::size_t q = 0; q < n_parts; ++q) {
      const std::vector<int> sent = own_rows_of(ghosts[q], parts[p]);
      const auto n_received = static_cast<int>(own_rows_of(ghosts[p], parts[q]).size());
      if (p != q && (!sent.empty() || n_received > 0))
        parts[p].ghosts.neighbours.push_back({static_cast<int>(q), sent, n_received});
    }
  for (std::size_t p = 0; p < n_parts; ++p)
    for (const auto &ghost : ghosts[p])
      parts[p].ghosts.numbers.push_back(ghost.first);
  return parts;
}

void run_parts(const int n_parts,
               const std::function<void(int, const std::shared_ptr<const Communicator> &)> &work)
{
  Shared shared(n_parts);
  std::exception_ptr first;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int part = 0; part < n_parts; ++part)
    threads.emplace_back([&, part] {
      try {
        work(part, std::make_shared<ThreadCommunicator>(shared, part));
      }
      catch (...) {
        {
          const std::lock_guard lock(mutex);
          if (!first)
            first = std::current_exception();
        }
        shared.barrier.give_up();
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

SolveReport solve_part(const LinearSolverOptions &options, const MatrixPart &part,
                       const std::vector<double> &b, std::vector<double> &x,
                       const CommunicatorPtr &communicator, const ExecutorPtr &executor)
{
  LinearSolver solver(executor, options, communicator);
  HostCsr A = part.rows.csr();
  A.ghosts = &part.ghosts;
  solver.set_matrix(A, false);
  solver.set_matrix(A, true);
  return solver.solve(b.data() + part.begin, x.data() + part.begin);
}

SolvedInParts solve_in_parts(const LinearSolverOptions &options, const HostMatrix &A,
                             const std::vector<double> &b, const std::vector<double> &x0,
                             const std::vector<int> &starts, const std::string &backend)
{
  const std::vector<MatrixPart> parts = cut_matrix(A, starts);
  SolvedInParts result{std::vector<SolveReport>(parts.size()), x0};
  result.x.resize(b.size());
  run_parts(static_cast<int>(parts.size()), [&](const int p, const auto &communicator) {
    const auto part = static_cast<std::size_t>(p);
    result.reports[part] =
        solve_part(options, parts[part], b, result.x, communicator, make_executor(backend, 1));
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

std::vector<std::string> solvers_with_parts()
{
  std::vector<std::string> names;
  for (const Choice &choice : solvers.choices())
    if (choice.name != "richardson" && choice.name != "multigrid")
      names.push_back(choice.name);
  return names;
}
} // namespace femgpu::linalg::test
