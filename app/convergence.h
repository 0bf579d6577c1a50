#ifndef femgpu_app_convergence_h
#define femgpu_app_convergence_h

#include "app/cycle_record.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * Convergence analysis over the cycles of a study: orders, limits and the predicted error of the
 * next cycle.
 */
namespace femgpu
{
/// The norms of the error and their names in tables.
constexpr std::pair<const char *, double ErrorNorms::*> error_norms[] = {
    {"L2", &ErrorNorms::L2}, {"H1", &ErrorNorms::H1}, {"Linf", &ErrorNorms::Linf}};

/**
 * Returns the order q of error ~ h^q between a cycle and the previous one, with h ~ cells^(-1/dim),
 * or h ~ dofs^(-1/dim) after adaptive refinement; nullopt if q is undefined.
 */
std::optional<double> observed_order(const StudyRecord &study, std::size_t cycle,
                                     double ErrorNorms::*norm);

/// Returns the order of the estimated error, defined as in observed_order().
std::optional<double> estimated_order(const StudyRecord &study, std::size_t cycle);

/// The observed and the expected order of convergence in one norm.
struct Verdict
{
  std::string norm; ///< "L2", "H1"
  double observed = 0.;
  double expected = 0.;
  bool is_rate_in_dofs = false; ///< are both rates s (error ~ dofs^-s), not orders in h?
  bool is_exact = false;        ///< is the error at the level of rounding?
  bool is_met = false;          ///< is the observed order as high as expected?
};

/**
 * Compares observed with expected orders. After global refinement, the order of the last two cycles
 * must be at least p+1 in L2 and p in H1, less 0.1. After adaptive refinement, s in error ~ dofs^-s
 * in H1 must be at least p/dim, less 0.1/dim; s is fitted by least squares to the second half of
 * the cycles, at least three of them. Returns an empty list if the study did not converge, or if
 * the errors or enough cycles are not available.
 */
std::vector<Verdict> verdicts(const StudyRecord &study);

/// Returns a sentence that reports @p verdict to the user.
std::string to_string(const Verdict &verdict);

/// A quantity in one cycle, and its convergence up to that cycle.
struct QuantityInCycle
{
  std::optional<double> value;      ///< q_k; empty if the cycle does not have it
  std::optional<double> difference; ///< q_k − q_(k−1); empty if the quantity has no limit
  std::optional<double> order;      ///< order of the Extrapolation from values up to q_k
};

QuantityInCycle quantity_in(const StudyRecord &study, std::size_t cycle, const Quantity &quantity);

/**
 * The limit v of a quantity under global refinement by Richardson extrapolation (1911). The law
 * v_k = v + C h_k^q is fitted to the values v1, v2, v3 of the last three cycles, each of which
 * halves h:
 *   2^q = (v2 - v1) / (v3 - v2),   v = v3 + (v3 - v2) / (2^q - 1).
 *
 * Three values determine this law, so it must be confirmed before it is used:
 * - with four or more cycles, by the previous value v0: the order of v0, v1, v2 must yield the same
 *   distance v - v3 within 25 %;
 * - with three cycles, by theory: q must be p, p + 1, 2p or 2p + 2 within 0.1, where p is the
 *   degree.
 *
 * The difference between the distances by the observed and by the confirming order is the
 * uncertainty of v. If a quantity cannot be negative, v is rejected unless it is at least its
 * uncertainty.
 */
struct Extrapolation
{
  std::string name;
  double last = 0.;                     ///< v3, the value in the last cycle
  std::optional<double> value;          ///< v; empty if the law is not confirmed
  std::optional<double> order;          ///< q; empty if changes are at the level of rounding
  std::optional<double> relative_error; ///< error of the last cycle: |v - v3| / |v|
  std::string obstacle;                 ///< why there is no value
};

/**
 * Extrapolates all quantities and, if there is no exact solution, the norms of the solution.
 * Returns an empty list after adaptive refinement, or with fewer than three converged cycles.
 */
std::vector<Extrapolation> extrapolations(const StudyRecord &study);

/// Returns a sentence that reports @p extrapolation to the user.
std::string to_string(const Extrapolation &extrapolation);

/**
 * Predicts the discretisation error ‖u − u_h‖ of the next cycle in the energy norm. The prediction
 * uses the energies E = a(u_h, u_h)/2 − l(u_h) of the previous cycles; on nested spaces
 * ‖u − u_h‖² = 2 (E − E_∞).
 *
 * - If the energies of globally refined cycles have an Extrapolation, E_∞ is its value, and E − E_∞
 *   is assumed to decrease at the order of the Extrapolation.
 * - Otherwise, if the last two cycles have estimated errors η, the effectivity index I follows from
 *   2 (E₁ − E₂) = (η₁² − η₂²)/I², which holds on nested spaces. The error is η/I.
 * - Otherwise the error follows from the last two energies and the optimal order p of elements of
 *   degree p. If the solution is not smooth, the predicted error and tolerance are too small.
 *
 * The last two methods assume that the error of the next cycle decreases as dofs^(−p/dim).
 *
 * @param n_dofs number of dofs of the next cycle
 * @return nullopt if the energies do not determine the error: in the first two cycles, if an energy
 *         has grown (possible on curved domains, whose meshes are not nested), or if all changes
 *         are at the level of rounding
 */
std::optional<PredictedError> predict_error(const StudyRecord &study, std::size_t n_dofs);
} // namespace femgpu

#endif
