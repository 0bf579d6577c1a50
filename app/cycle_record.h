#ifndef femgpu_app_cycle_record_h
#define femgpu_app_cycle_record_h

#include "linalg/dealii/group_solver.h"
#include "linalg/nonlinear/continuation_options.h"
#include "physics/results.h"
#include "physics/time/step_record.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// Relative level of rounding and solver errors. Smaller errors and differences are ignored.
inline constexpr double rounding_level = 1e-11;

/// The phases of a cycle, in order.
inline const std::vector<std::string> phase_names = {
    "grid", "dofs", "pattern", "assembly", "transfer", "setup", "solve", "estimate", "output"};

/// The discretisation error of a cycle in the energy norm, predicted before its solve.
struct PredictedError
{
  double error = 0.;
  double tolerance = 0.; ///< tolerance of the solve, a fraction of the error
  std::string source;    ///< how the error was predicted
};

/// The reported data of a transient solution at one time.
struct TimePoint
{
  unsigned int output = 0; ///< number of the output in the cycle
  std::size_t step = 0;    ///< accepted steps until then
  double t = 0.;
  std::vector<Quantity> quantities;
  std::optional<ErrorNorms> errors;
};

/// The steps and outputs of a transient analysis.
struct TimeHistory
{
  std::vector<StepRecord> steps; ///< accepted and rejected
  std::vector<TimePoint> points;
};

/// The reported data of one cycle.
struct CycleRecord
{
  unsigned int cycle = 0;
  std::size_t cells = 0;
  std::size_t dofs = 0;
  std::size_t nonzeros = 0;
  double h = 0.; ///< largest diameter of a cell
  SolveSummary solve;
  std::optional<ErrorNorms> errors;
  std::optional<SolutionNorms> norms; ///< empty if there is an exact solution
  std::optional<ErrorEstimate> estimate;
  std::optional<double> energy; ///< a(u, u)/2 - l(u); set if solves stop at energy errors
  std::optional<PredictedError> predicted; ///< empty if solves stop at the residual
  std::vector<Quantity> quantities;        ///< at the end time of a transient analysis
  std::optional<TimeHistory> history;      ///< of a transient analysis

  std::map<std::string, double> seconds; ///< seconds by phase
  double total_seconds = 0.;

  /// Returns the relative error in @p norm: "estimate", "L2" or "H1". @pre this error is available
  double relative_error(const std::string &norm) const
  {
    return norm == "estimate" ? estimate->relative()
           : norm == "L2"     ? errors->L2 / errors->exact_L2
                              : errors->H1 / errors->exact_H1;
  }

  /// Returns the seconds spent in @p phase; 0 if it was not reached.
  double seconds_of(const std::string &phase) const
  {
    const auto entry = seconds.find(phase);
    return entry == seconds.end() ? 0. : entry->second;
  }
};

/// The reported data of a study.
struct StudyRecord
{
  int dimension = 2;
  std::string physics;
  std::string hypothesis;                 ///< Problem::hypothesis(), such as "plane stress"
  std::string element;                    ///< deal.II's name of the element: "FE_Q<2>(1)"
  std::string boundary_ids, material_ids; ///< ids in the mesh, as text: "0, 1 (inlet)"
  std::string mesh_origin;                ///< Mesh::origin
  /// Whether the cycles differ otherwise than by global refinement, which halves all cells.
  bool is_adaptive = false;
  unsigned int degree = 1;
  unsigned int n_ranks = 1;
  std::vector<linalg::GroupSolver::Location> groups; ///< location of each solver group
  std::vector<std::size_t> rows_of_groups;           ///< rows of each group in the last cycle
  std::vector<CycleRecord> cycles;
  bool is_finished = false; ///< is the last cycle done, with all files written?
  /// "cycles", "target_error", "nothing_to_refine", "maximum_dofs" or "not_converged".
  std::string stop_reason;
  std::optional<linalg::ContinuationReport> branch; ///< branch traced in the study's only cycle
  std::size_t peak_host_bytes = 0;                  ///< resident memory, summed over the ranks
  std::size_t peak_device_bytes = 0;
  std::vector<std::string> warnings;        ///< reasons why results may be wrong
  std::map<std::string, std::string> units; ///< unit by field name, and unit of "length"
  std::vector<std::string> files;           ///< files written, relative to the output directory
  double total_seconds = 0.;

  bool converged() const
  {
    return !cycles.empty() && cycles.back().solve.report.converged();
  }
  /// Returns the message of the last solve: how it ended, and the usual remedy.
  const std::string &failure_message() const
  {
    return cycles.back().solve.report.message;
  }
};
} // namespace femgpu

#endif
