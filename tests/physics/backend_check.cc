#include "app/study.h"
#include "common/atomic_file.h"
#include "linalg/base/error.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

/**
 * @file
 * Runs parameter files twice on the host and twice on the first GPU. The solutions of all cycles
 * must agree between the backends to 1e-10 of their largest value, and bit for bit between
 * repetitions. Usage: [mpirun -n N] femgpu_backend_check FILE.prm [--set ...]; exit code 0 if they
 * agree, 3 if not, 4 without a GPU.
 */
namespace
{
using namespace femgpu;

using Solutions = std::vector<std::vector<double>>;

Solutions solve(Parameters &parameters, const std::string &backend, std::vector<int> &iterations)
{
  parameters.solver.backend = backend;
  parameters.output.write_vtu = false;
  Console console("backend_check", false, Console::Verbosity::quiet);
  Solutions solutions;
  const StudyRecord study =
      run_study(parameters, MPI_COMM_WORLD, console, [&](const StudyRecord &, const FeVector &u) {
        solutions.emplace_back(u.begin(), u.begin() + u.locally_owned_size());
      });
  if (!study.converged())
    throw SolverError(study.cycles.back().solve.report.message);
  iterations.clear();
  for (const CycleRecord &cycle : study.cycles)
    iterations.push_back(cycle.solve.linear_iterations);
  return solutions;
}

/// Returns the largest difference over the largest value, over all cycles and ranks.
double relative_difference(const Solutions &a, const Solutions &b)
{
  double result = 0.;
  for (std::size_t cycle = 0; cycle < a.size(); ++cycle) {
    double difference = 0., largest = 0.;
    for (std::size_t i = 0; i < a[cycle].size(); ++i) {
      difference = std::max(difference, std::abs(a[cycle][i] - b[cycle][i]));
      largest = std::max(largest, std::abs(b[cycle][i]));
    }
    result = std::max(result, dealii::Utilities::MPI::max(difference, MPI_COMM_WORLD) /
                                  dealii::Utilities::MPI::max(largest, MPI_COMM_WORLD));
  }
  return result;
}

int check(int argc, char **argv)
{
  const CommandLine command_line = parse_command_line(argc, argv);
  Parameters parameters;
  parameters.apply(read_source(command_line), command_line.overrides);
  if (dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    create_output_directory(parameters.output.directory); // for values at points and along lines
  std::vector<int> on_host, on_gpu, again;
  const Solutions gpu = solve(parameters, "cuda", on_gpu);
  const bool gpu_repeats = solve(parameters, "cuda", again) == gpu;
  const Solutions host = solve(parameters, "host", on_host);
  const bool host_repeats = solve(parameters, "host", again) == host;
  const double difference = relative_difference(gpu, host);
  const bool repeats =
      !dealii::Utilities::MPI::logical_or(!gpu_repeats || !host_repeats, MPI_COMM_WORLD);
  const bool passed = difference <= 1e-10 && repeats;
  if (dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    std::cout << (passed ? "passed  " : "FAILED  ") << command_line.parameter_file << ": "
              << host.size() << " cycles, last iterations host " << on_host.back() << " GPU "
              << on_gpu.back() << ", largest relative difference " << difference << ", "
              << (repeats ? "repeats are identical" : "REPEATS DIFFER") << std::endl;
  return passed ? 0 : 3;
}
} // namespace

int main(int argc, char **argv)
{
  const dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  try {
    return check(argc, argv);
  }
  catch (const femgpu::Error &error) {
    std::cerr << error.what() << std::endl;
    return static_cast<int>(error.code());
  }
}
