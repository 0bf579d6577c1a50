#ifndef femgpu_linalg_dealii_solvers_h
#define femgpu_linalg_dealii_solvers_h

#include "linalg/dealii/matrix_rows.h"
#include "linalg/mpi/distributed_linear_solver.h"

#include <deal.II/lac/solver_control.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/**
 * @file
 * femgpu's solvers in the form of deal.II's, for dealii::SparseMatrix<double> with
 * dealii::Vector<double>, and for TrilinosWrappers::SparseMatrix with
 * TrilinosWrappers::MPI::Vector:
 *
 *     SolverControl control(1000, 1e-10 * rhs.l2_norm());
 *     femgpu::SolverCG solver(control);
 *     femgpu::PreconditionMG preconditioner;
 *     preconditioner.initialize(matrix);
 *     solver.solve(matrix, x, rhs, preconditioner);
 *
 * The preconditioner owns the copy of the system on the host or on the device. It is set up by the
 * first solve. Solves with new values of a matrix of the same pattern transfer only the values and
 * update the preconditioner; solves with the same matrix do neither. A preconditioner that is to be
 * reused must therefore outlive the solves, for example as a member of the class that has the
 * matrix.
 */
namespace femgpu
{
/// The exception for a failed solve. Its message explains the failure and proposes a remedy.
class NoConvergence : public dealii::SolverControl::NoConvergence
{
public:
  explicit NoConvergence(const linalg::SolveReport &report)
      : dealii::SolverControl::NoConvergence(static_cast<unsigned int>(report.iterations),
                                             report.true_residual),
        message(report.message)
  {}

  void print_info(std::ostream &out) const override
  {
    out << message << std::endl;
  }

  const std::string message;
};

/**
 * A preconditioner for femgpu's solvers and, after set_up(), for deal.II's. With distributed
 * matrices, the functions are collective.
 */
class Preconditioner
{
public:
  /// @param method name and options, as for `femgpu-solve --preconditioner`: "jacobi", "ilu", ...
  explicit Preconditioner(std::string method) : method(std::move(method))
  {}

  /// Prepares the preconditioner for @p A. The next solve sets it up; solves keep it up to date
  /// with the values of their matrix.
  template <class MatrixType>
  void initialize(const MatrixType & /* A */)
  {
    is_initialized = true;
  }

  /**
   * Sets up the preconditioner for @p A, so that vmult() can be called. If it was set up for a
   * matrix of the same pattern, updates it. femgpu's own solvers call this function.
   * @param backend auto: a GPU if there is one, otherwise the host; host; cuda; or cuda:K
   * @throws ParameterError if initialize() was not called
   * @throws ParameterError, InputError, SolverError, DeviceError if the method does not support the
   *   matrix, or memory or a device are missing
   */
  template <class MatrixType>
  void set_up(const MatrixType &A, const std::string &backend = "auto")
  {
    set_up(A, linalg::LinearSolverOptions().solver, backend);
  }

  /// Computes dst = M⁻¹ src after set_up() or a solve, as deal.II's own solvers require.
  template <class VectorType>
  void vmult(VectorType &dst, const VectorType &src) const
  {
    if (!solver || solver->n_patterns() == 0)
      throw ParameterError("The preconditioner is not set up. Call set_up(matrix) before vmult().");
    solver->precondition(dealii_rows::elements_of(src, solver->n()),
                         dealii_rows::elements_of(dst, solver->n()));
  }

  /// Returns the number of times that the preconditioner was set up for a new sparsity pattern.
  int n_patterns() const
  {
    return solver ? solver->n_patterns() : 0;
  }

  /// Frees all memory.
  void clear()
  {
    solver.reset();
    is_initialized = false;
  }

protected:
  std::string method;
  linalg::UnknownsPtr unknowns = linalg::default_unknowns;
  bool is_initialized = false;
  std::unique_ptr<linalg::DistributedLinearSolver> solver;

private:
  friend class Solver;

