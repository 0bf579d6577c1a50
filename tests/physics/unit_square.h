#ifndef femgpu_tests_physics_unit_square_h
#define femgpu_tests_physics_unit_square_h

#include "physics/mesh/mesh.h"
#include "physics/parameters.h"
#include "physics/physics.h"

#include <deal.II/base/parameter_acceptor.h>

#include <memory>
#include <string>

namespace femgpu
{
/// A physics with some parameters on the unit square, with ids 0 to 3 at its sides.
struct UnitSquare
{
  UnitSquare(const std::string &name, const std::string &parameters)
      : physics(all_physics.find(name).make())
  {
    dealii::ParameterHandler &prm = dealii::ParameterAcceptor::prm;
    prm.parse_input_from_string(parameters);
    dealii::ParameterAcceptor::parse_all_parameters(prm);
    mesh_parameters.arguments = "0 : 1 : true";
    mesh = make_mesh<2>(mesh_parameters, MPI_COMM_WORLD);
    problem = physics->make<2>(mesh.regions);
  }

  /// Forgets the parameters that are declared, and their values.
  struct Nothing
  {
    Nothing()
    {
      dealii::ParameterAcceptor::clear();
    }
  };

  Nothing nothing;
  MeshParameters mesh_parameters;
  DiscretizationParameters discretization_parameters;
  std::unique_ptr<Physics> physics;
  Mesh<2> mesh;
  std::unique_ptr<Problem<2>> problem;
};
} // namespace femgpu

#endif
