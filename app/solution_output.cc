#include "app/solution_output.h"

#include "common/atomic_file.h"
#include "linalg/base/error.h"
#include "physics/base/collective.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <memory>
#include <sstream>
#include <utility>

#include <boost/algorithm/string/join.hpp>

namespace femgpu
{
namespace
{
std::string header(const SampledValues &values)
{
  return boost::algorithm::join(values.columns, ",") + '\n';
}

/// Returns the rows as CSV lines. Each line begins with @p before and the label of the row.
std::string rows(const SampledValues &values, const std::string &before)
{
  std::ostringstream text;
  text.precision(17);
  for (std::size_t i = 0; i < values.rows.size(); ++i) {
    text << before;
    if (!values.labels.empty())
      text << values.labels[i] << ',';
    const char *separator = "";
    for (const double value : values.rows[i])
      text << std::exchange(separator, ",") << value;
    text << '\n';
  }
  return text.str();
}
} // namespace

template <int dim>
void SolutionOutput<dim>::write(const unsigned int index, const double time,
                                DiscreteSolution<dim> &solution,
                                const dealii::Vector<float> &indicators, const bool has_converged)
{
  const MPI_Comm comm = solution.discretization().communicator();
  const auto real = parameters.precision == "double" ? NumberType::float64 : NumberType::float32;
  const std::string base = written.name + "_" + dealii::Utilities::int_to_string(index, 3);
  SolutionFiles files =
      format.prepare_files(parameters,
                           node_fields(solution.solved_problem(), solution,
                                       {format.shares_nodes, real, has_nodal_fields}, indicators),
                           base, has_converged, comm);
  finish(comm); // completes the files of the previous solution
  written.series.emplace_back(time, base + format.extension);
  pending = std::make_unique<const SolutionFiles>(std::move(files));
  if (pending->write) // writing.get() waits for the thread, or writes if no thread was started
    writing = std::async([&write = pending->write] { write(); });
}

template <int dim>
void SolutionOutput<dim>::finish(MPI_Comm communicator)
{
  const auto last = std::move(pending);
  if (!last)
    return;
  rethrow_on_all_ranks<OutputError>(communicator, [&] {
    if (writing.valid())
      writing.get();
  });
  rethrow_on_all_ranks<OutputError>(communicator, [&] {
    if (dealii::Utilities::MPI::this_mpi_process(communicator) > 0)
      return;
    if (!last->pvtu_text.empty())
      write_file(parameters.path_of(written.series.back().second), last->pvtu_text);
    write_file(parameters.path_of(written.name + format.series_extension),
               format.series_text(written.series));
  });
  std::vector<std::string> &names = written.names;
  names.insert(names.end(), last->names.begin(), last->names.end());
  names.push_back(written.series.back().second);
  if (written.series.size() == 1)
    names.push_back(written.name + format.series_extension);
}

template <int dim>
void SolutionOutput<dim>::begin_series(const std::string &suffix, MPI_Comm communicator)
{
  finish(communicator);
  written.series.clear();
  written.name = parameters.name + suffix;
}

template <int dim>
void SolutionOutput<dim>::write_measurements(
    const unsigned int index, const std::vector<std::pair<std::string, std::string>> &labels,
    const MeasuredValues &values, MPI_Comm communicator)
{
  std::vector<std::pair<std::string, std::string>> texts; // file names and texts
  std::string &points = written.points;
  if (!values.points.rows.empty()) {
    std::string of_labels;
    for (const auto &label : labels)
      of_labels += label.second + ',';
    if (points.empty()) {
      for (const auto &label : labels)
        points += label.first + ',';
      points += "point," + header(values.points);
      written.measurement_files.emplace_back("points.csv");
    }
    points += rows(values.points, of_labels);
    texts.emplace_back("points.csv", points);
  }
  for (const SampledValues &line : values.lines) {
    written.measurement_files.push_back("line_" + line.name + "_" +
                                        dealii::Utilities::int_to_string(index, 3) + ".csv");
    texts.emplace_back(written.measurement_files.back(), header(line) + rows(line, ""));
  }
  rethrow_on_all_ranks<OutputError>(communicator, [&] {
    if (dealii::Utilities::MPI::this_mpi_process(communicator) == 0)
      for (const auto &[name, text] : texts)
        write_file(parameters.path_of(name), text);
  });
}

template class SolutionOutput<2>;
template class SolutionOutput<3>;
} // namespace femgpu
