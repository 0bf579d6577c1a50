#include "benchmarks/parasails.h"

#include "linalg/base/error.h"
#include "linalg/base/timing.h"

#include <HYPRE_utilities.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace femgpu::linalg::benchmark
{
namespace
{
/// Checks a return code of hypre. @throws SolverError with hypre's message if @p code is an error
void check(const HYPRE_Int code, const char *const what)
{
  if (code == 0)
    return;
  char text[256] = "";
  HYPRE_DescribeError(code, text);
  HYPRE_ClearAllErrors();
  throw SolverError(std::string("hypre: ") + what + " failed: " + text);
}

HostMatrix identity_matrix(const int n)
{
  HostMatrix identity;
  for (int i = 0; i < n; ++i) {
    identity.add(i, 1.);
    identity.end_row();
  }
  return identity;
}
} // namespace

HypreVector::HypreVector(const int first, const int n) : indices(static_cast<std::size_t>(n))
{
  std::iota(indices.begin(), indices.end(), first);
  check(HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, first + n - 1, &ij), "creating a vector");
  HYPRE_IJVectorSetObjectType(ij, HYPRE_PARCSR);
  check(HYPRE_IJVectorInitialize(ij), "initialising a vector");
  set(std::vector<double>(indices.size()).data());
  check(HYPRE_IJVectorAssemble(ij), "assembling a vector");
  void *object = nullptr;
  HYPRE_IJVectorGetObject(ij, &object);
  vector = static_cast<HYPRE_ParVector>(object);
}

HypreVector::~HypreVector()
{
  HYPRE_IJVectorDestroy(ij);
}

void HypreVector::set(const double *const values)
{
  const auto n = static_cast<HYPRE_Int>(indices.size());
  check(HYPRE_IJVectorSetValues(ij, n, indices.data(), values), "writing a vector");
}

void HypreVector::get(double *const values) const
{
  const auto n = static_cast<HYPRE_Int>(indices.size());
  check(HYPRE_IJVectorGetValues(ij, n, indices.data(), values), "reading a vector");
}

ParaSails::ParaSails(const HostCsr &A_, const ParaSailsOptions &options_)
    : n_rows(A_.n), options(options_)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  const auto begin_of = [&](const int r) {
    return static_cast<int>(static_cast<long long>(n_rows) * r / n_ranks);
  };
  first = begin_of(rank);
  n_local = begin_of(rank + 1) - first;
  const int last = first + n_local - 1;
  check(HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &ij), "creating a matrix");
  HYPRE_IJMatrixSetObjectType(ij, HYPRE_PARCSR);
  check(HYPRE_IJMatrixInitialize(ij), "initialising a matrix");
  for (HYPRE_Int i = first; i <= last; ++i) {
    HYPRE_Int length = A_.row_starts.length(i);
    check(HYPRE_IJMatrixSetValues(ij, 1, &length, &i, A_.columns + A_.row_starts[i],
                                  A_.values + A_.row_starts[i]),
          "filling a matrix");
  }
  check(HYPRE_IJMatrixAssemble(ij), "assembling a matrix");
  void *object = nullptr;
  HYPRE_IJMatrixGetObject(ij, &object);
  A = static_cast<HYPRE_ParCSRMatrix>(object);
  in = std::make_unique<HypreVector>(first, n_local);
  out = std::make_unique<HypreVector>(first, n_local);
}

ParaSails::~ParaSails()
{
  if (solver != nullptr)
    HYPRE_ParaSailsDestroy(solver);
  HYPRE_IJMatrixDestroy(ij);
}

double ParaSails::setup()
{
  if (solver != nullptr)
    HYPRE_ParaSailsDestroy(solver);
  check(HYPRE_ParaSailsCreate(MPI_COMM_WORLD, &solver), "ParaSailsCreate");
  HYPRE_ParaSailsSetParams(solver, 0., options.n_levels);
  HYPRE_ParaSailsSetFilter(solver, 0.);
  HYPRE_ParaSailsSetLoadbal(solver, 0.);
  HYPRE_ParaSailsSetSym(solver, options.is_symmetric ? 1 : 0);
  MPI_Barrier(MPI_COMM_WORLD);
  Stopwatch watch;
  const HYPRE_Int code = HYPRE_ParaSailsSetup(solver, A, in->par(), out->par());
  double seconds = watch.lap();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  check(code, "ParaSailsSetup");
  return seconds;
}

void ParaSails::apply(const double *const r, double *const z) const
{
  in->set(r);
  check(HYPRE_ParaSailsSolve(solver, A, in->par(), out->par()), "ParaSailsSolve");
  out->get(z);
}

HostMatrix ParaSails::matrix() const
{
  HYPRE_IJMatrix M_ij = nullptr;
  check(HYPRE_ParaSailsBuildIJMatrix(solver, &M_ij), "ParaSailsBuildIJMatrix");
  void *object = nullptr;
  HYPRE_IJMatrixGetObject(M_ij, &object);
  auto *const M = static_cast<HYPRE_ParCSRMatrix>(object);
  HostMatrix result;
  for (HYPRE_Int i = 0; i < n_rows; ++i) {
    HYPRE_Int length = 0;
    HYPRE_Int *columns = nullptr;
    double *values = nullptr;
    check(HYPRE_ParCSRMatrixGetRow(M, i, &length, &columns, &values), "reading a row");
    std::vector<std::pair<int, double>> row;
    for (HYPRE_Int k = 0; k < length; ++k)
      row.emplace_back(columns[k], values[k]);
    std::sort(row.begin(), row.end());
    for (const auto &[column, value] : row)
      result.add(column, value);
    result.end_row();
    HYPRE_ParCSRMatrixRestoreRow(M, i, &length, &columns, &values);
  }
  HYPRE_IJMatrixDestroy(M_ij);
  return result;
}

ParaSailsPreconditioner::ParaSailsPreconditioner(const ExecutorPtr &host, const ParaSails &sails_,
                                                 const int n, const bool is_symmetric)
    : PreconditionerOperator(std::make_shared<RowSpace>(host, n)), sails(sails_),
      symmetric(is_symmetric),
      identity(std::make_unique<CsrMatrix>(host, identity_matrix(n).csr())),
      z(static_cast<std::size_t>(n))
{}
} // namespace femgpu::linalg::benchmark