  /// Passes the rows of @p A to the solver, which is made if there is none for these arguments.
  template <class MatrixType>
  void set_up(const MatrixType &A, const std::string &solver_method, const std::string &backend)
  {
    if (!is_initialized)
      throw ParameterError("The preconditioner is not initialised. Call initialize(matrix) first.");
    MPI_Comm ranks = dealii_rows::ranks_of(A);
    linalg::HostMatrix rows;
    dealii_rows::rethrow_on_all_ranks(ranks, [&] { rows = dealii_rows::rows_of(A); });
    rows.unknowns = unknowns;
    const auto wanted = std::make_tuple(ranks, solver_method, backend);
    if (!solver || made_for != wanted) {
      linalg::LinearSolverOptions options;
      options.solver = solver_method;
      options.preconditioner = method;
      solver.reset(); // frees memory first
      solver = std::make_unique<linalg::DistributedLinearSolver>(ranks, backend, options);
      made_for = wanted;
    }
    solver->set_rows(std::move(rows));
  }

  std::tuple<MPI_Comm, std::string, std::string> made_for;
};

/// The preconditioner M = diag(A).
class PreconditionJacobi : public Preconditioner
{
public:
  PreconditionJacobi() : Preconditioner("jacobi")
  {}
};

/// Algebraic multigrid by smoothed aggregation.
class PreconditionMG : public Preconditioner
{
public:
  /**
   * Vectors that coarse levels must represent, in the order of the locally owned dofs. A scalar
   * equation needs none. A system of k equations needs constant_modes; elasticity needs the
   * rigid-body modes in constant_modes_values.
   */
  struct AdditionalData
  {
    /// One vector for each component of the solution, from DoFTools::extract_constant_modes().
    std::vector<std::vector<bool>> constant_modes;
    /// Vectors of any numbers, from rigid_body_modes() or, in newer versions of deal.II,
    /// DoFTools::extract_rigid_body_modes(). They replace constant_modes. If constant_modes are
    /// empty, the first vectors must be constant modes, as these functions give them.
    std::vector<std::vector<double>> constant_modes_values;
    /// Further options of the preconditioner "multigrid", such as "theta=0.05 cycle=W".
    std::string options;
  };

  PreconditionMG() : Preconditioner("multigrid")
  {}

  /**
   * Prepares the preconditioner for @p A.
   * @throws ParameterError if the vectors of @p data do not fit A or each other, or if the dofs of
   * a node are not consecutive
   */
  template <class MatrixType>
  void initialize(const MatrixType &A, const AdditionalData &data = AdditionalData())
  {
    linalg::Unknowns new_unknowns;
    dealii_rows::rethrow_on_all_ranks(dealii_rows::ranks_of(A),
                                      [&] { new_unknowns = unknowns_of(data); });
    const std::string new_method = "multigrid " + data.options;
    if (new_method != method || new_unknowns.per_node != unknowns->per_node ||
        new_unknowns.near_null != unknowns->near_null)
      solver.reset();
    method = new_method;
    unknowns = std::make_shared<const linalg::Unknowns>(std::move(new_unknowns));
    is_initialized = true;
  }

private:
  static linalg::Unknowns unknowns_of(const AdditionalData &data)
  {
    std::vector<std::vector<double>> vectors = data.constant_modes_values;
    std::vector<std::vector<double>> constants;
    for (const std::vector<bool> &mode : data.constant_modes)
      constants.emplace_back(mode.begin(), mode.end());
    if (vectors.empty())
      vectors = constants;
    linalg::Unknowns result;
    if (vectors.empty())
      return result;
    const std::size_t n = vectors.front().size(), n_vectors = vectors.size();
    for (const auto *all : {&vectors, &constants})
      for (const std::vector<double> &v : *all)
        if (v.size() != n)
          throw ParameterError("The constant modes have different sizes: " + std::to_string(n) +
                               " and " + std::to_string(v.size()) +
                               ". Each needs a value for each locally owned dof.");
    result.per_node = n_components(constants.empty() ? vectors : constants, !constants.empty());
    result.n_near_null = static_cast<int>(n_vectors);
    result.near_null.resize(n * n_vectors);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < n_vectors; ++c)
        result.near_null[i * n_vectors + c] = vectors[c][i];
    return result;
  }

