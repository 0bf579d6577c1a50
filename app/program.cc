#include "app/program.h"

#include "app/command_line.h"
#include "app/declared_parameters.h"
#include "app/failure.h"
#include "app/from_abaqus.h"
#include "app/parameter_study.h"
#include "app/parameters.h"
#include "app/stale_files.h"
#include "app/study.h"
#include "app/study_report.h"
#include "app/time_report.h"
#include "common/atomic_file.h"
#include "common/console.h"
#include "common/directory_lock.h"
#include "common/listing.h"
#include "expressions/expression_parser.h"
#include "linalg/base/error.h"
#include "linalg/base/host_memory.h"
#include "linalg/matrices/registry.h"
#include "linalg/mpi/communicators.h"
#include "linalg/mpi/nodes.h"
#include "linalg/mpi/solver_groups.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/solvers/registry.h"
#include "linalg/transformations/registry.h"
#include "physics/base/collective.h"
#include "physics/mesh/forest_mesh.h"
#include "physics/mesh/mesh_generator.h"
#include "physics/physics.h"

#include <deal.II/base/mpi.h>

#include <csignal>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <boost/algorithm/string/replace.hpp>

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

/// Opens /dev/null for each standard stream that is closed, so that no other file gets the stream's
/// descriptor.
void open_closed_streams()
{
  for (int descriptor = ::open("/dev/null", O_RDWR); descriptor >= 0;
       descriptor = ::open("/dev/null", O_RDWR))
    if (descriptor > STDERR_FILENO) {
      ::close(descriptor);
      return;
    }
}

/// Checks that the working directory exists, because MPI and PETSc fail without it.
/// @throws ParameterError if the directory was removed
void require_working_directory()
{
  std::error_code error;
  if (std::filesystem::current_path(error).empty())
    throw ParameterError("The working directory is unknown (" + error.message() +
                         "); it was probably removed. Change to an existing one: cd DIRECTORY.");
}

/// Checks that there is enough address space for the components of Open MPI. Without it, Open MPI
/// crashes or omits components.
/// @throws DeviceError with the limit
void require_memory_for_mpi()
{
  constexpr double needed = 300e6; // Open MPI 4.1 maps up to 221e6
  if (free_address_space() < needed)
    throw DeviceError("The host does not have enough memory for MPI: " + host_memory().bound +
                      ". Raise that limit.");
}

/// Returns the output of `--list`: all choices of parameters, and the devices.
std::string listing()
{
  std::vector<Choice> generators;
  for (const std::string &name : generator_names())
    generators.push_back({name, ""});
  return listing_of("Physics", all_physics.choices()) +
         listing_of("Solver/Solver", solver_choices()) +
         listing_of("Solver/Preconditioner", linalg::preconditioner_choices()) +
         listing_of("Solver/Format", linalg::formats.choices()) +
         listing_of("Solver/Communicator", linalg::communicator_choices()) +
         listing_of("Solver/Scaling", linalg::scalings.choices()) +
         listing_of("Solver/Ordering", linalg::orderings.choices()) +
         listing_of("Nonlinear/Method", linalg::nonlinear_methods.choices()) +
         listing_of("Functions of expressions", linalg::expression_functions()) +
         listing_of("Mesh/Generator", generators) + listing_of_backends("Solver/Backend");
}

/// Collective. Returns the part of `--list` for several ranks: the default solver groups.
/// @throws as SolverGroups and GroupSolver throw
std::string listing_of_groups(MPI_Comm ranks)
{
  const linalg::SolverGroups groups(ranks, "auto", "auto", "auto");
  linalg::GroupSolver solver(groups, 0, linalg::GroupSolverOptions(linalg::LinearSolverOptions()));
  std::string text =
      "\nSolver groups for these ranks, with Solver/Backend and Solver/Devices auto\n";
  for (const auto &location : solver.locations())
    text += "  " + location_text(location) + '\n';
  return text;
}

