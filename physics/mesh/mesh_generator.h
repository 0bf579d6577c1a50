#ifndef femgpu_physics_mesh_generator_h
#define femgpu_physics_mesh_generator_h

#include "physics/mesh/mesh.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/grid/tria.h>

#include <string>
#include <vector>

namespace femgpu
{
/// The names that generate_mesh() takes as generator.
const std::vector<std::string> &generator_names();

/// What a deal.II exception says, in one line of at most 400 characters.
std::string words_of(const dealii::ExceptionBase &error);

/**
 * How many cells a generator makes of @p arguments, where that follows from them; 0 for others,
 * which make few, and for what cannot be read.
 */
double generated_cells(const std::string &generator, const std::string &arguments, int dim);

/// Calls a function of deal.II's GridGenerator. @throws ParameterError for an unknown one or wrong
/// arguments
template <int dim>
void generate_mesh(const MeshParameters &parameters, dealii::Triangulation<dim> &coarse);
} // namespace femgpu

#endif
