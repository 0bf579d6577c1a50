#include "app/listing.h"

#include "common/listing.h"
#include "linalg/expressions/expression_parser.h"
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
         listing_of("Functions of expressions", linalg::expression_functions()) +
         listing_of_generators() + listing_of_backends("Solver/Backend");
}

std::string listing_of_groups(MPI_Comm ranks)
{
  const linalg::SolverGroups groups(ranks, "auto", "auto", "auto");
  const linalg::GroupSolver solver(groups, 0,
                                   linalg::GroupSolverOptions(linalg::LinearSolverOptions()));
  std::string text =
      "\nSolver groups of these ranks, with Solver/Backend and Solver/Devices auto\n";
  for (const auto &place : solver.places())
    text += "  " + place_text(place) + '\n';
  return text;
}

std::string place_text(const linalg::GroupSolver::Place &place)
{
  const std::string first = std::to_string(place.first_rank),
                    last = std::to_string(place.last_rank);
  return (first == last ? "rank " + first : "ranks " + first + " to " + last) + " with " +
         place.backend + " (" + place.description + ") of " + place.node;
}
} // namespace femgpu