/// Prints the information that the command line requests. Returns false if it requests a run.
bool print_requested_info(const CommandLine &command_line, MPI_Comm ranks, const bool prints)
{
  std::ostringstream text;
  if (!command_line.help.empty())
    text << command_line.help;
  else if (!command_line.from.empty()) {
    const AbaqusTranslation translation = translate_abaqus_file(command_line.from);
    text << translation.parameter_file;
    const std::size_t n = translation.not_translated.size();
    if (n > 0)
      Console("femgpu", prints, verbosity_of(command_line))
          .warn(translation.not_translated[0] +
                (translation.not_translated[0].back() == '.' ? "" : ".") +
                (n > 1 ? " This and " + std::to_string(n - 1) + " more are" : " This is") +
                " not translated; comments of the parameter file list all.");
  }
  else if (command_line.version)
    text << version_text("femgpu", library_versions) << '\n';
  else if (command_line.list) {
    text << listing();
    if (dealii::Utilities::MPI::n_mpi_processes(ranks) > 1)
      text << listing_of_groups(ranks);
  }
  else if (!command_line.print_parameters.empty()) {
    const Parameters parameters;
    text << format_parameters(command_line.print_parameters, dealii::ParameterAcceptor::prm);
  }
  else
    return false;
  if (prints && !(std::cout << text.str() << std::flush))
    throw OutputError("Standard output could not be written: it is closed, or the disk is full. "
                      "Redirect it to another file, or free some space.");
  return true;
}

/// Does this rank write the reports?
bool is_writing_rank(MPI_Comm communicator)
{
  return dealii::Utilities::MPI::this_mpi_process(communicator) == 0;
}

void write_texts(const std::string &name, const TableTexts &texts)
{
  write_file(name + ".md", texts.markdown);
  write_file(name + ".tex", texts.latex);
}

/// Collective. Creates the output directory, locks it for the lifetime of the result and removes
/// partial files of killed runs. @throws OutputError on all ranks
std::unique_ptr<DirectoryLock> open_directory(const OutputParameters &output, MPI_Comm communicator)
{
  std::unique_ptr<DirectoryLock> lock;
  rethrow_on_all_ranks<OutputError>(communicator, [&] {
    if (!is_writing_rank(communicator))
      return;
    create_output_directory(output.directory);
    lock = std::make_unique<DirectoryLock>(output.directory);
    remove_partial_files(output.directory, output.name);
  });
  return lock;
}

/// Writes the tables and the summary of a finished or unfinished study.
void write_results(const Parameters &parameters, const StudyRecord &study)
{
  const std::string &directory = parameters.output.directory;
  write_file(directory + "/convergence.csv", convergence_csv(study));
  write_texts(directory + "/convergence", convergence_table(study));
  write_file(directory + "/history.csv", history_csv(study));
  if (study.branch)
    write_file(directory + "/branch.csv", branch_csv(*study.branch));
  const bool has_time = !study.cycles.empty() && study.cycles.front().history;
  if (has_time) {
    write_file(directory + "/time.csv", time_csv(study));
    write_file(directory + "/steps.csv", steps_csv(study));
  }
  write_file(directory + "/summary.json", summary_json(study));
  if (!study.is_finished)
    return;
  std::vector<std::string> files = study.files;
  if (study.branch)
    files.emplace_back("branch.csv");
  if (has_time)
    files.insert(files.end(), {"time.csv", "steps.csv"});
  remove_stale_files(directory, parameters.output.name, files);
}

/// Collective. Runs the study that @p parameters describe and prints its table. The first rank
/// writes tables and summary after each cycle, so that a killed run leaves the results of its
/// finished cycles. @throws as run_study() throws
StudyRecord run_and_write(const Parameters &parameters, MPI_Comm communicator, Console &console,
                          const bool continues = false)
{
  const std::string &directory = parameters.output.directory;
  const auto lock = open_directory(parameters.output, communicator);
  const auto write = [&](const StudyRecord &study) {
    rethrow_on_all_ranks<OutputError>(communicator, [&] {
      if (is_writing_rank(communicator))
        write_results(parameters, study);
    });
  };
  StudyRecord study = run_study(
      parameters, communicator, console,
      [&](const StudyRecord &record, const FeVector &) { write(record); }, continues);
  const bool line_shows_all =
      study.cycles.empty() || study.cycles.front().quantities.size() <= max_quantities_per_line;
  if (study.cycles.size() > 1 || !line_shows_all)
    console.print("\n" + convergence_table(study).plain);
  write(study);
  console.print("Results are in " + directory + "/" +
                (parameters.output.write_vtu
                     ? "; open " + parameters.output.name +
                           (parameters.output.format == "vtkhdf" ? ".vtkhdf.series" : ".pvd") +
                           " in ParaView."
                     : ".") +
                (study.converged() ? "" : " The last solution has NOT converged."));
  return study;
}

void write_study(const std::string &directory, const ParameterStudy &study)
{
  write_file(directory + "/study.csv", study_csv(study));
  write_texts(directory + "/study", study_table(study));
  write_file(directory + "/study.json", study_json(study));
}

