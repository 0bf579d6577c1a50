#ifndef femgpu_physics_mesh_generator_h
#define femgpu_physics_mesh_generator_h

#include "physics/mesh/mesh.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/grid/tria.h>

#include <string>
#include <vector>

namespace femgpu
{
/// Returns the names of the generators that generate_mesh() accepts.
const std::vector<std::string> &generator_names();

/// Returns the message of a deal.II exception, in one line of at most 400 characters.
std::string message_of(const dealii::ExceptionBase &error);

/**
 * Returns the number of cells that @p generator makes from @p arguments. Returns 0 for generators
 * without an argument for the number of cells, which make few cells, and for invalid arguments.
 */
double generated_cells(const std::string &generator, const std::string &arguments, int dim);

/// Makes @p coarse by the function of deal.II's GridGenerator that @p parameters name.
/// @throws ParameterError if the function is unknown or its arguments are wrong
template <int dim>
void generate_mesh(const MeshParameters &parameters, dealii::Triangulation<dim> &coarse);
} // namespace femgpu

#endif
