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
 * Returns the number of cells that a generator makes from @p arguments if it is known. Returns 0
 * for other generators, which make few cells, and for invalid arguments.
 */
double generated_cells(const std::string &generator, const std::string &arguments, int dim);

/// Calls a function of deal.II's GridGenerator. @throws ParameterError for an unknown function or
/// wrong arguments
template <int dim>
void generate_mesh(const MeshParameters &parameters, dealii::Triangulation<dim> &coarse);
} // namespace femgpu

#endif