/// The runs of a parameter study (--study), one for each combination of values, and their table.
class CombinationRunner
{
public:
  /// Collective. Reads the parameter file on the first rank.
  /// @throws ParameterError for an invalid --study, InputError as read_source() throws
  CombinationRunner(const CommandLine &command_line, Parameters &parameters, MPI_Comm communicator,
                    Console &console)
      : command_line(command_line), parameters(parameters), communicator(communicator),
        console(console), studied(parse_studies(command_line.study)), all(combinations(studied)),
        source(read_source(command_line))
  {}

  /**
   * Collective. Runs a study for each combination, each with a separate directory. All combinations
   * are checked before the first is solved. If a combination fails, the table reports the failure
   * and the next combination is run, except after an output error, which would recur.
   * @return ExitCode::done, or the exit code of the first combination that failed or did not
   *         converge
   * @throws as check_study() throws, with a message that names the combination
   */
  ExitCode run()
  {
    check_all();
    const std::string n = std::to_string(all.size()), directory = parameters.output.directory;
    if (command_line.validate) {
      console.print("Valid: " + n + " combinations.");
      return ExitCode::done;
    }
    const auto lock = open_directory(parameters.output, communicator);
    ParameterStudy study{studied, {}, all.size()};
    ExitCode code = ExitCode::done;
    for (const Combination &next : all) {
      Combination &combination = study.combinations.emplace_back(next);
      console.print("\nCombination " + std::to_string(study.combinations.size()) + " of " + n +
                    ": " + combination.text);
      run(combination, directory);
      if (const auto &failure = combination.failure) {
        if (failure->code() == ExitCode::output) // would recur for all other combinations
          return failure->code();
        if (code == ExitCode::done)
          code = failure->code();
      }
      --study.n_remaining;
      if (is_writing_rank(communicator)) // after each combination, in case a later one crashes
        write_study(directory, study);
    }
    console.print("\n" + study_table(study).plain);
    console.print("Results of all combinations are in " + directory +
                  "/, with the tables study.csv and study.md.");
    return code;
  }

private:
  /// Sets the parameters of @p combination. Unless @p directory is empty, sets the output directory
  /// to a subdirectory of @p directory.
  void apply(const Combination &combination, const std::string &directory) const
  {
    std::vector<std::string> overrides = command_line.overrides;
    std::vector<std::string> physics; // used by any combination, if the physics vary
    for (std::size_t k = 0; k < studied.size(); ++k) {
      overrides.push_back(studied[k].path + "=" + combination.values[k]);
      if (studied[k].path == "Physics")
        physics = studied[k].values;
    }
    if (!directory.empty())
      overrides.push_back("Output/Directory=" + directory + "/" + combination.directory);
    parameters.apply(source, overrides, physics);
  }

  /// Prefixes @p message with the name of @p combination. If the message attributes a value of the
  /// combination to --set, attributes the value to --study.
  std::string with_combination(const Combination &combination, std::string message) const
  {
    for (std::size_t k = 0; k < studied.size(); ++k) {
      const std::string value = " '" + studied[k].path + "=" + combination.values[k] + "'";
      boost::algorithm::replace_all(message, "--set" + value, "--study" + value);
    }
    return "combination " + combination.text + ": " + message;
  }

  /// Returns a hint if a value looks as if it was split at a comma inside an entry
  /// 'ids: expressions'; otherwise an empty string.
  std::string split_value_hint(const Combination &combination) const
  {
    for (std::size_t k = 0; k < studied.size(); ++k)
      if (studied[k].values.size() > 1 && combination.values[k].find(':') != std::string::npos)
        return ' ' + comma_hint(studied[k].path) + '.';
    return {};
  }

  void check_all() const
  {
    for (const Combination &combination : all)
      try {
        apply(combination, "");
        check_study(parameters, communicator, console);
        console.take_warnings(); // discards them: the run will warn again
      }
      catch (const Error &) { // an error of one rank is an Error on the others
        const Error error = describe_failure(std::current_exception(), parameters.locations);
        throw Error(error.code(),
                    with_combination(combination, error.what()) + split_value_hint(combination));
      }
  }

