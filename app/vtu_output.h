#ifndef femgpu_app_vtu_output_h
#define femgpu_app_vtu_output_h

#include "app/parameters.h"
#include "physics/problem.h"

#include <deal.II/lac/vector.h>
#include <deal.II/numerics/data_out.h>

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/**
 * Writes the files for ParaView of a study: for each cycle .vtu files with a .pvtu that names them,
 * and one .pvd that names the cycles. Every file has its name only when it is complete.
 */
template <int dim>
class VtuOutput
{
public:
  VtuOutput(const OutputParameters &parameters, const Problem<dim> &problem)
      : parameters(parameters), problem(problem)
  {}

  /**
   * Collective. Writes solution, derived fields, exact solution and error where known, material and
   * subdomain ids and, if given, the error indicator of each active cell.
   * @throws OutputError if a file cannot be written.
   */
  void write(unsigned int cycle, const Discretization<dim> &discretization, const FeVector &u,
             const dealii::Vector<float> &indicators);

  /// Names of the files written, relative to the output directory.
  const std::vector<std::string> &files() const
  {
    return names;
  }

private:
  std::string base_name(unsigned int cycle) const;
  void write_pieces(const dealii::DataOut<dim> &out, const std::vector<std::string> &pieces,
                    MPI_Comm comm) const;
  void write_records(const dealii::DataOut<dim> &out, const std::vector<std::string> &pieces,
                     MPI_Comm comm) const;

  const OutputParameters &parameters;
  const Problem<dim> &problem;
  std::vector<std::pair<double, std::string>> cycles; ///< for the .pvd
  std::vector<std::string> names;
};
} // namespace femgpu

#endif
