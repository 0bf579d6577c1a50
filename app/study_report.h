#ifndef femgpu_app_study_report_h
#define femgpu_app_study_report_h

#include "app/cycle_record.h"
#include "app/parameters.h"
#include "app/table.h"
#include "common/version.h"

#include <deal.II/base/config.h>

#include <cstddef>
#include <string>
#include <vector>

/**
 * @file
 * Reports of a study for the console and for files; docs/summary.md describes the machine-readable
 * files.
 */
namespace femgpu
{
inline const LibraryVersions library_versions = {{"deal.II", DEAL_II_PACKAGE_VERSION}};

/// The maximum number of quantities that cycle_line() shows. If there are more, it shows only the
/// number of the others; the table shows all.
constexpr std::size_t max_quantities_per_line = 6;

/// Returns the one-line report of a cycle.
std::string cycle_line(const CycleRecord &record);

/// Returns the message that a study stops because the error of @p record has reached the target.
std::string target_reached_text(const CycleRecord &record, const StudyParameters &study);

/// Returns the details that --verbose adds: the outcome of the solve, seconds by phase, transfers.
std::string cycle_details(const CycleRecord &record);

/// Describes a solver group: "ranks 0 to 3 with cuda:0 (NVIDIA H200) of node12".
std::string location_text(const linalg::GroupSolver::Location &location);

/// Describes a single group by its device, "cuda:0 (NVIDIA H200)", and several by location_text().
std::string locations_text(const std::vector<linalg::GroupSolver::Location> &groups);

/// Describes the ranks, the method and the groups: "2 ranks; solving with pipelined-cg on host".
std::string method_text(const StudyRecord &study, const std::string &method);

/// Returns the columns of a formatted table that show the problem size and the solve of a cycle.
Row solve_row(const CycleRecord &cycle);

/// Returns the formatted table: one row per cycle with errors and their orders, followed by
/// quantities, the comparison of orders with theory (verdicts()), and extrapolations.
TableTexts convergence_table(const StudyRecord &study);

/// Returns the row of a cycle for a CSV table: the numbers of summary.json in full precision, and
/// for each quantity its change since the previous cycle and its order of convergence.
Row csv_row(const StudyRecord &study, const CycleRecord &cycle);

/// Returns the text of convergence.csv.
std::string convergence_csv(const StudyRecord &study);

/// Returns the text of history.csv: cycle, iteration, residual.
std::string history_csv(const StudyRecord &study);

/// Returns the text of branch.csv: one line per point, in the order along the branch.
std::string branch_csv(const linalg::ContinuationReport &branch);

/// Returns the results of a study for summary.json and study.json: the cycles, the verdicts() on
/// orders of convergence, the extrapolations and the branch.
nlohmann::ordered_json results_of(const StudyRecord &study);

/// Returns the text of summary.json, with all parameters.
std::string summary_json(const StudyRecord &study);

/// Returns λ and max |u| of the first fold, if there is one, and the number of points.
std::vector<Quantity> branch_quantities(const linalg::ContinuationReport &branch);

/// Summarises @p branch as one solve, with the last point's residual and the sum of all iterations.
SolveSummary branch_summary(const linalg::ContinuationReport &branch, const std::string &method);

/// Describes a point of a branch: "fold at lambda 6.8081, max |u| 1.3916, after 3 linear
/// iterations".
std::string to_string(const linalg::BranchRecord &record);
} // namespace femgpu

#endif
