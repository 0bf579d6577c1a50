#ifndef femgpu_app_convergence_h
#define femgpu_app_convergence_h

#include "app/cycle_record.h"
#include "app/table_texts.h"

#include <map>
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
  bool is_by_dofs = false; ///< s of error ~ dofs^-s, else the order in h
  bool is_exact = false;   ///< the error is at the level of rounding
  bool holds = false;
};

/**
 * Order q of the error between a cycle and the one before, error ~ h^q: with h ~ cells^(-1/dim),
 * and after adaptive refinement with dofs^(-1/dim) for h.
 */
std::optional<double> observed_order(const StudyRecord &study, std::size_t cycle,
                                     double ErrorNorms::*norm);

/// The same of the estimated error.
std::optional<double> estimated_order(const StudyRecord &study, std::size_t cycle);

/**
 * After global refinement the order of the last two cycles against p+1 in L2 and p in H1, within
 * 0.1 below. After adaptive refinement s of error ~ dofs^-s in H1 against p/dim, within 0.1/dim
 * below, by least squares over the later half of the cycles, if these are three or more. Empty if
 * there are no errors or fewer cycles.
 */
std::vector<Verdict> verdicts(const StudyRecord &study);

/// A norm of the error, with its name in tables.
struct NamedNorm
{
  const char *name;
  double ErrorNorms::*norm;
};
constexpr NamedNorm error_norms[] = {
    {"L2", &ErrorNorms::L2}, {"H1", &ErrorNorms::H1}, {"Linf", &ErrorNorms::Linf}};

/// Adds to a line of @p table what is known of every cycle: its size, and how its system was
/// solved.
void add_cycle(const CycleRecord &cycle, const Escape &escape, dealii::ConvergenceTable &table);

/// The table for people: a line for each cycle, errors with their orders; below it verdicts and
/// extrapolations.
TableTexts convergence_table(const StudyRecord &study);

/// A sentence for each verdict.
std::string to_string(const Verdict &verdict);

/// The columns of the table for machines, of one study or of several together.
std::vector<std::string> csv_columns(const std::vector<const StudyRecord *> &studies);

/// What a line of that table has, by column.
std::map<std::string, std::string> csv_values(const StudyRecord &study, const CycleRecord &cycle);

/// The table for machines: all columns, numbers in full, comma-separated with a header.
std::string convergence_csv(const StudyRecord &study);

/// Residual histories: cycle, iteration, residual.
std::string history_csv(const StudyRecord &study);
} // namespace femgpu

#endif
