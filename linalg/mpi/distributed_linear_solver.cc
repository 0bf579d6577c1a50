#include "linalg/mpi/distributed_linear_solver.h"

#include "linalg/base/error.h"
#include "linalg/direct_fallback.h"
#include "linalg/execution/make_executor.h"
#include "linalg/mpi/communicators.h"
#include "linalg/mpi/rank_executor.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
namespace
{
/// Adds @p numbers to the hash @p h (FNV-1a, by words of 32 bits).
std::uint64_t add_to_hash(std::uint64_t h, const std::vector<int> &numbers)
{
  for (const int number : numbers)
    h = (h ^ static_cast<std::uint32_t>(number)) * 0x100000001b3U;
  return h;
}

std::uint64_t hash_of_pattern(const HostMatrix &A)
{
  return add_to_hash(add_to_hash(0xcbf29ce484222325U, A.row_starts), A.columns);
}

bool is_finalized()
{
  int result = 0;
  MPI_Finalized(&result);
  return result != 0;
}
} // namespace

DistributedLinearSolver::DistributedLinearSolver(MPI_Comm caller_ranks, const std::string &backend,
                                                 LinearSolverOptions options)
{
  int n_ranks = 1;
  if (caller_ranks != MPI_COMM_NULL)
    MPI_Comm_size(caller_ranks, &n_ranks);
  if (n_ranks == 1) {
    const ExecutorPtr executor = make_executor(backend_for(options.solver, backend));
    solver = std::make_unique<LinearSolver>(executor, std::move(options));
    return;
  }
  MPI_Comm_dup(caller_ranks, &ranks);
  const ExecutorPtr executor = make_rank_executor(ranks, backend);
  solver = std::make_unique<LinearSolver>(executor, std::move(options),
                                          make_communicator(ranks, executor, "auto"));
}

DistributedLinearSolver::~DistributedLinearSolver()
{
  solver.reset(); // may use the communicator
  if (ranks != MPI_COMM_NULL && !is_finalized())
    MPI_Comm_free(&ranks);
}

bool DistributedLinearSolver::is_true_on_any_rank(const bool condition) const
{
  int result = condition ? 1 : 0;
  if (ranks != MPI_COMM_NULL)
    MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_INT, MPI_MAX, ranks);
  return result != 0;
}

/// Sets the values of rows with an unchanged pattern. Returns whether they differ from the previous
/// values.
bool DistributedLinearSolver::set_values(const HostMatrix &rows)
{
  if (distribution)
    return distribution->set_values(rows.values);
  const bool has_changed = rows.values != all_rows.values;
  std::copy(rows.values.begin(), rows.values.end(), all_rows.values.begin());
  return has_changed;
}

void DistributedLinearSolver::set_rows(HostMatrix rows)
{
  const std::uint64_t hash = hash_of_pattern(rows);
  const bool has_new_pattern = is_true_on_any_rank(!has_matrix || hash != pattern_hash);
  if (!has_new_pattern && !is_true_on_any_rank(set_values(rows)))
    return;
  has_matrix = false; // until set_matrix() has succeeded
  if (has_new_pattern) {
    solver->release(); // before the rows to which it refers
    pattern_hash = hash;
    ++patterns;
    if (ranks == MPI_COMM_NULL)
      all_rows = std::move(rows);
    else
      distribution.emplace(ranks, std::move(rows));
  }
  solver->set_matrix(distribution ? distribution->matrix().csr() : all_rows.csr(),
                     /* same pattern */ !has_new_pattern);
  has_matrix = true;
}
} // namespace femgpu::linalg
