#ifndef femgpu_common_report_values_h
#define femgpu_common_report_values_h

#include "linalg/solvers/report.h"

#include <nlohmann/json.hpp>

namespace femgpu
{
/**
 * Outcome, method and numbers of a solve, for machines: docs/summary.md describes them. All but
 * iterations, seconds and history, which each program counts in its own way.
 */
nlohmann::ordered_json report_values(const linalg::SolveReport &report);

/// null for a negative number, which stands for what is not known.
nlohmann::ordered_json known(double value);
} // namespace femgpu

#endif
