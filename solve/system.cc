#include "solve/system.h"

#include "linalg/base/error.h"
#include "linalg/base/indices.h"
#include "linalg/base/parallel.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/transformations/linear_system_transformation.h"
#include "solve/generators/random.h"
#include "solve/generators/registry.h"
#include "solve/matrix_market/matrix_market.h"

#include <algorithm>
#include <string>
#include <utility>

namespace femgpu
{
using linalg::HostCsr;

namespace
{
/// Returns the sum of each row, A 1.
std::vector<double> row_sums(const HostCsr &A)
{
  std::vector<double> sums(static_cast<std::size_t>(A.n));
  linalg::parallel_for(A.n, [&](const int i) {
    for (std::size_t k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      sums[i] += A.values[k];
  });
  return sums;
}

/// Returns uniformly distributed random numbers in [-1, 1), identical on all machines.
std::vector<double> random_vector(const std::size_t n, const unsigned long seed)
{
  linalg::Random random(seed);
  std::vector<double> v(n);
  for (double &v_i : v)
    v_i = random.uniform(-1., 1.);
  return v;
}

/// Returns the right-hand side @p rhs of the transformed system with matrix @p A_hat.
std::vector<double> generate_rhs(const std::string &rhs, const HostCsr &A_hat)
{
  const auto n = static_cast<std::size_t>(A_hat.n);
  if (rhs == "ones")
    return std::vector<double>(n, 1.);
  if (rhs == "row-sums")
    return row_sums(A_hat);
  return random_vector(n, std::stoul(rhs.substr(rhs.find(':') + 1)));
}

/// Sets the weights W of the nonlinear term, if there is one.
/// @param source_weight the generator's weight; 0 if the generator has none
void choose_weights(const SolveCommand &command, const double source_weight, SystemToSolve &system)
{
  if (command.nonlinear.empty())
    return;
  system.nonlinear = make_nonlinear_term(command.nonlinear);
  const double weight = system.nonlinear->weight.value_or(source_weight);
  if (!system.nonlinear->weight && !(source_weight > 0.))
    throw ParameterError("The nonlinear term '" + system.nonlinear->text +
                         "' has no weights, and '" + command.system() +
                         "' is not a problem on the unit square or cube, which would define them. "
                         "Write --nonlinear '" +
                         system.nonlinear->text + " weights=VALUE'.");
  system.weights.assign(static_cast<std::size_t>(system.A.n), weight);
}

/// Sets A, the weights W of a nonlinear term, and b if the system is generated.
void make_matrix(const SolveCommand &command, SystemToSolve &system)
{
  if (command.generator.empty()) {
    linalg::MatrixMarketMatrix file = linalg::read_matrix_market(command.matrix_file);
    system.A = std::move(file.matrix);
    system.has_both_triangles = file.has_both_triangles;
    choose_weights(command, 0., system);
    return;
  }
  linalg::ModelProblem problem = linalg::generate(command.generator);
  system.A = std::move(problem.A);
  system.b = std::move(problem.b);
  choose_weights(command, problem.source_weight, system);
}

/// Checks that the matrix is symmetric if the nonlinear method or the solver needs this.
/// @param asymmetry_of_A the result of asymmetry() for A
/// @param scaled the result of asymmetry() for the scaled matrix
/// @throws ParameterError if it must be symmetric but is not
void check_symmetry(const SolveCommand &command, const std::string &asymmetry_of_A,
                    const std::string &scaled, const SystemToSolve &system)
{
  const auto &nonlinear = linalg::nonlinear_methods.entry_of(command.nonlinear_method);
  if (system.nonlinear && nonlinear.traits.needs_symmetry && !asymmetry_of_A.empty())
    throw ParameterError("Nonlinear method '" + std::string(nonlinear.name) +
                         "' needs a symmetric matrix, but " + asymmetry_of_A +
                         ". Use --nonlinear-method newton.");
  const std::string &solver = system.attempts.front().solver;
  if (!linalg::solvers.traits(solver).needs_symmetry || scaled.empty())
    return;
  throw ParameterError(
      "Solver '" + solver + "' needs a symmetric matrix, but " +
      (asymmetry_of_A.empty() ? "with the scaling '" + command.scaling + "' " : std::string()) +
      scaled +
      (asymmetry_of_A.empty() ? ". Use --scaling symmetric or none, or --solver pipelined-bicgstab."
                              : ". Use --solver pipelined-bicgstab."));
}

/// Sets b, from the file or such that the transformed system with matrix @p A_hat has the requested
/// right-hand side.
void choose_rhs(const SolveCommand &command, const HostCsr &A_hat,
                const linalg::LinearSystemTransformation &transformation, SystemToSolve &system)
{
  if (!command.rhs_file.empty()) {
    system.rhs = command.rhs_file;
    if (system.nonlinear) {
      system.b = linalg::read_matrix_market_vector(command.rhs_file, system.A.n);
      return;
    }
    linalg::MatrixMarketVectors columns =
        linalg::read_matrix_market_vectors(command.rhs_file, system.A.n);
    system.n_systems = columns.count;
    system.b = std::move(columns.values);
    return;
  }
  if (command.rhs.empty() && system.nonlinear) {
    system.rhs = "0";
    system.b.assign(static_cast<std::size_t>(system.A.n), 0.);
    return;
  }
  if (command.rhs.empty() && !command.generator.empty()) {
    system.rhs = "the generator's own";
    return;
  }
  system.rhs = command.rhs.empty() ? "row-sums" : command.rhs;
  const std::vector<double> b_hat = generate_rhs(system.rhs, A_hat);
  system.b.resize(b_hat.size());
  transformation.restore_rhs(b_hat.data(), system.b.data());
}

/// Returns the name of the scaling for which the right-hand side is created.
std::string scaling_of(const SolveCommand &command)
{
  return command.scaling.empty() ? "none" : command.scaling;
}

/// Makes the system a batch if there are several right-hand sides or --copies is given.
void choose_batch(const SolveCommand &command, SystemToSolve &system)
{
  system.is_batch = command.copies || system.n_systems > 1;
  if (!system.is_batch)
    return;
  if (command.copies && system.n_systems > 1)
    throw ParameterError("'" + command.rhs_file + "' has " + std::to_string(system.n_systems) +
                         " right-hand sides, but --copies needs exactly one. Remove --copies, or "
                         "use a file with one column.");
  if (!command.history.empty())
    throw ParameterError("--history is not available for systems that are solved together. Remove "
                         "it, or solve the systems one by one.");
  if (!command.copies)
    return;
  system.n_systems = *command.copies;
  system.copies.emplace(system.A.csr(), system.b, system.n_systems);
  system.rhs += ", varied";
}
} // namespace

std::vector<HostCsr> SystemToSolve::matrices() const
{
  return copies ? copies->matrices
                : std::vector<HostCsr>(static_cast<std::size_t>(n_systems), A.csr());
}

SystemToSolve make_system(const SolveCommand &command, const bool may_fall_back)
{
  // The ordering is "none", because neither symmetry nor b should depend on the ordering.
  linalg::LinearSystemTransformation transformation(scaling_of(command), "none");
  linalg::orderings.make(command.ordering);
  SystemToSolve system;
  make_matrix(command, system);
  system.n = system.A.n;
  system.n_nonzeros = static_cast<long long>(system.A.columns.size());
  const HostCsr A_hat = transformation.setup(system.A.csr());
  system.lengths = row_lengths(system.A.csr());
  const std::string asymmetry_of_A = asymmetry(system.A.csr());
  system.is_symmetric = asymmetry_of_A.empty();
  choose_rhs(command, A_hat, transformation, system);
  const DiagonalSigns diagonal = diagonal_signs(A_hat);
  const bool is_A = A_hat.values == system.A.values.data();
  const std::string scaled = is_A || !asymmetry_of_A.empty() ? asymmetry_of_A : asymmetry(A_hat);
  if (may_fall_back && uses_automatic_methods(command) && system.n_systems == 1)
    system.attempts = plan_attempts({system.is_symmetric, diagonal, has_zero_row(system.A.csr())},
                                    system.n, command);
  else
    system.attempts = {with_default_methods(command, scaled.empty(), diagonal.n_zeros == 0)};
  check_symmetry(command, asymmetry_of_A, scaled, system);
  system.x0.assign(static_cast<std::size_t>(system.A.n), 0.);
  if (!command.x0_file.empty())
    system.x0 = linalg::read_matrix_market_vector(command.x0_file, system.A.n);
  choose_batch(command, system);
  return system;
}

bool can_generate_locally(const SolveCommand &command)
{
  return !command.generator.empty() && scaling_of(command) == "none" &&
         command.ordering == "none" && command.rhs.empty() && command.rhs_file.empty() &&
         command.x0_file.empty() && !command.copies;
}

SystemToSolve generate_local_rows(const SolveCommand &command, const Ranks &ranks)
{
  linalg::ModelProblem problem = linalg::generate(command.generator, ranks.share());
  SystemToSolve system;
  system.is_distributed = true;
  system.A = std::move(problem.A);
  system.b = std::move(problem.b);
  choose_weights(command, problem.source_weight, system);
  const HostCsr A = system.A.csr();
  system.is_symmetric = problem.is_symmetric;
  const std::string asymmetry_reason =
      system.is_symmetric ? "" : "the matrix of '" + command.generator + "' is not";
  const auto first = static_cast<int>(ranks.sum_before(A.n));
  system.attempts = {with_default_methods(command, system.is_symmetric,
                                          ranks.sum(diagonal_signs(A, first).n_zeros) == 0)};
  check_symmetry(command, asymmetry_reason, asymmetry_reason, system);
  choose_rhs(command, A, linalg::LinearSystemTransformation("none", "none"), system);
  system.n = ranks.sum(A.n);
  system.n_nonzeros = ranks.sum(static_cast<long long>(A.n_nonzeros));
  const RowLengths own = row_lengths(A);
  system.lengths = {static_cast<int>(-ranks.max(A.n > 0 ? -own.min : -linalg::max_indices)),
                    static_cast<int>(ranks.max(own.max)),
                    static_cast<double>(system.n_nonzeros) /
                        static_cast<double>(std::max(system.n, 1LL))};
  system.x0.assign(system.b.size(), 0.);
  return system;
}
} // namespace femgpu
