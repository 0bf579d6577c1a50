#include "app/program.h"

#include "app/command_line.h"
#include "app/declared_parameters.h"
#include "app/failure.h"
#include "app/parameters.h"
#include "app/run.h"
#include "app/study_report.h"
#include "common/atomic_file.h"
#include "common/console.h"
#include "common/listing.h"
#include "linalg/base/error.h"
#include "linalg/base/host_memory.h"
#include "linalg/expressions/expression_parser.h"
#include "linalg/matrices/registry.h"
#include "linalg/mpi/communicators.h"
#include "linalg/mpi/nodes.h"
#include "linalg/mpi/solver_groups.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/transformations/registry.h"
#include "physics/mesh/forest_mesh.h"
#include "physics/mesh/mesh_generator.h"
#include "physics/physics.h"

#include <deal.II/base/mpi.h>

#include <csignal>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <optional>
#include <sstream>
#include <unistd.h>

namespace femgpu
{
namespace
{
Console::Verbosity verbosity_of(const CommandLine &command_line)
{
  if (command_line.quiet)
    return Console::Verbosity::quiet;
  return command_line.verbose ? Console::Verbosity::verbose : Console::Verbosity::normal;
}

/// Files never get the numbers of standard streams that a shell has closed.
void fill_closed_streams()
{
  for (int descriptor = ::open("/dev/null", O_RDWR); descriptor >= 0;
       descriptor = ::open("/dev/null", O_RDWR))
    if (descriptor > STDERR_FILENO) {
      ::close(descriptor);
      return;
    }
}

/// @throws ParameterError where the shell's directory is gone, which MPI and PETSc cannot stand
void require_working_directory()
{
  std::error_code error;
  if (std::filesystem::current_path(error).empty())
    throw ParameterError("The working directory cannot be told (" + error.message() +
                         "); it was probably removed. Go to one that is there: cd DIRECTORY.");
}

/// Open MPI crashes, or goes without parts of itself, where its components find no address space.
/// @throws DeviceError naming the limit
void require_memory_for_mpi()
{
  constexpr double needed = 300e6; // Open MPI 4.1 maps up to 221e6
  if (free_address_space() < needed)
    throw DeviceError("The host has not enough memory for MPI: " + host_memory().bound +
                      ". Raise that limit.");
}

/// What `--list` prints: everything that parameters can name, and the devices that are there.
std::string listing()
{
  std::vector<Choice> generators;
  for (const std::string &name : generator_names())
    generators.push_back({name, ""});
  return listing_of("Physics", all_physics.choices()) +
         listing_of("Solver/Solver", linalg::group_solver_choices()) +
         listing_of("Solver/Preconditioner", linalg::preconditioner_choices()) +
         listing_of("Solver/Format", linalg::formats.choices()) +
         listing_of("Solver/Communicator", linalg::communicator_choices()) +
         listing_of("Solver/Scaling", linalg::scalings.choices()) +
         listing_of("Solver/Ordering", linalg::orderings.choices()) +
         listing_of("Nonlinear/Method", linalg::nonlinear_methods.choices()) +
         listing_of("Functions of expressions", linalg::expression_functions()) +
         listing_of("Mesh/Generator", generators) + listing_of_backends("Solver/Backend");
}

/// Of several ranks also their solver groups where parameters say nothing of these. Collective.
/// @throws as SolverGroups and GroupSolver
std::string listing_of_groups(MPI_Comm ranks)
{
  const linalg::SolverGroups groups(ranks, "auto", "auto", "auto");
  linalg::GroupSolver solver(groups, 0, linalg::GroupSolverOptions(linalg::LinearSolverOptions()));
  std::string text =
      "\nSolver groups of these ranks, with Solver/Backend and Solver/Devices auto\n";
  for (const auto &place : solver.places())
    text += "  " + place_text(place) + '\n';
  return text;
}

/// Answers a question about the program; false if the command line asks for a run.
bool answer(const CommandLine &command_line, MPI_Comm ranks, const bool prints)
{
  std::ostringstream text;
  if (!command_line.help.empty())
    text << command_line.help;
  else if (command_line.version)
    text << version_text("femgpu", library_versions) << '\n';
  else if (command_line.list) {
    text << listing();
    if (dealii::Utilities::MPI::n_mpi_processes(ranks) > 1)
      text << listing_of_groups(ranks);
  }
  else if (!command_line.print_parameters.empty()) {
    const Parameters parameters;
    text << parameters_as(command_line.print_parameters, dealii::ParameterAcceptor::prm);
  }
  else
    return false;
  if (prints && !(std::cout << text.str() << std::flush))
    throw OutputError("Standard output could not be written. Is the disk full, or closed?");
  return true;
}
} // namespace

int run_program(int argc, char **argv)
{
  int status = 0;
  fill_closed_streams();
  try {
    require_working_directory();
    require_memory_for_mpi();
    linalg::spare_discovery();
    CommandLine command_line;
    std::exception_ptr unreadable; // which ranks can say once only, when there is MPI
    try {
      command_line = parse_command_line(argc, argv);
    }
    catch (...) {
      unreadable = std::current_exception();
    }
    const linalg::DriverStart driver(!unreadable && command_line.may_solve_on_device());
    // The command line is femgpu's alone: deal.II would hand it to Kokkos and PETSc, which take
    // options of ours for theirs (--threads) and warn of all that they do not know.
    char *words[] = {argv[0], nullptr};
    int n_words = 1;
    char **name = words;
    dealii::Utilities::MPI::MPI_InitFinalize mpi(n_words, name, 1);
    // after PETSc's initialization, which puts the handlers of most signals back
    std::signal(SIGPIPE, SIG_IGN); // a run behind `femgpu ... | head` still writes its results
    remove_partial_files_on_signals();
    throw_errors_of_p4est();
    const bool prints = dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0;
    std::optional<Parameters> parameters; // also when reading them fails: they know their places
    // so that a failure never meets another message
    const dealii::Utilities::MPI::DuplicatedCommunicator failures(MPI_COMM_WORLD);
    introduce_ranks(*failures);
    try {
      if (unreadable)
        std::rethrow_exception(unreadable);
      MPI_Comm ranks = linalg::ranks_by_nodes(MPI_COMM_WORLD);
      if (!answer(command_line, ranks, prints)) {
        Console console("femgpu", prints, verbosity_of(command_line));
        status = static_cast<int>(run(command_line, parameters.emplace(), ranks, console));
      }
      MPI_Comm_free(&ranks);
    }
    catch (...) {
      const Error error = describe_failure(std::current_exception(),
                                           parameters ? parameters->places : ParameterPlaces());
      status = static_cast<int>(report_failure(error, *failures));
    }
  }
  catch (const std::exception &error) { // before there is MPI, or MPI itself
    std::cerr << "femgpu: " << error.what() << std::endl;
    const auto *const wrong = dynamic_cast<const ParameterError *>(&error);
    status = static_cast<int>(wrong != nullptr ? wrong->code() : ExitCode::device);
  }
  return status;
}
} // namespace femgpu
