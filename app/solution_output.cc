#include "app/solution_output.h"

#include "app/collective.h"
#include "common/atomic_file.h"
#include "linalg/base/error.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

namespace femgpu
{
template <int dim>
void SolutionOutput<dim>::write(const unsigned int index, const double time,
                                DiscreteSolution<dim> &solution,
                                const dealii::Vector<float> &indicators, const bool has_converged)
{
  const MPI_Comm comm = solution.discretization().communicator();
  const auto real = parameters.precision == "double" ? FileNumber::float64 : FileNumber::float32;
  const std::string base = parameters.name + "_" + dealii::Utilities::int_to_string(index, 3);
  SolutionFiles files = format.files_of(
      parameters,
      node_fields(problem, solution, {format.shares_nodes, real, has_nodal_fields}, indicators),
      base, has_converged, comm);
  finish(comm); // the files before
  names.insert(names.end(), files.names.begin(), files.names.end());
  series.emplace_back(time, base + format.extension);
  names.push_back(series.back().second);
  if (series.size() == 1)
    names.push_back(parameters.name + format.series_extension);
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
  together<OutputError>(
      [&] {
        if (writing.valid())
          writing.get();
      },
      communicator);
  together<OutputError>(
      [&] {
        if (dealii::Utilities::MPI::this_mpi_process(communicator) > 0)
          return;
        if (!record.empty())
          write_file(parameters.path_of(series.back().second), record);
        write_file(parameters.path_of(parameters.name + format.series_extension),
                   format.series_text(series));
      },
      communicator);
}

template class SolutionOutput<2>;
template class SolutionOutput<3>;
} // namespace femgpu
