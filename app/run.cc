#include "app/run.h"

#include "app/branch_report.h"
#include "app/convergence.h"
#include "app/parameter_study.h"
#include "app/study.h"
#include "app/study_table.h"
#include "app/summary.h"
#include "common/atomic_file.h"

namespace femgpu
{
namespace
{
void write_texts(const std::string &name, const TableTexts &texts)
{
  write_file(name + ".md", texts.markdown);
  write_file(name + ".tex", texts.latex);
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
}
} // namespace

StudyRecord run_and_report(const Parameters &parameters, MPI_Comm communicator, Console &console,
                           const bool writes)
{
  const std::string &directory = parameters.output.directory;
  if (writes)
    create_output_directory(directory);
  StudyRecord study = run_study(parameters, communicator, console);
  const TableTexts table = convergence_table(study);
  if (study.cycles.size() > 1)
    console.print("\n" + table.plain);
  if (writes)
    write_results(parameters, study, table);
  if (!study.converged())
    console.warn("femgpu: " + study.cycles.back().solve.report.message);
  else
    console.print("Results are in " + directory + "/" +
                  (parameters.output.write_vtu
                       ? "; open " + parameters.output.name + ".pvd in ParaView."
                       : "."));
  return study;
}

namespace
{
/// The combinations of --study as changes of the parameters.
class Combinations
{
public:
  Combinations(const CommandLine &command_line, Parameters &parameters)
      : study{parse_studies(command_line.study), {}}, all(combinations(study.parameters)),
        source(read_source(command_line)), common(as_overrides(command_line)),
        parameters(parameters)
  {}

  /// Sets the parameters to combination @p i; its files go below @p directory if that is given.
  void apply(const std::size_t i, const std::string &directory) const
  {
    std::vector<std::string> overrides = common;
    for (std::size_t k = 0; k < study.parameters.size(); ++k)
      overrides.push_back(study.parameters[k].path + "=" + all[i].values[k]);
    if (!directory.empty())
      overrides.push_back("Output/Directory=" + directory + "/" + all[i].directory);
    parameters.apply(source, overrides);
  }

  /// "Preconditioner = jacobi, Degree = 1"
  std::string text(const std::size_t i) const
  {
    const std::vector<std::string> names = short_names(study.parameters);
    std::string result;
    for (std::size_t k = 0; k < names.size(); ++k)
      result += (k == 0 ? "" : ", ") + names[k] + " = " + all[i].values[k];
    return result;
  }

  /// @p error with the combination and the place that it is about.
  ParameterError explained(const Error &error, const std::size_t i) const
  {
    const auto *of_parameter = dynamic_cast<const ParameterError *>(&error);
    const std::string path = of_parameter != nullptr ? of_parameter->path() : "";
    const bool has_place = !path.empty() && parameters.places.exists(path);
    std::string what = (has_place ? parameters.places.place_of(path) + ": " : "") + error.what();
    for (std::size_t k = 0; k < study.parameters.size(); ++k) {
      const std::string set = "--set '" + study.parameters[k].path + "=" + all[i].values[k] + "'";
      for (std::size_t at = 0; (at = what.find(set, at)) != std::string::npos;)
        what.replace(at, 5, "--study");
    }
    return ParameterError("combination " + text(i) + ": " + what);
  }

  ParameterStudy study;
  std::vector<Combination> all;

private:
  ParameterSource source;
  std::vector<std::string> common;
  Parameters &parameters;
};

void write_study(const std::string &directory, const ParameterStudy &study)
{
  write_file(directory + "/study.csv", study_csv(study));
  write_texts(directory + "/study", study_table(study));
  write_file(directory + "/study.json", parameter_study_json(study));
}
} // namespace

ExitCode run_combinations(const CommandLine &command_line, Parameters &parameters,
                          MPI_Comm communicator, Console &console, const bool writes)
{
  Combinations combinations(command_line, parameters);
  const std::size_t n = combinations.all.size();
  for (std::size_t i = 0; i < n; ++i)
    try {
      combinations.apply(i, "");
      check_study(parameters, communicator, console);
    }
    catch (const Error &error) { // what one rank finds comes to the others as an Error
      if (error.code() != ExitCode::parameter)
        throw;
      throw combinations.explained(error, i);
    }
  const std::string directory = parameters.output.directory;
  if (command_line.validate) {
    console.print("Valid: " + std::to_string(n) + " combinations.");
    return ExitCode::done;
  }
  if (writes)
    create_output_directory(directory);
  bool all_converged = true;
  for (std::size_t i = 0; i < n; ++i) {
    console.print("\nCombination " + std::to_string(i + 1) + " of " + std::to_string(n) + ": " +
                  combinations.text(i));
    combinations.apply(i, directory);
    StudyRecord study = run_and_report(parameters, communicator, console, writes);
    all_converged = all_converged && study.converged();
    combinations.study.combinations.push_back({combinations.all[i], std::move(study)});
    if (writes) // after each, so that nothing is lost with a later one
      write_study(directory, combinations.study);
  }
  console.print("\n" + study_table(combinations.study).plain);
  console.print("All combinations are in " + directory + "/, study.csv and study.md.");
  return all_converged ? ExitCode::done : ExitCode::not_converged;
}
} // namespace femgpu
