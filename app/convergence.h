#ifndef femgpu_app_convergence_h
#define femgpu_app_convergence_h

#include "app/cycle_record.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * What the cycles of a study tell together: orders, limits, and the error of the cycle to come.
 */
namespace femgpu
{
/// Norms of the error, with their names in tables.
constexpr std::pair<const char *, double ErrorNorms::*> error_norms[] = {
    {"L2", &ErrorNorms::L2}, {"H1", &ErrorNorms::H1}, {"Linf", &ErrorNorms::Linf}};

/**
 * Order q of the error between a cycle and the one before, error ~ h^q: with h ~ cells^(-1/dim),
 * and after adaptive refinement with dofs^(-1/dim) for h.
 */
std::optional<double> observed_order(const StudyRecord &study, std::size_t cycle,
                                     double ErrorNorms::*norm);

/// The same of the estimated error.
std::optional<double> estimated_order(const StudyRecord &study, std::size_t cycle);

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
 * After global refinement the order of the last two cycles against p+1 in L2 and p in H1, within
 * 0.1 below. After adaptive refinement s of error ~ dofs^-s in H1 against p/dim, within 0.1/dim
 * below, by least squares over the later half of the cycles, if these are three or more. Empty if
 * there are no errors or fewer cycles.
 */
std::vector<Verdict> verdicts(const StudyRecord &study);

/// A sentence for the user.
std::string to_string(const Verdict &verdict);

/// A quantity in a cycle, and how it converges.
struct QuantityInCycle
{
  std::optional<double> value;      ///< q_k; nothing if the cycle does not have it
  std::optional<double> difference; ///< q_k − q_(k−1); nothing if the quantity has no limit
  std::optional<double> order;      ///< of the law that the values up to q_k follow, if they do
};

QuantityInCycle quantity_in(const StudyRecord &study, std::size_t cycle, const Quantity &quantity);

/**
 * The limit v of a number under global refinement, by Richardson's extrapolation (1911): the law
 * v_k = v + C h_k^q through the values v1, v2, v3 of the last three cycles, each of which halves h,
 *   2^q = (v2 - v1) / (v3 - v2),   v = v3 + (v3 - v2) / (2^q - 1).
 *
 * Three values always have such a law; it is used if something confirms it:
 * - from four cycles on the value v0 before: the order of v0, v1, v2 has to yield the same distance
 *   v - v3 within a quarter;
 * - after three cycles theory: q has to be p, p + 1, 2p or 2p + 2 within 0.1, p the degree.
 *
 * A quantity that cannot be negative has no limit that the difference of the two distances does not
 * tell from negative ones.
 */
struct Extrapolation
{
  std::string name;
  double last = 0.;                     ///< value in the last cycle
  std::optional<double> value;          ///< v; nothing if the values follow no law
  std::optional<double> order;          ///< q; nothing if changes are at the level of rounding
  std::optional<double> relative_error; ///< of the last cycle: |v - v3| / |v|
  std::string obstacle;                 ///< why there is no value
};

/**
 * The limits of all quantities, and of the norms of a solution that is not known exactly. Empty for
 * adaptive refinement, or fewer than three cycles that converged.
 */
std::vector<Extrapolation> extrapolations(const StudyRecord &study);

/// A sentence for the user.
std::string to_string(const Extrapolation &extrapolation);

/**
 * The discretisation error ‖u − u_h‖ in the energy norm that the next cycle will have, from the
 * energies E = a(u_h, u_h)/2 − l(u_h) of those before: on nested spaces ‖u − u_h‖² = 2 (E − E_∞).
 *
 * - Where the energies of globally refined cycles have an Extrapolation, E_∞ is its value, and the
 *   error continues to fall with its order.
 * - Else, where the last two cycles have estimated errors η: with nested spaces
 *   2 (E₁ − E₂) = (η₁² − η₂²)/I², so that the effectivity I is measured, and the error is η/I.
 * - Else from the last two energies, with the order p that elements of degree p have at best, which
 *   makes the error and the tolerance smaller where the solution is not smooth.
 *
 * From the last cycle to the next the last two let the error fall by (dofs)^(−p/dim) too.
 *
 * @param n_dofs of the next cycle
 * @return nothing where energies do not tell it: in the first two cycles, where an energy has
 *         grown (as on curved bodies, whose meshes are not nested, it may), or all is rounding
 */
std::optional<PredictedError> predict_error(const StudyRecord &study, std::size_t n_dofs);
} // namespace femgpu

#endif
