#ifndef femgpu_app_vtu_output_h
#define femgpu_app_vtu_output_h

#include "app/solution_output.h"

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// .vtu files for each solution with a .pvtu that names them, and one .pvd that names all with
/// their times. Cells have nodes of their own, so that what jumps from cell to cell does.
template <int dim>
class VtuOutput final : public SolutionOutput<dim>
{
public:
  using SolutionOutput<dim>::SolutionOutput;

private:
  SolutionFiles files_of(NodeFields<dim> fields, const std::string &base, bool has_converged,
                         MPI_Comm communicator) const override;
  bool shares_nodes() const override
  {
    return false;
  }
  std::string extension() const override
  {
    return ".pvtu";
  }
  std::string series_extension() const override
  {
    return ".pvd";
  }
  std::string series_text(const std::vector<std::pair<double, std::string>> &series) const override;
};
} // namespace femgpu

#endif
