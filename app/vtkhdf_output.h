#ifndef femgpu_app_vtkhdf_output_h
#define femgpu_app_vtkhdf_output_h

#include "app/solution_output.h"

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

private:
  SolutionFiles files_of(NodeFields<dim> fields, const std::string &base, bool has_converged,
                         MPI_Comm communicator) const override;
  bool shares_nodes() const override
  {
    return true;
  }
  std::string extension() const override
  {
    return ".vtkhdf";
  }
  std::string series_extension() const override
  {
    return ".vtkhdf.series";
  }
  std::string series_text(const std::vector<std::pair<double, std::string>> &series) const override;
};
} // namespace femgpu

#endif
