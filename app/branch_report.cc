#include "app/branch_report.h"

#include "common/report_values.h"

#include <sstream>

namespace femgpu
{
using linalg::BranchRecord;
using Json = nlohmann::ordered_json;

std::string branch_csv(const linalg::ContinuationReport &branch)
{
  std::ostringstream text;
  text.precision(17);
  text << "index,kind,branch,arclength,lambda,lambda_dot,max_u,rms_u,residual,residual_target,"
          "corrections,linear_iterations\n";
  for (const BranchRecord &r : branch.records)
    text << r.index << ',' << linalg::to_string(r.kind) << ',' << linalg::branch_name(r.folds)
         << ',' << r.arclength << ',' << r.lambda << ',' << r.lambda_dot << ',' << r.largest_u
         << ',' << r.norm << ',' << r.residual << ',' << r.residual_target << ',' << r.corrections
         << ',' << r.linear_iterations << '\n';
  return text.str();
}

Json branch_values(const linalg::ContinuationReport &branch)
{
  Json values;
  add_members<linalg::BranchCounts>(values, branch);
  values["folds"] = Json::array();
  values["targets"] = Json::array();
  for (const BranchRecord &r : branch.records) {
    Json point = {{"lambda", r.lambda},
                  {"max_u", r.largest_u},
                  {"branch", linalg::branch_name(r.folds)},
                  {"arclength", r.arclength}};
    if (r.kind == BranchRecord::Kind::fold)
      values["folds"].push_back(point);
    if (r.kind == BranchRecord::Kind::target)
      values["targets"].push_back(point);
  }
  return values;
}

std::vector<Quantity> branch_quantities(const linalg::ContinuationReport &branch)
{
  std::vector<Quantity> quantities = {{"points", static_cast<double>(branch.points)}};
  for (const BranchRecord &r : branch.records)
    if (r.kind == BranchRecord::Kind::fold) {
      quantities.push_back({"fold lambda", r.lambda});
      quantities.push_back({"fold max u", r.largest_u});
      break;
    }
  return quantities;
}

SolveSummary branch_summary(const linalg::ContinuationReport &branch, const std::string &method)
{
  SolveSummary summary;
  linalg::SolveReport &report = summary.report;
  report.outcome = branch.outcome;
  report.message = branch.message;
  report.method.solver = method;
  report.method.communicator = branch.communicator;
  report.costs = branch.costs;
  report.iterations = branch.corrections;
  report.method.norm = "‖b + λ W φ(u) − A u‖";
  if (!branch.records.empty()) {
    report.true_residual = report.given.residual = branch.records.back().residual;
    report.target = branch.records.back().residual_target;
  }
  summary.nonlinear_iterations = branch.corrections;
  summary.linear_iterations = branch.linear_iterations;
  return summary;
}

std::string to_string(const BranchRecord &record)
{
  std::ostringstream text;
  text.precision(8);
  text << linalg::to_string(record.kind) << ' ' << record.index << ": lambda " << record.lambda
       << ", max |u| " << record.largest_u << ", " << linalg::branch_name(record.folds)
       << ", arclength " << record.arclength << ", " << record.corrections << " corrections, "
       << record.linear_iterations << " linear iterations";
  return text.str();
}
} // namespace femgpu
