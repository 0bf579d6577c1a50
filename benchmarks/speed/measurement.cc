#include "benchmarks/speed/measurement.h"

#include "benchmarks/measure.h"
#include "benchmarks/speed/systems.h"
#include "linalg/base/error.h"
#include "linalg/base/timing.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iomanip>
#include <sstream>

namespace femgpu::linalg::benchmark
{
namespace
{
constexpr int short_solve = 30;
constexpr double seconds_before_timing = 0.05;

/// The relative and absolute differences of reported and true residuals that rounding explains.
constexpr double reported_tolerance = 1e-3, rounding = 1e-10;

bool agrees(const double reported, const double truth)
{
  // Comparisons with NaN are false.
  return std::abs(reported - truth) <= reported_tolerance * truth + rounding;
}

std::string scientific(const double value)
{
  std::ostringstream text;
  text << std::scientific << std::setprecision(3) << value;
  return text.str();
}

double power_of_diagonal(const HostMatrix &A, const int row, const ResidualNorm norm)
{
  if (norm == ResidualNorm::euclidean)
    return 1.;
  const double d = diagonal(A, row);
  return norm == ResidualNorm::scaled ? 1. / std::sqrt(d) : 1. / d;
}

/// Times solves from x = 0.
class Timer
{
public:
  Timer(Candidate &candidate, const SpeedSystem &system, const ResidualNorm norm)
      : candidate(candidate), system(system), norm(norm)
  {}

  /// Returns the seconds of a solve. @throws SolverError unless it takes @p iterations iterations
  double seconds(const int iterations)
  {
    candidate.reset();
    Stopwatch watch;
    reported = candidate.solve(iterations);
    const double elapsed = watch.lap();
    if (reported.iterations != iterations)
      throw SolverError("did " + std::to_string(reported.iterations) + " of " +
                        std::to_string(iterations) + " iterations");
    return elapsed;
  }

  /// Returns ‖b − A x‖ / ‖b‖ of the last solve.
  /// @throws SolverError if the residual that the program reports is not the true one
  double checked_residual() const
  {
    const std::vector<double> x = candidate.solution();
    const double truth = relative_residual(system, x, norm);
    if (!agrees(reported.relative_residual, truth))
      throw SolverError("reports the residual " + scientific(reported.relative_residual) +
                        ", but it is " + scientific(truth));
    return norm == ResidualNorm::euclidean ? truth
                                           : relative_residual(system, x, ResidualNorm::euclidean);
  }

  /// Returns the number of iterations of the first solve that succeeds, at least short_solve.
  /// Begins with @p requested iterations and halves them after each failure.
  int feasible_iterations(const int requested)
  {
    for (int iterations = requested; iterations > short_solve;
         iterations = std::max(iterations / 2 / short_solve * short_solve, short_solve)) {
      try {
        seconds(iterations);
        checked_residual();
        return iterations;
      }
      catch (const SolverError &) {
        // Retries: a shorter solve may end before rounding errors dominate the residual.
      }
    }
    return short_solve;
  }

