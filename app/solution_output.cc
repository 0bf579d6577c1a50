#include "app/solution_output.h"

#include "app/vtkhdf_output.h"
#include "app/vtu_output.h"
#include "common/atomic_file.h"
#include "linalg/base/error.h"

#include <deal.II/base/mpi.h>

#include <iomanip>
#include <sstream>

#include <boost/serialization/string.hpp>

namespace femgpu
{
void write_together(const std::function<void()> &write, MPI_Comm communicator)
{
  std::string error;
  try {
    write();
  }
  catch (const OutputError &e) {
    error = e.what();
  }
  for (const std::string &text : dealii::Utilities::MPI::all_gather(communicator, error))
    if (!text.empty())
      throw OutputError(text);
}

template <int dim>
void SolutionOutput<dim>::write(const unsigned int index, const double time,
                                DiscreteSolution<dim> &solution,
                                const dealii::Vector<float> &indicators, const bool has_converged)
{
  const MPI_Comm comm = solution.discretization().communicator();
  const auto real = parameters.precision == "double" ? FileNumber::float64 : FileNumber::float32;
  std::ostringstream base;
  base << name << '_' << std::setw(3) << std::setfill('0') << index;
  SolutionFiles files = files_of(
      NodeFields<dim>(problem, solution, {shares_nodes(), real, has_nodal_fields}, indicators),
      base.str(), has_converged, comm);
  finish(comm); // the files before
  names.insert(names.end(), files.names.begin(), files.names.end());
  series.emplace_back(time, base.str() + extension());
  names.push_back(series.back().second);
  if (series.size() == 1)
    names.push_back(name + series_extension());
  record = std::move(files.record);
  if (files.write)
    writing = std::async(std::launch::async, std::move(files.write));
  is_pending = true;
}

template <int dim>
void SolutionOutput<dim>::finish(MPI_Comm communicator)
{
  if (!std::exchange(is_pending, false))
    return;
  write_together(
      [&] {
        if (writing.valid())
          writing.get();
      },
      communicator);
  write_together(
      [&] {
        if (dealii::Utilities::MPI::this_mpi_process(communicator) > 0)
          return;
        if (!record.empty())
          write_file(path_of(series.back().second), record);
        write_file(path_of(name + series_extension()), series_text(series));
      },
      communicator);
}

template <int dim>
std::unique_ptr<SolutionOutput<dim>> make_output(const OutputParameters &parameters,
                                                 const Problem<dim> &problem)
{
  if (parameters.format == "vtkhdf")
    return std::make_unique<VtkHdfOutput<dim>>(parameters, parameters.name, problem);
  return std::make_unique<VtuOutput<dim>>(parameters, parameters.name, problem);
}

template class SolutionOutput<2>;
template class SolutionOutput<3>;
template std::unique_ptr<SolutionOutput<2>> make_output(const OutputParameters &,
                                                        const Problem<2> &);
template std::unique_ptr<SolutionOutput<3>> make_output(const OutputParameters &,
                                                        const Problem<3> &);
} // namespace femgpu
