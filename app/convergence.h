#ifndef femgpu_app_convergence_h
#define femgpu_app_convergence_h

#include "app/cycle_record.h"

#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// Observed against expected order of convergence of one norm.
struct Verdict
{
  std::string norm; ///< "L2", "H1"
  double observed = 0.;
  double expected = 0.;
  bool is_exact = false; ///< the error is at the level of rounding
  bool holds = false;
};

/// Order of the error between two cycles: log(e0/e1) / log(h0/h1) with h ~ cells^(-1/dim).
std::optional<double> observed_order(const StudyRecord &study, std::size_t cycle,
                                     double ErrorNorms::*norm);

/**
 * The order of the last two cycles against p+1 in L2 and p in H1, within 0.1 below. Empty if there
 * are no errors, fewer than two cycles, or the refinement is adaptive.
 */
std::vector<Verdict> verdicts(const StudyRecord &study);

/// The table for people: a line for each cycle, errors with their orders.
std::string convergence_table(const StudyRecord &study);

/// A sentence for each verdict.
std::string to_string(const Verdict &verdict);

/// The table for machines: all columns, numbers in full, comma-separated with a header.
std::string convergence_csv(const StudyRecord &study);

/// Residual histories: cycle, iteration, residual.
std::string history_csv(const StudyRecord &study);
} // namespace femgpu

#endif
