#include "app/solution_output.h"

#include "app/vtkhdf_output.h"
#include "app/vtu_output.h"
#include "linalg/base/error.h"

#include <deal.II/base/mpi.h>

#include <iomanip>
#include <sstream>

#include <boost/serialization/string.hpp>

namespace femgpu
{
template <int dim>
std::string SolutionOutput<dim>::base_name(const unsigned int index) const
{
  std::ostringstream text;
  text << name << '_' << std::setw(3) << std::setfill('0') << index;
  return text.str();
}

void throw_together(const std::string &error, MPI_Comm communicator)
{
  for (const std::string &text : dealii::Utilities::MPI::all_gather(communicator, error))
    if (!text.empty())
      throw OutputError(text);
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
