#ifndef femgpu_solve_report_h
#define femgpu_solve_report_h

#include "solve/batch.h"
#include "solve/run.h"

#include <string>

namespace femgpu
{
/// Returns the report of a run as text.
std::string report_text(const SolveCommand &command, const SystemToSolve &system,
                        const SolveRecord &record);

std::string report_text(const SolveCommand &command, const SystemToSolve &system,
                        const BatchRecord &record);

/// Returns the report of a run as JSON (docs/summary.md), with the history of a single system.
std::string report_json(const SolveCommand &command, const SystemToSolve &system,
                        const SolveRecord &record);

std::string report_json(const SolveCommand &command, const SystemToSolve &system,
                        const BatchRecord &record);

/// Returns the residual history as CSV with the header "iteration,residual".
std::string history_csv(const SolveRecord &record);
} // namespace femgpu

#endif
