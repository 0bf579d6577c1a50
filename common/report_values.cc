#include "common/report_values.h"

namespace femgpu
{
nlohmann::ordered_json report_values(const linalg::SolveReport &report)
{
  nlohmann::ordered_json values;
  add_members<linalg::SolveResult>(values, report);
  add_members<linalg::MethodReport>(values, report.method);
  add_members<linalg::OriginalNorms>(values, report.original);
  add_members<linalg::Transfer>(values["transfer"], report.costs.transfer);
  values["setup_bytes_to_host"] = report.costs.setup_bytes_to_host;
  add_members<linalg::Communication>(values["communication"], report.costs.communication);
  values["transfer"]["gigabytes_per_second"] = report.costs.transfer.gigabytes_per_second();
  return values;
}
} // namespace femgpu
