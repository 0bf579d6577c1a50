#include "app/cycle_print.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace femgpu
{
namespace
{
std::string transfer_text(const linalg::Transfer &transfer)
{
  std::ostringstream text;
  text << std::setprecision(3) << "  transfer: " << 1e-6 * static_cast<double>(transfer.bytes)
       << " MB at " << transfer.gigabytes_per_second() << " GB/s, " << transfer.overlapped_seconds
       << " s of it during the assembly";
  return text.str();
}
} // namespace

std::string cycle_line(const CycleRecord &record)
{
  const linalg::SolveReport &report = record.solve.report;
  std::ostringstream line;
  line << std::setprecision(3) << "cycle " << record.cycle << ": " << record.cells << " cells, "
       << record.dofs << " dofs, " << linalg::to_string(report.outcome) << ", ";
  if (record.solve.nonlinear_iterations > 0)
    line << record.solve.nonlinear_iterations << " nonlinear iterations, ";
  if (record.solve.linear_iterations > 0 || record.solve.nonlinear_iterations == 0)
    line << record.solve.linear_iterations << " linear iterations, ";
  line << "residual " << std::scientific << report.true_residual;
  if (record.errors)
    line << ", errors L2 " << record.errors->L2 << " H1 " << record.errors->H1 << " Linf "
         << record.errors->Linf;
  if (record.estimate)
    line << ", estimated error " << record.estimate->error;
  const std::size_t shown = std::min(record.quantities.size(), quantities_in_a_line);
  for (std::size_t i = 0; i < shown; ++i)
    line << ", " << record.quantities[i].name << ' ' << std::defaultfloat << std::setprecision(8)
         << record.quantities[i].value;
  if (shown < record.quantities.size())
    line << ", and " << record.quantities.size() - shown << " more quantities";
  line << std::defaultfloat << std::setprecision(3) << ", " << record.total_seconds << " s";
  return line.str();
}

std::string cycle_details(const CycleRecord &record)
{
  std::ostringstream text;
  text << "  " << record.solve.report.message << '\n' << std::setprecision(3) << "  seconds:";
  for (const std::string &phase : phase_names())
    if (const auto entry = record.seconds.find(phase); entry != record.seconds.end())
      text << ' ' << phase << ' ' << entry->second;
  text << '\n' << transfer_text(record.solve.report.costs.transfer);
  return text.str();
}
} // namespace femgpu