  /// Returns the number k of components: the first k vectors are their constant modes.
  /// @param are_all_constant whether k must be the number of vectors
  /// @throws ParameterError if there is no such k, or the dofs of a node are not consecutive
  static int n_components(const std::vector<std::vector<double>> &vectors,
                          const bool are_all_constant)
  {
    const std::size_t n = vectors.front().size();
    std::size_t k = are_all_constant ? vectors.size() : 1;
    const auto n_ones = [&](const std::size_t i) {
      return std::count_if(vectors.begin(), vectors.begin() + static_cast<std::ptrdiff_t>(k),
                           [i](const std::vector<double> &v) { return v[i] == 1.; });
    };
    const auto is_constant = [&] {
      for (std::size_t i = 0; i < n; ++i)
        if (n_ones(i) != 1)
          return false;
      return true;
    };
    while (!is_constant())
      if (++k > vectors.size())
        throw ParameterError(
            "The first constant modes are not 1 for the dofs of a component and 0 for others. Set "
            "constant_modes, from DoFTools::extract_constant_modes().");
    for (std::size_t i = 0; i < n; ++i)
      if (vectors[i % k][i] != 1. || n % k != 0)
        throw ParameterError(
            "Multigrid needs the " + std::to_string(k) +
            " dofs of a node one after another, but locally owned dof " + std::to_string(i) +
            " is not of component " + std::to_string(i % k) +
            ". Call DoFRenumbering::support_point_wise(dof_handler) after distributing dofs.");
    return static_cast<int>(k);
  }
};

/**
 * A solver of femgpu with the interface of deal.II's solvers. With distributed matrices, the
 * functions are collective.
 */
class Solver
{
public:
  /**
   * @param control the stopping criteria; the residual is ‖b − A x‖₂. Of a ReductionControl, the
   *   reduction is used, too. Must outlive this object
   * @param method name and options, as for `femgpu-solve --solver`: "gmres restart=50", ...
   * @param backend auto: a GPU if there is one, otherwise the host; host; cuda; or cuda:K
   */
  Solver(dealii::SolverControl &control, std::string method, std::string backend = "auto")
      : control(control), method(std::move(method)), backend(std::move(backend))
  {}

  /**
   * Solves A x = b with the initial guess @p x.
   * @throws NoConvergence if the solution does not meet the criteria of the control
   * @throws ParameterError, InputError, SolverError, DeviceError if the methods do not support the
   *   system, or memory or a device are missing
   */
  template <class MatrixType, class VectorType>
  void solve(const MatrixType &A, VectorType &x, const VectorType &b,
             Preconditioner &preconditioner)
  {
    preconditioner.set_up(A, method, backend);
    linalg::DistributedLinearSolver &solver = *preconditioner.solver;
    const double *b_elements = nullptr;
    double *x_elements = nullptr;
    dealii_rows::rethrow_on_all_ranks(dealii_rows::ranks_of(A), [&] {
      b_elements = dealii_rows::elements_of(b, solver.n());
      x_elements = dealii_rows::elements_of(x, solver.n());
    });
    set_criteria(solver.control());
    last_report = solver.solve(b_elements, x_elements);
    pass_to_control();
  }

  /// The report of the last solve.
  const linalg::SolveReport &report() const
  {
    return last_report;
  }

private:
  void set_criteria(linalg::SolveControl &criteria) const
  {
    criteria.max_iterations = static_cast<int>(
        std::min(control.max_steps(), static_cast<unsigned int>(std::numeric_limits<int>::max())));
    criteria.absolute_tolerance = control.tolerance();
    criteria.relative_tolerance = 0.;
    criteria.reference = linalg::SolveControl::Reference::initial_residual;
    if (const auto *const with_reduction = dynamic_cast<const dealii::ReductionControl *>(&control))
      criteria.relative_tolerance = with_reduction->reduction();
  }

  /// Sets the initial and last values of the control.
  /// @throws NoConvergence if the solve failed
  void pass_to_control() const
  {
    control.check(0, last_report.initial_residual);
    const double tolerance = control.tolerance();
    if (last_report.converged()) // rounding may keep the residual above the tolerance
      control.set_tolerance(std::max(tolerance, last_report.true_residual));
    control.check(static_cast<unsigned int>(last_report.iterations), last_report.true_residual);
    control.set_tolerance(tolerance);
    AssertThrow(control.last_check() == dealii::SolverControl::success, NoConvergence(last_report));
  }

  dealii::SolverControl &control;
  std::string method, backend;
  linalg::SolveReport last_report;
};

/// The conjugate gradient method, for symmetric positive definite matrices.
class SolverCG : public Solver
{
public:
  explicit SolverCG(dealii::SolverControl &control, std::string backend = "auto")
      : Solver(control, linalg::LinearSolverOptions().solver, std::move(backend))
  {}
};
} // namespace femgpu

#endif
