#include "linalg/batch_solver.h"

#include "linalg/base/error.h"
#include "linalg/base/method.h"
#include "linalg/base/timing.h"
#include "linalg/linear_solver.h"
#include "linalg/power_of_two_scaling.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/batch.h"
#include "linalg/solvers/registry.h"
#include "linalg/solvers/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace femgpu::linalg
{
namespace
{
/// Checks that @p text, the value of the option @p name, is @p usual, the only value that batches
/// support.
/// @throws ParameterError if it is not
void require(const std::string &name, const std::string &text, const std::string &usual)
{
  if (text != usual)
    throw ParameterError("Batches do not support " + name + " '" + text + "'. Use " + usual +
                             ", or solve the systems one at a time.",
                         name);
}

void check_options(const LinearSolverOptions &options)
{
  const auto &M = preconditioners.entry_of(preconditioner_of(options));
  if (!M.traits.is_fused)
    throw ParameterError("Preconditioner '" + std::string(M.name) +
                             "' does not support batches, because its action couples rows. Use " +
                             preconditioners.names_with(&PreconditionerTraits::is_fused) +
                             ", or solve the systems one at a time.",
                         "preconditioner");
  if (options.control.energy_tolerance.is_set())
    require_energy_error(options.solver);
  const LinearSolverOptions usual;
  require("format", options.format, usual.format);
  require("scaling", options.scaling, usual.scaling);
  require("ordering", options.ordering, usual.ordering);
  if (options.control.execution == Execution::graph)
    throw ParameterError(
        "Execution 'graph' does not support batches, whose loops are resident. Use auto.",
        "execution");
}

bool has_zero_on_diagonal(const HostCsr &A)
{
  const CsrView<double> view{A.n, 1, A.row_starts, A.columns, A.values};
  for (int i = 0; i < A.n; ++i)
    if (view.diagonal(i) == 0.)
      return true;
  return false;
}

/// Concatenates arrays; an array that is added repeatedly is stored once.
template <class T>
class ArrayPool
{
public:
  /// Adds @p array unless it is stored already. Returns its offset.
  std::size_t add(const T *array, const std::size_t size)
  {
    const auto [position, is_new] = offsets.try_emplace({array, size}, all.size());
    if (is_new)
      all.insert(all.end(), array, array + size);
    return position->second;
  }
  Buffer<T> copy_to(const ExecutorPtr &executor) const
  {
    return Buffer<T>(executor, all.data(), all.size());
  }

private:
  std::map<std::pair<const T *, std::size_t>, std::size_t> offsets;
  std::vector<T> all;
};

SystemReport report_of(const BatchResult &result)
{
  SystemReport report;
  report.outcome = result.outcome;
  report.iterations = result.iterations;
  report.restarts = result.restarts;
  report.rhs_norm = std::sqrt(result.bb);
  report.initial_residual = std::sqrt(result.initial_rr);
  report.true_residual = std::sqrt(result.true_rr);
  report.target = result.target;
  report.energy = result.energy;
  const double scale = std::sqrt(result.scale);
  report.backward_error =
      SystemNorms{report.true_residual, report.rhs_norm, scale, 0.}.backward_error();
  return report;
}
} // namespace

int BatchReport::n_converged() const
{
  return static_cast<int>(std::count_if(systems.begin(), systems.end(),
                                        [](const SystemReport &s) { return s.converged(); }));
}

int BatchReport::n_solved_separately() const
{
  return static_cast<int>(std::count_if(systems.begin(), systems.end(),
                                        [](const SystemReport &s) { return s.solved_separately; }));
}

int BatchReport::worst() const
{
  // NaN is worse than any number.
  const auto is_better = [](const SystemReport &a, const SystemReport &b) {
    const double r_a = a.relative_residual(), r_b = b.relative_residual();
    return r_a < r_b || (std::isnan(r_b) && !std::isnan(r_a));
  };
  return systems.empty()
             ? -1
             : static_cast<int>(std::max_element(systems.begin(), systems.end(), is_better) -
                                systems.begin());
}

double BatchReport::systems_per_second() const
{
  return solve_seconds > 0. ? static_cast<double>(systems.size()) / solve_seconds : 0.;
}

BatchSolver::BatchSolver(ExecutorPtr executor, LinearSolverOptions options)
    : owner(std::move(executor)), options(std::move(options)),
      method(make_solver(this->options.solver, owner->backend())->batch()),
      uses_diagonal(preconditioners.traits(this->options.preconditioner).divides_by_diagonal)
{
  if (!method)
    throw ParameterError("Solver '" + this->options.solver + "' does not support batches. Use " +
                             solvers.names_with(&SolverTraits::supports_batch) +
                             ", or solve the systems one at a time.",
                         "solver");
  make_preconditioner(this->options.preconditioner, owner->backend()); // throws for invalid options
  check_options(this->options);
}

void BatchSolver::set_matrices(const std::vector<HostCsr> &A)
{
  Stopwatch watch;
  matrices = A;
  first_rows.assign(1, 0);
  for (const HostCsr &A_k : A)
    first_rows.push_back(first_rows.back() + static_cast<std::size_t>(A_k.n));
  group_systems();
  transfer_matrices();
  transfer_seconds = watch.lap();
}

/// Chooses the shapes of the blocks, and the groups of systems that are solved together.
void BatchSolver::group_systems()
{
  struct Shaped
  {
    int system;
    BatchShape shape;
  };
  std::vector<Shaped> shaped;
  order.clear();
  groups.clear();
  too_large.clear();
  for (int k = 0; k < static_cast<int>(matrices.size()); ++k) {
    const HostCsr &A = matrices[k];
    if (owner->backend() == BackendKind::host)
      order.push_back(k);
    else if (const auto shape =
                 choose_batch_shape({A.n, A.n_nonzeros, longest_row(A), method->n_vectors()}))
      shaped.push_back({k, *shape});
    else
      too_large.push_back(k);
  }
  // Large systems first, so that the last blocks to start end soon.
  std::stable_sort(shaped.begin(), shaped.end(), [](const Shaped &a, const Shaped &b) {
    const auto key = [](const BatchShape &s) { return std::tuple(s.kernel, s.threads, s.lanes); };
    return key(b.shape) < key(a.shape);
  });
  for (const auto &[system, shape] : shaped) {
    const HostCsr &A = matrices[system];
    if (groups.empty() || !(groups.back().shape == shape))
      groups.push_back({shape, static_cast<int>(order.size()), 0, 0});
    order.push_back(system);
    BatchGroup &group = groups.back();
    ++group.size;
    group.shared_bytes =
        std::max(group.shared_bytes, sizeof(double) * static_cast<std::size_t>(A.n) +
                                         shared_bytes_of_entries(shape, A.n, A.row_starts));
  }
}

void BatchSolver::transfer_matrices()
{
  struct Offsets
  {
    std::size_t row_starts, columns, values;
  };
  ArrayPool<int> all_row_starts, all_columns;
  ArrayPool<double> all_values;
  std::vector<Offsets> offsets;
  for (const int k : order) {
    const HostCsr &A = matrices[k];
    offsets.push_back({all_row_starts.add(A.row_starts.low, static_cast<std::size_t>(A.n) + 1),
                       all_columns.add(A.columns, A.n_nonzeros),
                       all_values.add(A.values, A.n_nonzeros)});
  }
  row_starts = all_row_starts.copy_to(owner);
  columns = all_columns.copy_to(owner);
  values = all_values.copy_to(owner);
  rhs = Buffer<double>(owner, first_rows.back());
  solution = Buffer<double>(owner, first_rows.back());
  std::vector<BatchSystem> in_order;
  for (std::size_t position = 0; position < order.size(); ++position) {
    const int k = order[position];
    const Offsets &of = offsets[position];
    in_order.push_back(
        {{matrices[k].n, 1, matrices[k].row_starts.rebased(row_starts.data() + of.row_starts),
          columns.data() + of.columns, values.data() + of.values},
         rhs.data() + first_rows[k],
         solution.data() + first_rows[k]});
  }
  systems = Buffer<BatchSystem>(owner, in_order.data(), in_order.size());
}

MethodReport BatchSolver::method_report() const
{
  MethodReport report;
  report.solver = Method("solver", options.solver).name();
  report.preconditioner = options.preconditioner;
  report.backend = owner->name();
  report.execution = execution();
  return report;
}

std::string BatchSolver::execution() const
{
  std::string text =
      owner->backend() == BackendKind::host ? "one thread per system" : "one block per system";
  if (groups.size() == 1)
    text += ", " + std::to_string(groups[0].shape.threads) + " threads per block";
  else if (groups.size() > 1)
    text += ", " + std::to_string(groups.size()) + " block shapes";
  if (!too_large.empty())
    text +=
        "; " + std::to_string(too_large.size()) + " too large for a block and solved one at a time";
  return text;
}

/// Returns the message of a system whose outcome is not `converged`.
std::string BatchSolver::explanation(const int system, SolveResult result) const
{
  describe(result, method_report());
  const bool divides_by_zero = result.outcome == Outcome::not_finite && uses_diagonal &&
                               has_zero_on_diagonal(matrices[system]);
  return result.message +
         (divides_by_zero
              ? " The diagonal has zeros, by which jacobi divides. Use preconditioner identity."
              : "");
}

SystemReport BatchSolver::solve_separately(const int system, const double *b, double *x,
                                           double &solve_seconds) const
{
  SystemReport report;
  try {
    LinearSolver solver(owner, options);
    solver.set_matrix(matrices[system], /* same pattern */ false);
    const SolveReport single = solver.solve(b, x);
    report = {single};
    solve_seconds += single.costs.solve_seconds;
  }
  catch (const SolverError & /* jacobi divides by zero, and explanation() says so */) {
    report.outcome = Outcome::not_finite;
    report.rhs_norm = report.initial_residual = report.true_residual = report.target =
        std::numeric_limits<double>::quiet_NaN();
  }
  report.solved_separately = true;
  return report;
}

/// Continues the solve of a system outside of the batch, because rounding may be the reason that it
/// missed its target (rounding.h).
SystemReport BatchSolver::continue_at_rounding(const int system, const double *b, double *x,
                                               const SystemReport &report,
                                               double &solve_seconds) const
{
  LinearSolverOptions remaining_options = options;
  remaining_options.control.relative_tolerance = 0.;
  remaining_options.control.absolute_tolerance = report.target;
  remaining_options.control.max_iterations -= report.iterations;
  LinearSolver solver(owner, remaining_options);
  solver.set_matrix(matrices[system], /* same pattern */ false);
  const SolveReport single = solver.solve(b, x);
  solve_seconds += single.costs.solve_seconds;
  SystemReport continued{single};
  continued.iterations += report.iterations;
  continued.restarts += report.restarts + 1;
  continued.initial_residual = report.initial_residual;
  return continued;
}

BatchReport BatchSolver::solve(const double *b, double *x)
{
  BatchReport report;
  report.method = method_report();
  report.systems.resize(matrices.size());
  Stopwatch watch;
  std::map<int, std::vector<double>> separate_guesses; // initial guesses of systems that are solved
                                                       // separately
  for (std::size_t k = 0; k < matrices.size(); ++k)
    if (PowerOfTwoScaling::is_needed(matrices[k].n, b + first_rows[k]))
      separate_guesses[static_cast<int>(k)].assign(x + first_rows[k], x + first_rows[k + 1]);
  for (const int k : too_large)
    separate_guesses[k].assign(x + first_rows[k], x + first_rows[k + 1]);
  rhs.copy_from_host(b);
  solution.copy_from_host(x);
  report.transfer_seconds = std::exchange(transfer_seconds, 0.) + watch.lap();

  Buffer<BatchResult> results(owner, order.size());
  method->solve({owner.get(), &systems, &groups, uses_diagonal}, options.control, results);
  const std::vector<BatchResult> in_order = results.to_host();
  report.solve_seconds = watch.lap();

  solution.copy_to_host(x);
  report.transfer_seconds += watch.lap();
  for (std::size_t position = 0; position < order.size(); ++position)
    report.systems[order[position]] = report_of(in_order[position]);
  double separate_seconds = 0.;
  for (const auto &[k, guess] : separate_guesses) {
    std::copy(guess.begin(), guess.end(), x + first_rows[k]);
    report.systems[k] = solve_separately(k, b + first_rows[k], x + first_rows[k], separate_seconds);
  }
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    SystemReport &system_report = report.systems[k];
    if (!system_report.solved_separately && !system_report.converged() &&
        may_be_rounding(system_report.outcome, system_report.backward_error,
                        rounding_level(longest_row(matrices[k]))))
      system_report = continue_at_rounding(static_cast<int>(k), b + first_rows[k],
                                           x + first_rows[k], system_report, separate_seconds);
  }
  report.solve_seconds += separate_seconds;
  report.transfer_seconds += watch.lap() - separate_seconds;
  for (std::size_t k = 0; k < matrices.size(); ++k)
    report.systems[k].message = report.systems[k].outcome == Outcome::converged
                                    ? ""
                                    : explanation(static_cast<int>(k), report.systems[k]);
  return report;
}
} // namespace femgpu::linalg