  /// Runs one combination and stores an error in it. The combination has its own communicator, so
  /// that pending messages of a failed run cannot reach the next one.
  void run(Combination &combination, const std::string &directory) const
  {
    using dealii::Utilities::MPI::DuplicatedCommunicator;
    StudyRecord &study = combination.study;
    const DuplicatedCommunicator failure_communicator(communicator); // isolated from other messages
    try {
      const DuplicatedCommunicator own(communicator);
      apply(combination, directory);
      study = run_and_write(parameters, *own, console);
      if (!study.converged()) {
        combination.failure = Error(ExitCode::not_converged, study.failure_message());
        console.error(with_combination(combination, study.failure_message()));
      }
    }
    catch (...) {
      const Error mine = describe_failure(std::current_exception(), parameters.locations);
      console.clear_line();
      const ExitCode code = report_failure(
          {mine.code(), with_combination(combination, mine.what())}, *failure_communicator);
      combination.failure = Error(code, mine.what());
      study.n_ranks = dealii::Utilities::MPI::n_mpi_processes(communicator);
      study.warnings = console.take_warnings();
    }
  }

  const CommandLine &command_line;
  Parameters &parameters;
  MPI_Comm communicator;
  Console &console;
  std::vector<StudiedParameter> studied;
  std::vector<Combination> all;
  ParameterSource source;
};

/// Collective. Runs or checks the study that the parameters describe, or the parameter study of
/// --study, as @p command_line requests.
/// @return ExitCode::done if all runs converged, otherwise the exit code of the first run that
/// failed or did not converge
/// @throws ParameterError, InputError, DeviceError, OutputError
ExitCode run(const CommandLine &command_line, Parameters &parameters, MPI_Comm communicator,
             Console &console)
{
  if (!command_line.study.empty())
    return CombinationRunner(command_line, parameters, communicator, console).run();
  parameters.apply(read_source(command_line), command_line.overrides);
  if (command_line.validate) {
    validate(parameters, communicator, console, command_line.picture);
    return ExitCode::done;
  }
  const StudyRecord study =
      run_and_write(parameters, communicator, console, command_line.continues);
  if (study.converged())
    return ExitCode::done;
  console.error(study.failure_message());
  return ExitCode::not_converged;
}

/// Ignores SIGPIPE and SIGXFSZ. A run in `femgpu ... | head` then still writes its results, and a
/// file beyond `ulimit -f` is reported as an output error, like a full disk.
void ignore_write_signals()
{
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}
} // namespace

int run_program(int argc, char **argv)
{
  int status = 0;
  open_closed_streams();
  try {
    require_working_directory();
    require_memory_for_mpi();
    ignore_write_signals(); // Open MPI 5 writes files, too
    linalg::skip_hardware_discovery();
    CommandLine command_line;
    std::exception_ptr command_line_error; // reported after MPI_Init(), by one rank only
    try {
      command_line = parse_command_line(argc, argv);
    }
    catch (...) {
      command_line_error = std::current_exception();
    }
    // The arguments are hidden from deal.II, which would pass them to Kokkos and PETSc. The latter
    // would interpret some of femgpu's options (--threads) and warn of all others.
    char *mpi_arguments[] = {argv[0], nullptr};
    int n_mpi_arguments = 1;
    char **name = mpi_arguments;
    dealii::Utilities::MPI::MPI_InitFinalize mpi(n_mpi_arguments, name, 1);
    ignore_write_signals(); // again, because PETSc's initialisation resets most handlers
    remove_partial_files_on_signals();
    const bool prints = dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0;
    std::optional<Parameters> parameters; // outside the try block: messages need its locations
    // isolates failures from other messages
    const dealii::Utilities::MPI::DuplicatedCommunicator failure_communicator(MPI_COMM_WORLD);
    init_failure_reporting(*failure_communicator);
    report_errors_of_p4est(terminate_program);
    try {
      if (command_line_error)
        std::rethrow_exception(command_line_error);
      MPI_Comm ranks = linalg::reorder_by_node(MPI_COMM_WORLD);
      if (!print_requested_info(command_line, ranks, prints)) {
        Console console("femgpu", prints, verbosity_of(command_line));
        status = static_cast<int>(run(command_line, parameters.emplace(), ranks, console));
      }
      MPI_Comm_free(&ranks);
    }
    catch (...) {
      const Error error = describe_failure(
          std::current_exception(), parameters ? parameters->locations : ParameterLocations());
      status = static_cast<int>(report_failure(error, *failure_communicator));
    }
  }
  catch (const std::exception &error) { // thrown before or during MPI initialisation
    std::cerr << "femgpu: " << error.what() << std::endl;
    const auto *const parameter_error = dynamic_cast<const ParameterError *>(&error);
    status =
        static_cast<int>(parameter_error != nullptr ? parameter_error->code() : ExitCode::device);
  }
  return status;
}
} // namespace femgpu
