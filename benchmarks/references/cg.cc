#include "cg.h"
#include "linalg/execution/make_executor.h"

#include "benchmarks/measure.h"
#include "benchmarks/speed/comparison.h"
#include "linalg/base/error.h"

#include "femgpu_version.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/multithread_info.h>

#include <exception>
#include <iostream>

namespace references
{
using namespace dealii;
using namespace femgpu::linalg::benchmark;

namespace
{
/// Returns the data of the run that all lines of the table share. All ranks together measure the
/// copy bandwidth: each rank copies its share of the memory.
Environment environment(const std::string &library, const bool has_threads)
{
  const unsigned int ranks = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
  const auto host = femgpu::linalg::make_executor("host");
  MPI_Barrier(MPI_COMM_WORLD);
  const double bandwidth =
      Utilities::MPI::sum(copy_bandwidth(*host, 3'000'000'000 / ranks), MPI_COMM_WORLD);
  const std::string workers =
      has_threads ? std::to_string(MultithreadInfo::n_threads()) + " threads"
                  : std::to_string(ranks) + (ranks == 1 ? " MPI rank" : " MPI ranks");
  return {library + " with " + workers, femgpu::version::git_revision, bandwidth};
}

void speed_comparison(int argc, char **argv, const Library &library)
{
  ComparisonOptions options =
      parse_comparison_options(argv[0],
                               "Times iterations of " + library.name +
                                   "'s conjugate gradients with Jacobi on model problems.",
                               argc, argv);
  const bool prints = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0;
  if (!options.help.empty()) {
    std::cout << (prints ? options.help : "");
    return;
  }
  SpeedComparison speed_comparison(options, environment(library.name, library.has_threads), prints);
  for (const TableSystem &line : options.systems) {
    // All ranks must agree on whether the time is up; otherwise some would wait forever.
    if (Utilities::MPI::max(speed_comparison.skips(line) ? 1 : 0, MPI_COMM_WORLD) > 0)
      continue;
    const SpeedSystem system = make_system(line);
    speed_comparison.measure(system, {{library.name, "CSR", "cg", "jacobi", library.norm,
                                       [&] { return library.make(system); }}});
  }
  speed_comparison.finish();
}
} // namespace

int run(int argc, char **argv, const Library &library)
{
  // Without this setting, Open MPI binds a process started without mpirun, and all its threads, to
  // one core.
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
  try {
    const Utilities::MPI::MPI_InitFinalize mpi(
        argc, argv, library.has_threads ? numbers::invalid_unsigned_int : 1);
    speed_comparison(argc, argv, library);
    return 0;
  }
  catch (const femgpu::Error &error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.code());
  }
  catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

IndexSet local_rows(const SpeedSystem &system)
{
  const auto n = static_cast<std::size_t>(system.A.n);
  const std::size_t rank = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD);
  const std::size_t ranks = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
  IndexSet rows(system.A.n);
  rows.add_range(static_cast<unsigned int>(n * rank / ranks),
                 static_cast<unsigned int>(n * (rank + 1) / ranks));
  rows.compress();
  return rows;
}

void for_rows(const SpeedSystem &system, const IndexSet &rows,
              const std::function<void(unsigned int, const std::vector<unsigned int> &,
                                       const std::vector<double> &)> &set)
{
  std::vector<unsigned int> columns;
  std::vector<double> values;
  for (const auto i : rows) {
    const int begin = system.A.row_starts[i], end = system.A.row_starts[i + 1];
    columns.assign(system.A.columns.begin() + begin, system.A.columns.begin() + end);
    values.assign(system.A.values.begin() + begin, system.A.values.begin() + end);
    set(i, columns, values);
  }
}

DynamicSparsityPattern pattern_of(const SpeedSystem &system, const IndexSet &rows)
{
  DynamicSparsityPattern pattern(system.A.n, system.A.n, rows);
  for_rows(system, rows,
           [&](const unsigned int row, const auto &columns, const auto & /* values */) {
             pattern.add_entries(row, columns.begin(), columns.end(), /* sorted */ true);
           });
  return pattern;
}
} // namespace references
