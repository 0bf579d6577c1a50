#ifndef femgpu_tests_ranks_ranks_h
#define femgpu_tests_ranks_ranks_h

#include "linalg/base/error.h"
#include "linalg/execution/host/executor.h"
#include "linalg/execution/make_executor.h"
#include "linalg/mpi/communicators.h"
#include "tests/linalg/thread_ranks.h"

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace femgpu::linalg::test
{
inline int n_ranks()
{
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

inline int own_rank()
{
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Returns the first row of the subdomain of each rank, then A.n. The subdomains have uneven sizes;
/// with three or more ranks, one is empty.
inline std::vector<int> rank_starts(const HostMatrix &A, const int block = 1)
{
  const int n = n_ranks();
  std::vector<int> starts = {0};
  for (int rank = 1; rank < n; ++rank) {
    const bool is_empty = n > 2 && rank == 2;
    const long long end = static_cast<long long>(A.n) * rank * (rank + n) / (2LL * n * n);
    starts.push_back(is_empty ? starts.back() : static_cast<int>(end / block) * block);
  }
  starts.push_back(A.n);
  return starts;
}

/// The base of tests with an executor on each rank: one core, or the GPU with the rank's number.
class RanksOn : public testing::TestWithParam<std::string>
{
protected:
  void SetUp() override
  {
    if (GetParam() == "cuda" && n_cuda_devices() == 0)
      GTEST_SKIP() << "no GPU";
    ExecutorPtr &cached = executors[GetParam()];
    if (!cached)
      cached = GetParam() == "host"
                   ? std::make_shared<HostExecutor>(1)
                   : make_executor("cuda:" + std::to_string(own_rank() % n_cuda_devices()));
    executor = cached;
  }
  static void TearDownTestSuite()
  {
    cached_communicators.clear();
    executors.clear();
  }

  /// Returns a communicator that all tests share. @throws the errors of make_communicator()
  CommunicatorPtr communicator(const std::string &name) const
  {
    CommunicatorPtr &cached = cached_communicators[GetParam() + name];
    if (!cached)
      cached = make_communicator(MPI_COMM_WORLD, executor, name);
    return cached;
  }

  /// Returns the names of the communicators available to these ranks.
  std::vector<std::string> communicators() const
  {
    if (executor->backend() == BackendKind::host)
      return {"mpi"};
    std::vector<std::string> names = {"mpi", "peers"};
    try {
      names.push_back(communicator("nccl")->name());
    }
    catch (const ParameterError &error) { // NCCL is missing or has no GPU for each rank
      std::cout << error.what() << '\n';
    }
    return names;
  }

  /// Returns the preconditioners to test: few on the host, where distributed_test.cc tests all.
  std::vector<std::string> preconditioners() const
  {
    if (executor->backend() == BackendKind::host)
      return {"jacobi", "multigrid"};
    return {"identity",     "jacobi", "chebyshev degree=3", "block-jacobi",
            "ilu blocks=1", "fsai",   "multigrid"};
  }

  SolveReport solve(const LinearSolverOptions &options, const HostMatrix &A,
                    const std::vector<double> &b, const std::string &name, std::vector<double> &x,
                    const int block = 1)
  {
    return solve(options, A, b, name, x, rank_starts(A, block));
  }
  /// Solves with the rows starts[k] to starts[k + 1] on rank k.
  SolveReport solve(const LinearSolverOptions &options, const HostMatrix &A,
                    const std::vector<double> &b, const std::string &name, std::vector<double> &x,
                    const std::vector<int> &starts)
  {
    const std::vector<LocalMatrix> matrices = cut_matrix(A, starts);
    x.assign(b.size(), 0.);
    SolveReport report = solve_local(options, matrices[static_cast<std::size_t>(own_rank())], b, x,
                                     communicator(name), executor);
    for (int rank = 0; rank < n_ranks(); ++rank) {
      const auto p = static_cast<std::size_t>(rank);
      MPI_Bcast(x.data() + starts[p], starts[p + 1] - starts[p], MPI_DOUBLE, rank, MPI_COMM_WORLD);
    }
    return report;
  }

  ExecutorPtr executor;

private:
  inline static std::map<std::string, ExecutorPtr> executors;
  inline static std::map<std::string, CommunicatorPtr> cached_communicators;
};

inline LinearSolverOptions methods(const std::string &solver, const std::string &preconditioner)
{
  LinearSolverOptions options;
  options.solver = solver;
  options.preconditioner = preconditioner;
  options.control.relative_tolerance = 1e-10;
  return options;
}
} // namespace femgpu::linalg::test

#endif
