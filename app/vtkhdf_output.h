#ifndef femgpu_app_vtkhdf_output_h
#define femgpu_app_vtkhdf_output_h

#include "app/hdf5_datasets.h"
#include "app/solution_output.h"

#include <future>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// One .vtkhdf file for each solution, and one .vtkhdf.series that names all with their times.
template <int dim>
class VtkHdfOutput final : public SolutionOutput<dim>
{
public:
  using SolutionOutput<dim>::SolutionOutput;

  void write(unsigned int index, double time, DiscreteSolution<dim> &solution,
             const dealii::Vector<float> &indicators, bool has_converged) override;
  void finish(MPI_Comm communicator) override;

private:
  std::future<void> writing; ///< of the last file, on the first rank
  std::vector<std::pair<double, std::string>> series;
};
} // namespace femgpu

#endif
