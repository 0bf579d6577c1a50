#ifndef femgpu_app_discretisation_error_h
#define femgpu_app_discretisation_error_h

#include "app/cycle_record.h"

#include <cstddef>
#include <optional>

namespace femgpu
{
/**
 * The discretisation error ‖u − u_h‖ in the energy norm that the next cycle will have, from the
 * energies E = a(u_h, u_h)/2 − l(u_h) of those before: on nested spaces ‖u − u_h‖² = 2 (E − E_∞).
 *
 * - After three cycles of global refinement E_∞ is Richardson's (extrapolation.h), and the error
 *   falls on as it did.
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
