#ifndef femgpu_tests_physics_physics_on_mesh_h
#define femgpu_tests_physics_physics_on_mesh_h

#include "physics/mesh/mesh.h"
#include "physics/physics.h"
#include "physics/problem.h"

#include <deal.II/base/parameter_acceptor.h>

#include <memory>
#include <string>

namespace femgpu
{
/// A generated mesh, with parameters as in section "Mesh".
struct GeneratedMesh
{
  std::string generator = "hyper_cube";
  std::string arguments = "0 : 1 : true"; ///< gives the sides the ids 0, 1, ...
  std::string cells = "hypercube";
};

/// The problem of a physics with given parameters on a coarse mesh.
template <int dim>
struct PhysicsOnMesh
{
  PhysicsOnMesh(const std::string &name, const std::string &parameters,
                const GeneratedMesh &generated = {})
      : physics(all_physics.find(name).make())
  {
    dealii::ParameterHandler &prm = dealii::ParameterAcceptor::prm;
    prm.parse_input_from_string(parameters);
    dealii::ParameterAcceptor::parse_all_parameters(prm);
    mesh_parameters.generator = generated.generator;
    mesh_parameters.arguments = generated.arguments;
    mesh_parameters.cells = generated.cells;
    mesh = make_mesh<dim>(mesh_parameters, MPI_COMM_WORLD);
    problem = physics->make<dim>(mesh.regions);
  }

  /// Clears the declared parameters and their values.
  struct ClearedParameters
  {
    ClearedParameters()
    {
      dealii::ParameterAcceptor::clear();
    }
  };

  ClearedParameters cleared;
  MeshParameters mesh_parameters;
  DiscretizationParameters discretization_parameters;
  std::unique_ptr<Physics> physics;
  Mesh<dim> mesh;
  std::unique_ptr<Problem<dim>> problem;
};

/// A problem on the unit square, whose sides have the ids 0 to 3.
using UnitSquare = PhysicsOnMesh<2>;
} // namespace femgpu

#endif
