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
 * Wraps hypre's ParaSails (Chow, Int. J. High Perf. Comput. Appl. 15, 2001) in the classes of
 * linalg. Rows are distributed over the ranks of MPI_COMM_WORLD in blocks of nearly equal size.
 */
namespace femgpu::linalg::benchmark
{
/// A distributed vector of hypre.
class HypreVector
{
public:
  /// @param first the first row of this rank
  /// @param n the number of rows of this rank
  HypreVector(int first, int n);
  ~HypreVector();
  HypreVector(const HypreVector &) = delete;
  HypreVector &operator=(const HypreVector &) = delete;

  /// Copies the n elements of this rank from @p values.
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

/// The options of ParaSails. Filtering and load balancing are off.
struct ParaSailsOptions
{
  bool is_symmetric = false; ///< compute G of M = GᵀG, else the M that minimises ‖M A − I‖_F
  int n_levels = 0;          ///< G or M has the pattern of A^(n_levels + 1)
};

/**
 * ParaSails for one matrix. Unlike in linalg, stored zeros of the matrix belong to its pattern.
 * @throws SolverError with hypre's message
 */
class ParaSails
{
public:
  /// Distributes the rows. Every rank passes the whole of @p A and stores its own rows.
  ParaSails(const HostCsr &A, const ParaSailsOptions &options);
  ~ParaSails();
  ParaSails(const ParaSails &) = delete;
  ParaSails &operator=(const ParaSails &) = delete;

  /// Sets up ParaSails from scratch. @return the seconds that the slowest rank needs
  double setup();

  /// Computes z = M r. Requires that one rank owns all rows.
  void apply(const double *r, double *z) const;

  /// Returns G or M; columns ascend in each row. Requires a single rank, because hypre 2.26
  /// misnumbers columns on several ranks.
  HostMatrix matrix() const;

private:
  int n_rows, first = 0, n_local = 0;
  ParaSailsOptions options;
  HYPRE_IJMatrix ij = nullptr;
  HYPRE_ParCSRMatrix A = nullptr;
  HYPRE_Solver solver = nullptr;
  std::unique_ptr<HypreVector> in, out;
};

/// Adapts ParaSails to the solvers of linalg: prepare() applies ParaSails before each kernel that
/// needs M r, and the kernel then multiplies by the identity that view() returns.
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
    return 0; // unknown
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
