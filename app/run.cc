#include "app/run.h"

#include "app/failure.h"
#include "app/former_files.h"
#include "app/parameter_study.h"
#include "app/study.h"
#include "app/study_report.h"
#include "common/atomic_file.h"
#include "common/directory_lock.h"
#include "physics/collective.h"

#include <deal.II/base/mpi.h>

#include <memory>
#include <string>
#include <vector>

#include <boost/algorithm/string/replace.hpp>

namespace femgpu
{
namespace
{
/// Does this rank write the reports?
bool writes(MPI_Comm communicator)
{
  return dealii::Utilities::MPI::this_mpi_process(communicator) == 0;
}

void write_texts(const std::string &name, const TableTexts &texts)
{
  write_file(name + ".md", texts.markdown);
  write_file(name + ".tex", texts.latex);
}

/// Collective. The output directory, made, and kept from other runs while the result lives; what
/// killed runs have left half written is gone. @throws OutputError on all ranks
std::unique_ptr<DirectoryLock> open_directory(const OutputParameters &output, MPI_Comm communicator)
{
  std::unique_ptr<DirectoryLock> lock;
  together<OutputError>(communicator, [&] {
    if (!writes(communicator))
      return;
    create_output_directory(output.directory);
    lock = std::make_unique<DirectoryLock>(output.directory);
    remove_partial_files(output.directory, output.name);
  });
  return lock;
}

void write_results(const Parameters &parameters, const StudyRecord &study, const TableTexts &table)
{
  const std::string &directory = parameters.output.directory;
  write_file(directory + "/convergence.csv", convergence_csv(study));
  write_texts(directory + "/convergence", table);
  write_file(directory + "/history.csv", history_csv(study));
  if (study.branch)
    write_file(directory + "/branch.csv", branch_csv(*study.branch));
  write_file(directory + "/summary.json", summary_json(study));
  std::vector<std::string> files = study.files;
  if (study.branch)
    files.emplace_back("branch.csv");
  remove_former_files(directory, parameters.output.name, files);
}

/// Collective. Runs the study that @p parameters describe, prints its table and, on the first rank,
/// writes all files. @throws as run_study()
StudyRecord run_and_write(const Parameters &parameters, MPI_Comm communicator, Console &console)
{
  const std::string &directory = parameters.output.directory;
  const auto lock = open_directory(parameters.output, communicator);
  StudyRecord study = run_study(parameters, communicator, console);
  const TableTexts table = convergence_table(study);
  const bool line_has_all =
      study.cycles.empty() || study.cycles.front().quantities.size() <= quantities_in_a_line;
  if (study.cycles.size() > 1 || !line_has_all)
    console.print("\n" + table.plain);
  if (writes(communicator))
    write_results(parameters, study, table);
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

/// A run for each combination of the values of --study, and one table of all.
class CombinationRuns
{
public:
  /// Collective. @throws ParameterError for a --study that cannot be read; InputError
  CombinationRuns(const CommandLine &command_line, Parameters &parameters, MPI_Comm communicator,
                  Console &console)
      : command_line(command_line), parameters(parameters), communicator(communicator),
        console(console), studied(parse_studies(command_line.study)), all(combinations(studied)),
        source(read_source(command_line))
  {}

  /**
   * Collective. Runs a study for each combination, into a directory of its own. Every combination
   * is checked before the first is solved. One that an error ends is a line of the table; the
   * others run all the same, but after an error of output, which they would meet too.
   * @return the exit code of the first combination that has not converged or has failed
   * @throws as check_study(), with the combination that is wrong
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
    ParameterStudy study{studied, {}};
    ExitCode code = ExitCode::done;
    for (const Combination &next : all) {
      Combination &combination = study.combinations.emplace_back(next);
      console.print("\nCombination " + std::to_string(study.combinations.size()) + " of " + n +
                    ": " + combination.text);
      run(combination, directory);
      if (const auto &failure = combination.failure) {
        if (failure->code() == ExitCode::output) // where this could not be written, nothing can
          return failure->code();
        if (code == ExitCode::done)
          code = failure->code();
      }
      if (writes(communicator)) // after each, so that nothing is lost with a later one
        write_study(directory, study);
    }
    console.print("\n" + study_table(study).plain);
    console.print("All combinations are in " + directory + "/, study.csv and study.md.");
    return code;
  }

private:
  /// Sets the parameters; files go below @p directory if that is given.
  void apply(const Combination &combination, const std::string &directory) const
  {
    std::vector<std::string> overrides = command_line.overrides;
    std::vector<std::string> physics; // that runs of the study choose
    for (std::size_t k = 0; k < studied.size(); ++k) {
      overrides.push_back(studied[k].path + "=" + combination.values[k]);
      if (studied[k].path == "Physics")
        physics = studied[k].values;
    }
    if (!directory.empty())
      overrides.push_back("Output/Directory=" + directory + "/" + combination.directory);
    parameters.apply(source, overrides, physics);
  }

  /// @p message as one about @p combination, whose values were given by --study.
  std::string named(const Combination &combination, std::string message) const
  {
    for (std::size_t k = 0; k < studied.size(); ++k) {
      const std::string value = " '" + studied[k].path + "=" + combination.values[k] + "'";
      boost::algorithm::replace_all(message, "--set" + value, "--study" + value);
    }
    return "combination " + combination.text + ": " + message;
  }

  void check_all() const
  {
    for (const Combination &combination : all)
      try {
        apply(combination, "");
        check_study(parameters, communicator, console);
        console.take_warnings(); // each run has its own
      }
      catch (const Error &) { // what one rank finds comes to the others as an Error
        const Error error = describe_failure(std::current_exception(), parameters.places);
        throw Error(error.code(), named(combination, error.what()));
      }
  }

  /// An error ends this combination alone: what it leaves behind, messages on their way too,
  /// belongs to a communicator that no other combination uses.
  void run(Combination &combination, const std::string &directory) const
  {
    using dealii::Utilities::MPI::DuplicatedCommunicator;
    StudyRecord &study = combination.study;
    const DuplicatedCommunicator failures(communicator); // never meet another message
    try {
      const DuplicatedCommunicator own(communicator);
      apply(combination, directory);
      study = run_and_write(parameters, *own, console);
      if (!study.converged()) {
        combination.failure = Error(ExitCode::not_converged, study.why_not_converged());
        console.error(named(combination, study.why_not_converged()));
      }
    }
    catch (...) {
      const Error mine = describe_failure(std::current_exception(), parameters.places);
      console.clear_line();
      const ExitCode code =
          report_failure({mine.code(), named(combination, mine.what())}, *failures);
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
} // namespace

ExitCode run(const CommandLine &command_line, Parameters &parameters, MPI_Comm communicator,
             Console &console)
{
  if (!command_line.study.empty())
    return CombinationRuns(command_line, parameters, communicator, console).run();
  parameters.apply(read_source(command_line), command_line.overrides);
  if (command_line.validate) {
    validate(parameters, communicator, console);
    return ExitCode::done;
  }
  const StudyRecord study = run_and_write(parameters, communicator, console);
  if (study.converged())
    return ExitCode::done;
  console.error(study.why_not_converged());
  return ExitCode::not_converged;
}
} // namespace femgpu
