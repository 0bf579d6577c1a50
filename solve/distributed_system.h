#ifndef femgpu_solve_distributed_system_h
#define femgpu_solve_distributed_system_h

#include "linalg/mpi/distribution.h"
#include "linalg/transformations/linear_system_transformation.h"
#include "solve/run.h"
#include "solve/system.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// A system distributed over ranks. If the first rank has the whole system, it reorders the system
/// and distributes the rows.
class DistributedSystem
{
public:
  DistributedSystem(SystemToSolve &system, const std::string &ordering, MPI_Comm ranks)
      : system(system), order("none", ordering), ranks(ranks)
  {}

  void distribute()
  {
    if (system.is_distributed)
      rows.emplace(ranks, std::exchange(system.A, {}));
    else
      rows.emplace(ranks, system.A.n > 0 ? order.setup(system.A.csr())
                                         : system.A.csr()); // empty on other ranks
  }
  const linalg::LocalMatrix &matrix() const
  {
    return rows->matrix();
  }
  /// Reorders a vector that the first rank has and distributes it.
  std::vector<double> scatter(const std::vector<double> &v) const
  {
    if (system.is_distributed)
      return v;
    std::vector<double> ordered(v.size());
    if (!v.empty())
      order.transform_rhs(v.data(), ordered.data());
    return rows->scatter(ordered);
  }
  std::vector<double> gather(const std::vector<double> &own) const
  {
    std::vector<double> ordered = rows->gather(own);
    if (system.is_distributed)
      return ordered;
    std::vector<double> v(ordered.size());
    if (!v.empty())
      order.restore_solution(ordered.data(), v.data());
    return v;
  }
  DistributionRecord record() const
  {
    int n_ranks = 1;
    MPI_Comm_size(ranks, &n_ranks);
    const linalg::Distribution::Range of_rows = rows->range_of(rows->n()),
                                      of_ghosts = rows->range_of(rows->matrix().ghosts.n_ghosts());
    return {n_ranks, {of_rows.minimum, of_rows.maximum}, {of_ghosts.minimum, of_ghosts.maximum}};
  }

private:
  SystemToSolve &system;
  linalg::LinearSystemTransformation order;
  MPI_Comm ranks;
  std::optional<linalg::Distribution> rows;
};
} // namespace femgpu

#endif
