#ifndef femgpu_benchmarks_parasails_h
#define femgpu_benchmarks_parasails_h

#include "linalg/operators/csr_matrix.h"
#include "linalg/preconditioners/preconditioner.h"

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>

#include <memory>
#include <vector>

/**
 * @file
 * ParaSails of hypre (Chow, Int. J. High Perf. Comput. Appl. 15, 2001) with the classes of linalg.
 * Rows are distributed over the ranks of MPI_COMM_WORLD in blocks of nearly the same size.
 */
namespace femgpu::linalg::benchmark
{
/// A distributed vector of hypre.
class HypreVector
{
public:
  /// @param first,n the rows of this rank
  HypreVector(int first, int n);
  ~HypreVector();
  HypreVector(const HypreVector &) = delete;
  HypreVector &operator=(const HypreVector &) = delete;

  /// From and to memory of the n elements of this rank.
  void set(const double *values);
  void get(double *values) const;
  HYPRE_ParVector par() const
  {
    return vector;
  }

private:
  std::vector<HYPRE_Int> indices;
  HYPRE_IJVector ij = nullptr;
  HYPRE_ParVector vector = nullptr;
};

/// What ParaSails is told; nothing is filtered and no load is moved.
struct ParaSailsOptions
{
  bool is_symmetric = false; ///< a factor G of Gᵀ G; else M with min ‖M A − I‖_F
  int n_levels = 0;          ///< the pattern is that of A^(n_levels + 1)
};

/**
 * ParaSails of a matrix. Entries that are stored zeros count for its pattern, other than in linalg.
 * @throws SolverError with what hypre says
 */
class ParaSails
{
public:
  /// Every rank gives all of @p A and keeps its rows.
  ParaSails(const HostCsr &A, const ParaSailsOptions &options);
  ~ParaSails();
  ParaSails(const ParaSails &) = delete;
  ParaSails &operator=(const ParaSails &) = delete;

  /// Sets up from the beginning. @return seconds of the slowest rank
  double setup();

  /// z = M r; for all rows on one rank.
  void apply(const double *r, double *z) const;

  /// G or M with ascending columns; on one rank alone, hypre 2.26 misnumbers columns on several.
  HostMatrix matrix() const;

private:
  int n_rows, first = 0, n_local = 0;
  ParaSailsOptions options;
  HYPRE_IJMatrix ij = nullptr;
  HYPRE_ParCSRMatrix A = nullptr;
  HYPRE_Solver solver = nullptr;
  std::unique_ptr<HypreVector> in, out;
};

/// ParaSails for the solvers of linalg: its own function applies it, and then the identity.
class ParaSailsPreconditioner final : public Preconditioner, public PreconditionerOperator
{
public:
  ParaSailsPreconditioner(const ExecutorPtr &host, const ParaSails &sails, int n,
                          bool is_symmetric);

  void setup(const Matrix & /* A */) override
  {}
  void update(const Matrix & /* A */) override
  {}
  Action action() const override
  {
    return static_cast<const PreconditionerOperator *>(this);
  }
  SetupReport setup_report() const override
  {
    return {};
  }
  bool is_symmetric() const override
  {
    return symmetric;
  }
  std::string name() const override
  {
    return "parasails";
  }
  std::size_t bytes() const override
  {
    return 0; // not known
  }
  View view() const override
  {
    return identity->csr_view();
  }
  const double *prepare(StepRunner & /* runner */, double *r) const override
  {
    sails.apply(r, z.data());
    return z.data();
  }

private:
  const ParaSails &sails;
  bool symmetric;
  std::unique_ptr<CsrMatrix> identity;
  mutable std::vector<double> z;
};
} // namespace femgpu::linalg::benchmark

#endif
