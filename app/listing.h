#ifndef femgpu_app_listing_h
#define femgpu_app_listing_h

#include "linalg/dealii/group_solver.h"

#include <string>

namespace femgpu
{
/// What `--list` prints: everything that parameters can name, and the devices that are there.
std::string listing();

/// Of several ranks also their solver groups where parameters say nothing of these. Collective.
/// @throws as SolverGroups and GroupSolver
std::string listing_of_groups(MPI_Comm ranks);

/// "ranks 0 to 3 with cuda:0 (NVIDIA H200) of node12"
std::string place_text(const linalg::GroupSolver::Place &place);
} // namespace femgpu

#endif
