#include "physics/system_vectors.h"

#include <deal.II/base/mpi.h>

#include <cmath>
#include <vector>

namespace femgpu
{
void set_initial_guess(const FeVector &u, const dealii::AffineConstraints<double> &constraints,
                       linalg::GroupSystem &system)
{
  const auto first = system.first_owned();
  for (linalg::GroupSystem::Index i = 0; i < system.n_owned(); ++i)
    system.solution()[i] = constraints.is_constrained(first + i) ? 0. : u(first + i);
}

void get_solution(const linalg::GroupSystem &system,
                  const dealii::AffineConstraints<double> &constraints, FeVector &u)
{
  const double *const x = system.solution();
  u.zero_out_ghost_values();
  for (std::size_t i = 0; i < system.n_owned(); ++i)
    u.local_element(static_cast<unsigned int>(i)) = x[i];
  constraints.distribute(u);
  u.update_ghost_values();
}

double scale_to_energy(linalg::GroupSystem &system)
{
  const std::vector<double> Ax = system.vmult();
  const double *const b = system.rhs();
  double *const x = system.solution();
  double bx = 0., xAx = 0.;
  for (std::size_t i = 0; i < Ax.size(); ++i) {
    bx += b[i] * x[i];
    xAx += x[i] * Ax[i];
  }
  bx = dealii::Utilities::MPI::sum(bx, system.communicator());
  xAx = dealii::Utilities::MPI::sum(xAx, system.communicator());
  const double theta = xAx > 0. ? bx / xAx : 1.;
  double rr = 0.;
  for (std::size_t i = 0; i < Ax.size(); ++i) {
    x[i] *= theta;
    const double r_i = b[i] - theta * Ax[i];
    rr += r_i * r_i;
  }
  return std::sqrt(dealii::Utilities::MPI::sum(rr, system.communicator()));
}
} // namespace femgpu
