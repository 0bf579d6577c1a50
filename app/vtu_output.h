#ifndef femgpu_app_vtu_output_h
#define femgpu_app_vtu_output_h

#include "app/parameters.h"
#include "physics/residual.h"

#include <deal.II/lac/vector.h>
#include <deal.II/numerics/data_out.h>

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/**
 * Writes the files for ParaView of a series of solutions, as the cycles of a study: for each .vtu
 * files with a .pvtu that names them, and one .pvd that names all with their times. Every file has
 * its name only when it is complete.
 */
template <int dim>
class VtuOutput
{
public:
  /// @param name begin of the names of the files
  VtuOutput(const OutputParameters &parameters, std::string name, const Problem<dim> &problem)
      : parameters(parameters), name(std::move(name)), problem(problem)
  {}

  /**
   * Collective. Writes solution, derived fields, exact solution and error where known, material and
   * subdomain ids and, if given, the error indicator of each active cell.
   * @param index of the solution in the series, for the names of its files
   * @param time by which ParaView orders and names it
   * @param has_converged if not, the field data `converged` of the files is 0
   * @throws OutputError if a file cannot be written.
   */
  void write(unsigned int index, double time, DiscreteSolution<dim> &solution,
             const dealii::Vector<float> &indicators, bool has_converged);

  /// Leaves out Problem::nodal_fields(), which belong to a solution for the data of the parameters:
  /// along a branch λ is another.
  void leave_out_nodal_fields()
  {
    has_nodal_fields = false;
  }

  /// Names of the files written, relative to the output directory.
  const std::vector<std::string> &files() const
  {
    return names;
  }

private:
  std::string base_name(unsigned int index) const;
  void write_pieces(const dealii::DataOut<dim> &out, const std::vector<std::string> &pieces,
                    bool has_converged, MPI_Comm comm) const;
  void write_records(const dealii::DataOut<dim> &out, const std::vector<std::string> &pieces,
                     MPI_Comm comm) const;

  const OutputParameters &parameters;
  std::string name;
  const Problem<dim> &problem;
  bool has_nodal_fields = true;
  std::vector<std::pair<double, std::string>> series; ///< times and .pvtu files, for the .pvd
  std::vector<std::string> names;
};
} // namespace femgpu

#endif
