#ifndef femgpu_app_study_report_h
#define femgpu_app_study_report_h

#include "app/cycle_record.h"
#include "app/table.h"
#include "common/version.h"

#include <deal.II/base/config.h>

#include <cstddef>
#include <string>
#include <vector>

/**
 * @file
 * What is told of a study, on the console and in files; docs/summary.md describes those for
 * machines.
 */
namespace femgpu
{
inline const LibraryVersions library_versions = {{"deal.II", DEAL_II_PACKAGE_VERSION}};

/// Of more quantities than these the line of a cycle has the number only; the table has them all.
constexpr std::size_t quantities_in_a_line = 6;

/// What everybody reads of a cycle: one line.
std::string cycle_line(const CycleRecord &record);

/// What --verbose adds: how the solve ended, seconds by phase, what was transferred.
std::string cycle_details(const CycleRecord &record);

/// "ranks 0 to 3 with cuda:0 (NVIDIA H200) of node12"
std::string place_text(const linalg::GroupSolver::Place &place);

/// "cuda:0 (NVIDIA H200)", or where each of several groups solves.
std::string places_text(const std::vector<linalg::GroupSolver::Place> &groups);

/// For a table for people: the size of a cycle, and how its system was solved.
Row solve_row(const CycleRecord &cycle);

/// The table for people: a line for each cycle, errors with their orders; below it quantities,
/// verdicts and extrapolations.
TableTexts convergence_table(const StudyRecord &study);

/// For a table for machines: numbers of summary.json in full, and the changes of quantities.
Row csv_row(const StudyRecord &study, const CycleRecord &cycle);

/// The text of convergence.csv.
std::string convergence_csv(const StudyRecord &study);

/// The text of history.csv: cycle, iteration, residual.
std::string history_csv(const StudyRecord &study);

/// The points as a table for machines: a line for each in the order along the branch.
std::string branch_csv(const linalg::ContinuationReport &branch);

/// What a study has found, for summary.json and study.json: cycles, and what follows from all.
nlohmann::ordered_json results_of(const StudyRecord &study);

/// The text of summary.json, with the parameters as they were read.
std::string summary_json(const StudyRecord &study);

/// λ and max u of the first fold, if there is one, and the number of points.
std::vector<Quantity> branch_quantities(const linalg::ContinuationReport &branch);

/// The branch as the solve of a cycle: its last point, and all iterations.
SolveSummary branch_summary(const linalg::ContinuationReport &branch, const std::string &method);

/// "fold at lambda 6.8081, max |u| 1.3916, after 3 linear iterations": for people.
std::string to_string(const linalg::BranchRecord &record);
} // namespace femgpu

#endif
