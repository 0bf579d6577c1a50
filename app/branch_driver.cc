#include "app/driver.h"
#include "app/record_archive.h"
#include "app/study_report.h"
#include "physics/extrema.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace femgpu
{
namespace
{
/// The part of a checkpoint of a branch besides u and the tangent.
struct BranchScalars
{
  linalg::BranchState state;
  std::vector<double> largest; ///< the largest |u| at each point
};

template <class Archive>
void serialize(Archive &archive, BranchScalars &scalars, const unsigned int /* version */)
{
  auto &[state, largest] = scalars;
  archive &state &state.records &largest;
}
} // namespace

template <int dim>
void trace_branch(Cycle<dim> &cycle)
{
  Console &console = cycle.console;
  const unsigned int vtu_interval =
      cycle.parameters.output.write_vtu ? cycle.parameters.continuation.vtu_interval : 0;
  std::optional<BranchStart> from;
  std::vector<double> largest; // largest |u| at each point; the solver knows nodal values only
  if (cycle.restored) {
    auto &functions = cycle.restored->functions;
    auto scalars = unpacked<BranchScalars>(cycle.restored->scalars);
    cycle.u.swap(functions[0]);
    from = {std::move(scalars.state), std::move(functions[1])};
    largest = std::move(scalars.largest);
  }
  const auto on_point = [&](linalg::BranchRecord point, const FeVector &values) {
    DiscreteSolution<dim> solution(cycle.problem, cycle.discretization, values);
    const auto index = static_cast<unsigned int>(point.index);
    const bool is_special = point.kind != linalg::BranchRecord::Kind::point;
    const double at_nodes = values.linfty_norm();
    point.largest_u =
        largest_value(cycle.discretization, values, {Objective::length, 1.}, at_nodes, at_nodes);
    largest.push_back(point.largest_u);
    if (is_special)
      console.print(to_string(point));
    else
      console.detail(to_string(point));
    if (vtu_interval > 0 && (is_special || index % vtu_interval == 0))
      cycle.output.write(index, point.arclength, solution, cycle.indicators,
                         /* has converged */ true);
  };
  const auto on_state = [&](BranchStart start) {
    if (!cycle.is_checkpoint_due())
      return;
    const BranchScalars scalars = {start.state, largest};
    DriverState state = {packed(scalars), {cycle.u, std::move(start.tangent)}};
    cycle.checkpoint(state);
  };
  linalg::ContinuationReport branch =
      cycle.solver.trace(cycle.discretization, *cycle.system, cycle.u, cycle.record.seconds,
                         on_point, on_state, from ? &*from : nullptr);
  for (std::size_t k = 0; k < largest.size(); ++k)
    branch.records[k].largest_u = largest[k];
  cycle.record.solve = branch_summary(branch, cycle.solver.method());
  cycle.record.quantities = branch_quantities(branch);
  cycle.study.branch = std::move(branch);
}

template void trace_branch(Cycle<2> &);
template void trace_branch(Cycle<3> &);
} // namespace femgpu
