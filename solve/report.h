#ifndef femgpu_solve_report_h
#define femgpu_solve_report_h

#include "solve/batch.h"
#include "solve/run.h"

#include <string>

namespace femgpu
{
/// What a person reads.
std::string report_text(const SolveCommand &command, const SystemToSolve &system,
                        const SolveRecord &record);

std::string report_text(const SolveCommand &command, const SystemToSolve &system,
                        const BatchRecord &record);

/// What machines read, with the history; docs/summary.md describes it.
std::string report_json(const SolveCommand &command, const SystemToSolve &system,
                        const SolveRecord &record);

std::string report_json(const SolveCommand &command, const SystemToSolve &system,
                        const BatchRecord &record);

/// "iteration,residual" and a line for each.
std::string history_csv(const SolveRecord &record);
} // namespace femgpu

#endif
