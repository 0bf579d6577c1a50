#ifndef femgpu_app_branch_report_h
#define femgpu_app_branch_report_h

#include "linalg/nonlinear/continuation_options.h"
#include "physics/results.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/**
 * @file
 * What is told of a branch of solutions.
 */
namespace femgpu
{
/// The points as a table for machines: a line for each in the order along the branch.
std::string branch_csv(const linalg::ContinuationReport &branch);

/// For summary.json: counts, folds and targets.
nlohmann::ordered_json branch_values(const linalg::ContinuationReport &branch);

/// λ and max u of the first fold, if there is one, and the number of points.
std::vector<Quantity> branch_quantities(const linalg::ContinuationReport &branch);

/// The branch as the solve of a cycle: its last point, and all iterations.
SolveSummary branch_summary(const linalg::ContinuationReport &branch, const std::string &method);

/// "fold at lambda 6.8081, max |u| 1.3916, after 3 linear iterations": for people.
std::string to_string(const linalg::BranchRecord &record);
} // namespace femgpu

#endif
