#ifndef femgpu_benchmarks_speed_measurement_h
#define femgpu_benchmarks_speed_measurement_h

#include "benchmarks/speed/contender.h"

#include <cstddef>
#include <string>

namespace femgpu::linalg::benchmark
{
/// How one contender did on one system. Seconds become microseconds of whole solves called from the
/// host, divided by their iterations; a solve begins with everything but x = 0 in its place.
struct Measurement
{
  int iterations = 0; ///< of the solves that are timed
  int n_solves = 0;
  double median = 0., least = 0., most = 0.; ///< microseconds an iteration
  double further = 0.; ///< microseconds of one iteration more, from solves of 30 and of so many
  double milliseconds_30 = 0.; ///< of a whole solve of 30 iterations, the median
  double true_residual = 0.;   ///< ‖b − A x‖ / ‖b‖ after the solves that are timed
  double true_residual_30 = 0.;
  double claim = 0.;    ///< what the program says of the former, in its own norm
  bool repeats = false; ///< all timed solves gave the same bits
  std::string remarks;
  std::string verdict = "ok"; ///< or why there are no figures, or why they do not count
};

/**
 * ‖D^-k (b − A x)‖ / ‖D^-k b‖, on the host. NaN where x is not finite.
 * @param norm what k is; D is the diagonal of A
 */
double relative_residual(const SpeedSystem &system, const std::vector<double> &x,
                         ResidualNorm norm);

/// Iterations to be timed: enough that a solve's beginning and end count little, and few enough
/// that the largest systems take seconds. A multiple of 30.
int iterations_for(const HostMatrix &A);

/**
 * Makes the contender, lets it solve once without timing, and then times solves of 30 iterations
 * and of @p iterations, @p n_solves each. Where the recurrences do not go on for so long without a
 * restart or an overflow (small systems are solved to the last bit before), fewer are timed.
 *
 * A program that says another residual than the true one gets a verdict that begins with "wrong",
 * one that throws "failed".
 * @param iterations a multiple of 30
 */
Measurement measure(const Entrant &entrant, const SpeedSystem &system, int iterations,
                    int n_solves);

/**
 * After 30 iterations all forms of conjugate gradients with the same preconditioner have the same
 * residual, as have all forms of GMRES: an entrant whose residual differs from @p reference, that
 * of the first, is "wrong".
 */
void compare_residuals(Measurement &measurement, double reference);

/// What a table of measurements says of all its lines.
struct Circumstances
{
  std::string device, git_revision;
  double copy_bandwidth = 0.; ///< bytes per second, read and written
};

/// The columns of csv_line(), with a line break.
extern const char *const csv_header;

/// One line of the table. The bytes are floor_bytes(), twice for BiCGStab, gmres_floor_bytes() for
/// GMRES.
std::string csv_line(const Circumstances &circumstances, const SpeedSystem &system,
                     const Entrant &entrant, const Measurement &measurement);

/// For people: the same in 120 characters.
std::string text_line(const Circumstances &circumstances, const SpeedSystem &system,
                      const Entrant &entrant, const Measurement &measurement);
} // namespace femgpu::linalg::benchmark

#endif
