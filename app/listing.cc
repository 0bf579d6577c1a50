#include "app/listing.h"

#include "common/listing.h"
#include "linalg/dealii/group_solver.h"
#include "linalg/matrices/registry.h"
#include "linalg/mpi/communicators.h"
#include "linalg/nonlinear/registry.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/transformations/registry.h"
#include "physics/mesh/mesh_generator.h"
#include "physics/registry.h"

namespace femgpu
{
namespace
{
std::string listing_of_generators()
{
  constexpr std::size_t width = 88;
  std::string text = "Mesh/Generator\n ";
  std::size_t column = 0;
  for (const std::string &name : generator_names()) {
    if (column + name.size() > width) {
      text += "\n ";
      column = 0;
    }
    text += ' ' + name;
    column += name.size() + 1;
  }
  return text + "\n\n";
}
} // namespace

std::string listing()
{
  return listing_of("Physics", all_physics.choices()) +
         listing_of("Solver/Solver", linalg::group_solver_choices()) +
         listing_of("Solver/Preconditioner", linalg::preconditioner_choices()) +
         listing_of("Solver/Format", linalg::formats.choices()) +
         listing_of("Solver/Communicator", linalg::communicator_choices()) +
         listing_of("Solver/Scaling", linalg::scalings.choices()) +
         listing_of("Solver/Ordering", linalg::orderings.choices()) +
         listing_of("Nonlinear/Method", linalg::nonlinear_methods.choices()) +
         listing_of_generators() + listing_of_backends("Solver/Backend");
}
} // namespace femgpu