  double reported_residual() const
  {
    return reported.relative_residual;
  }

private:
  Candidate &candidate;
  const SpeedSystem &system;
  ResidualNorm norm;
  ReportedResult reported;
};

void measure(Candidate &candidate, const CandidateSpec &spec, const SpeedSystem &system,
             const int iterations, const int n_solves, Measurement &m)
{
  Timer timer(candidate, system, spec.norm);
  timer.seconds(short_solve); // warm-up
  m.true_residual_30 = timer.checked_residual();
  for (double spent = 0.; spent < seconds_before_timing;) // an idle device lowers its clock
    spent += timer.seconds(short_solve);
  std::vector<double> seconds(static_cast<std::size_t>(n_solves));
  for (double &one : seconds)
    one = timer.seconds(short_solve);
  const double short_seconds = median(seconds);
  m.milliseconds_30 = 1e3 * short_seconds;

  m.iterations = timer.feasible_iterations(iterations);
  m.is_reproducible = true;
  std::vector<double> first;
  for (double &one : seconds) {
    one = timer.seconds(m.iterations);
    std::vector<double> x = candidate.solution();
    if (first.empty())
      first = std::move(x);
    else
      m.is_reproducible = m.is_reproducible && x == first;
  }
  m.true_residual = timer.checked_residual();
  m.reported = timer.reported_residual();
  const double scale = 1e6 / m.iterations;
  m.median = scale * median(seconds);
  m.minimum = scale * *std::min_element(seconds.begin(), seconds.end());
  m.maximum = scale * *std::max_element(seconds.begin(), seconds.end());
  m.marginal = m.iterations > short_solve
                   ? 1e6 * (median(seconds) - short_seconds) / (m.iterations - short_solve)
                   : m.median;
  m.n_solves = n_solves;
  m.remarks = candidate.remarks();
}

double floor_microseconds(const Environment &environment, const std::size_t bytes)
{
  return 1e6 * static_cast<double>(bytes) / environment.copy_bandwidth;
}

std::size_t bytes_of_iteration(const SpeedSystem &system, const CandidateSpec &spec)
{
  const std::string method = method_of(spec.solver);
  if (method == "gmres")
    return gmres_floor_bytes(system.A);
  return floor_bytes(system.A) * (method == "bicgstab" ? 2 : 1);
}

/// Quotes @p text for CSV, because it may contain commas.
std::string quoted(std::string text)
{
  std::replace(text.begin(), text.end(), '"', '\'');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return '"' + text + '"';
}
} // namespace

std::vector<std::string> methods()
{
  return {"cg", "bicgstab", "gmres"};
}

std::string method_of(const std::string &solver)
{
  for (const char *const method : {"bicgstab", "gmres"})
    if (solver.find(method) != std::string::npos)
      return method;
  return "cg";
}

double relative_residual(const SpeedSystem &system, const std::vector<double> &x,
                         const ResidualNorm norm)
{
  const HostMatrix &A = system.A;
  double rr = 0., bb = 0.;
  for (int i = 0; i < A.n; ++i) {
    double r_i = system.b[i];
    for (int k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      r_i -= A.values[k] * x[A.columns[k]];
    const double weight = power_of_diagonal(A, i, norm);
    rr += weight * r_i * weight * r_i;
    bb += weight * system.b[i] * weight * system.b[i];
  }
  return std::sqrt(rr / bb);
}

int iterations_for(const HostMatrix &A)
{
  if (A.columns.size() < 2'000'000)
    return 300;
  return A.columns.size() < 100'000'000 ? 150 : 60;
}

Measurement measure(const CandidateSpec &spec, const SpeedSystem &system, const int iterations,
                    const int n_solves)
{
  Measurement m;
  try {
    measure(*spec.make(), spec, system, iterations, n_solves, m);
  }
  catch (const SolverError &error) {
    m.verdict = std::string("wrong: ") + error.what();
  }
  catch (const std::exception &error) { // other libraries may throw anything
    m.verdict = std::string("failed: ") + error.what();
  }
  return m;
}

void compare_residuals(Measurement &measurement, const double reference)
{
  const double residual = measurement.true_residual_30;
  if (measurement.verdict == "ok" && !agrees(residual, reference))
    measurement.verdict = "wrong: the residual after 30 iterations is " + scientific(residual) +
                          ", but the residual of the first program is " + scientific(reference);
}

const char *const csv_header =
    "device,git_revision,system,n,nonzeros,program,variant,solver,preconditioner,iterations,"
    "us_per_iteration,min_us,max_us,n_solves,us_of_further_iteration,ms_for_30_iterations,bytes,"
    "floor_us,copy_gb_per_s,fraction_of_copy,true_residual,true_residual_30,claimed_residual,"
    "bit_identical,verdict,remarks\n";

std::string csv_line(const Environment &environment, const SpeedSystem &system,
                     const CandidateSpec &spec, const Measurement &m)
{
  const std::size_t bytes = bytes_of_iteration(system, spec);
  const double floor = floor_microseconds(environment, bytes);
  std::ostringstream line;
  line << std::setprecision(6) << quoted(environment.device) << ',' << environment.git_revision
       << ',' << system.family << ',' << system.A.n << ',' << system.A.columns.size() << ','
       << quoted(spec.program) << ',' << quoted(spec.variant) << ',' << spec.solver << ','
       << quoted(spec.preconditioner) << ',';
  if (m.n_solves > 0)
    line << m.iterations << ',' << m.median << ',' << m.minimum << ',' << m.maximum << ','
         << m.n_solves << ',' << m.marginal << ',' << m.milliseconds_30 << ',' << bytes << ','
         << floor << ',' << 1e-9 * environment.copy_bandwidth << ',' << floor / m.median << ','
         << m.true_residual << ',' << m.true_residual_30 << ',' << m.reported << ','
         << (m.is_reproducible ? "yes" : "no");
  else
    line << ",,,,0,,," << bytes << ',' << floor << ',' << 1e-9 * environment.copy_bandwidth
         << ",,,,,";
  line << ',' << quoted(m.verdict) << ',' << quoted(m.remarks) << '\n';
  return line.str();
}

std::string text_line(const Environment &environment, const SpeedSystem &system,
                      const CandidateSpec &spec, const Measurement &m)
{
  const double floor = floor_microseconds(environment, bytes_of_iteration(system, spec));
  std::ostringstream line;
  line << std::left << std::setw(4) << system.family << std::right << std::setw(9) << system.A.n
       << "  " << std::left << std::setw(18) << spec.program << std::setw(20) << spec.solver
       << std::setw(22) << spec.variant << std::right << std::fixed;
  if (m.n_solves > 0)
    line << std::setprecision(2) << std::setw(9) << m.median << std::setprecision(0) << std::setw(6)
         << 100. * floor / m.median << " %" << std::setprecision(3) << std::setw(9)
         << m.milliseconds_30 << std::setw(5) << m.iterations << "  ";
  line << (m.verdict == "ok" ? "" : m.verdict)
       << (m.n_solves > 0 && !m.is_reproducible ? " (varies)" : "") << "  "
       << m.remarks.substr(0, m.remarks.find(';')) << '\n';
  return line.str();
}
} // namespace femgpu::linalg::benchmark
