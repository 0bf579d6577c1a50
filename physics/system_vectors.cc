#include "physics/system_vectors.h"

#include <deal.II/base/mpi.h>

#include <cmath>
#include <vector>

namespace femgpu
{
void set_initial_guess(const FeVector &u, const dealii::AffineConstraints<double> &constraints,
                       linalg::NodeSystem &system)
{
  for (auto i = system.first_owned(); i < system.first_owned() + system.n_owned(); ++i)
    system.solution()[i] = constraints.is_constrained(i) ? 0. : u(i);
}

void get_solution(const linalg::NodeSystem &system,
                  const dealii::AffineConstraints<double> &constraints, FeVector &u)
{
  const double *x = system.solution() + system.first_owned();
  u.zero_out_ghost_values();
  for (std::size_t i = 0; i < system.n_owned(); ++i)
    u.local_element(static_cast<unsigned int>(i)) = x[i];
  constraints.distribute(u);
  u.update_ghost_values();
}

double scale_to_energy(linalg::NodeSystem &system)
{
  system.synchronize();
  const linalg::HostCsr A = system.matrix();
  const double *const b = system.rhs();
  double *const x = system.solution();
  const auto first = static_cast<int>(system.first_owned());
  const int end = first + static_cast<int>(system.n_owned());
  std::vector<double> Ax(system.n_owned());
  double bx = 0., xAx = 0.;
  for (int i = first; i < end; ++i) {
    double sum = 0.;
    for (auto k = A.row_starts[i]; k < A.row_starts[i + 1]; ++k)
      sum += A.values[k] * x[A.columns[k]];
    Ax[i - first] = sum;
    bx += b[i] * x[i];
    xAx += x[i] * sum;
  }
  bx = dealii::Utilities::MPI::sum(bx, system.communicator());
  xAx = dealii::Utilities::MPI::sum(xAx, system.communicator()); // all have read x
  const double theta = xAx > 0. ? bx / xAx : 1.;
  double rr = 0.;
  for (int i = first; i < end; ++i) {
    x[i] *= theta;
    const double r_i = b[i] - theta * Ax[i - first];
    rr += r_i * r_i;
  }
  return std::sqrt(dealii::Utilities::MPI::sum(rr, system.communicator()));
}
} // namespace femgpu
