#include "physics/system_vectors.h"

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
} // namespace femgpu
