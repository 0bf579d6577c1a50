#ifndef femgpu_app_driver_h
#define femgpu_app_driver_h

#include "app/cycle_record.h"
#include "app/parameters.h"
#include "app/solution_output.h"
#include "common/console.h"
#include "linalg/base/timing.h"
#include "physics/measurements/measurements.h"
#include "physics/solve.h"
#include "physics/time/stage_solver.h"

#include <deal.II/lac/vector.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * The drivers of the analyses. A study makes the mesh of each cycle, its dofs and the pattern of
 * its matrix; then the driver of Parameters::run::analysis solves on this mesh, writes the
 * solutions, and completes the record.
 */
namespace femgpu
{
/// The state from which a driver continues on the present mesh.
struct DriverState
{
  std::string scalars;             ///< by packed() of record_archive.h
  std::vector<FeVector> functions; ///< with ghost values
};

/// The problem on the mesh of a cycle, and where its results go.
template <int dim>
struct Cycle
{
  const Parameters &parameters;
  MPI_Comm communicator;
  Console &console;
  Problem<dim> &problem;
  Discretization<dim> &discretization; ///< with dofs and constraints
  WritableClock clock;                 ///< nullptr unless the analysis is transient
  ProblemSolver<dim> &solver;
  std::unique_ptr<linalg::GroupSystem> system; ///< with the pattern; a driver may free it
  FeVector &u; ///< the initial guess; on return the solution, with ghost values
  Measurements<dim> &measurements;
  SolutionOutput<dim> &output;
  StudyRecord &study; ///< without this cycle
  CycleRecord &record;
  Stopwatch &watch; ///< measures the phases
  dealii::Vector<float> &indicators;
  /// Collective. Writes the tables of the study with the present state of this cycle.
  std::function<void()> save = {};
  /// Collective. Refines and coarsens the mesh by the indicators, interpolates functions to the new
  /// mesh, without constraints applied, and makes the pattern of `system`.
  std::function<void(const std::vector<FeVector *> &)> adapt = {};
  std::optional<DriverState> restored = {}; ///< the state from which the driver continues its cycle
  /// Collective. Counts a step. Returns whether to write a checkpoint after it.
  std::function<bool()> is_checkpoint_due = {};
  /// Collective. Writes a checkpoint with the state of the driver. May make the mesh and `system`
  /// anew; then reads the state again. A run that continues from the checkpoint gets the same bits
  /// if the driver afterwards makes everything anew but its state.
  std::function<void(DriverState &)> checkpoint = {};
};

/// Solves a stationary problem.
template <int dim>
void solve_stationary(Cycle<dim> &cycle);

/// Traces a branch of solutions (Section "Continuation").
template <int dim>
void trace_branch(Cycle<dim> &cycle);

/// Integrates a transient problem in time (Section "Time").
template <int dim>
void integrate_in_time(Cycle<dim> &cycle);

/// Collective. Stores the estimated error, the errors and the quantities of @p solution in the
/// record of @p cycle. @return the measurements of the solution
template <int dim>
MeasuredValues evaluate_solution(Cycle<dim> &cycle, DiscreteSolution<dim> &solution);
} // namespace femgpu

#endif
