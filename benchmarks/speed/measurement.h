#ifndef femgpu_benchmarks_speed_measurement_h
#define femgpu_benchmarks_speed_measurement_h

#include "benchmarks/speed/candidate.h"

#include <cstddef>
#include <string>

namespace femgpu::linalg::benchmark
{
/// The result of one candidate for one system. Times per iteration are times of whole solves,
/// called from the host, divided by the number of iterations. A solve includes no preparation.
struct Measurement
{
  int iterations = 0; ///< number of iterations of each timed solve
  int n_solves = 0;
  double median = 0., minimum = 0., maximum = 0.; ///< microseconds per iteration
  double marginal = 0.;        ///< microseconds per additional iteration, after the first 30
  double milliseconds_30 = 0.; ///< median time of a whole solve of 30 iterations
  double true_residual = 0.;   ///< ‖b − A x‖ / ‖b‖ after the timed solves
  double true_residual_30 = 0.;
  double reported = 0.;         ///< the residual that the program reports, in its own norm
  bool is_reproducible = false; ///< did all timed solves give the same bits?
  std::string remarks;
  std::string verdict = "ok"; ///< "ok", or the reason why values are missing or invalid
};

/**
 * Returns ‖D^-k (b − A x)‖ / ‖D^-k b‖, computed on the host; NaN if x is not finite.
 * @param norm determines k; D is the diagonal of A
 */
double relative_residual(const SpeedSystem &system, const std::vector<double> &x,
                         ResidualNorm norm);

/// Returns the number of timed iterations, a multiple of 30: large enough that the start and end of
/// a solve count little, and small enough that the largest systems take seconds.
int iterations_for(const HostMatrix &A);

/**
 * Makes the candidate, runs a warm-up solve, and times @p n_solves solves of 30 iterations and as
 * many of @p iterations. Times fewer iterations if the recurrences restart or overflow earlier,
 * which happens when a small system is solved to the last bit.
 *
 * The verdict begins with "wrong" if the program reports a residual that differs from the true one,
 * and with "failed" if it throws.
 * @param iterations a multiple of 30
 */
Measurement measure(const CandidateSpec &spec, const SpeedSystem &system, int iterations,
                    int n_solves);

/**
 * Marks @p measurement as "wrong" if its residual after 30 iterations differs from @p reference,
 * the residual of the first valid candidate after 30 iterations. All variants of conjugate
 * gradients with the same preconditioner have the same residual; so have all variants of GMRES.
 */
void compare_residuals(Measurement &measurement, double reference);

/// The data of a run that are the same in all lines of a table.
struct Environment
{
  std::string device, git_revision;
  double copy_bandwidth = 0.; ///< bytes per second, read and written
};

/// The column names of csv_line(), with a line break.
extern const char *const csv_header;

/// Returns one line of the table. Its column `bytes` contains the bytes that an iteration moves:
/// floor_bytes() for CG, twice floor_bytes() for BiCGStab, and gmres_floor_bytes() for GMRES.
std::string csv_line(const Environment &environment, const SpeedSystem &system,
                     const CandidateSpec &spec, const Measurement &measurement);

/// Returns the results of a measurement as a readable line of 120 characters.
std::string text_line(const Environment &environment, const SpeedSystem &system,
                      const CandidateSpec &spec, const Measurement &measurement);
} // namespace femgpu::linalg::benchmark

#endif
