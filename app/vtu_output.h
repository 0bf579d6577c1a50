#ifndef femgpu_app_vtu_output_h
#define femgpu_app_vtu_output_h

#include "app/solution_output.h"

#include <deal.II/numerics/data_out.h>

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// .vtu files for each solution with a .pvtu that names them, and one .pvd that names all with
/// their times, by deal.II.
template <int dim>
class VtuOutput final : public SolutionOutput<dim>
{
public:
  using SolutionOutput<dim>::SolutionOutput;

  void write(unsigned int index, double time, DiscreteSolution<dim> &solution,
             const dealii::Vector<float> &indicators, bool has_converged) override;

private:
  void write_pieces(const dealii::DataOut<dim> &out, const std::vector<std::string> &pieces,
                    bool has_converged, MPI_Comm comm) const;
  void write_records(const dealii::DataOut<dim> &out, const std::vector<std::string> &pieces,
                     MPI_Comm comm) const;

  std::vector<std::pair<double, std::string>> series; ///< times and .pvtu files, for the .pvd
};
} // namespace femgpu

#endif
