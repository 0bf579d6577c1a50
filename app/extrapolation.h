#ifndef femgpu_app_extrapolation_h
#define femgpu_app_extrapolation_h

#include "app/cycle_record.h"

#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/**
 * The limit of a number under global refinement, by Richardson's extrapolation (1911): from the
 * values v0, v1, v2 of the last three cycles
 *   2^q = (v0 - v1) / (v1 - v2),   v = v2 + (v2 - v1) / (2^q - 1).
 */
struct Extrapolation
{
  std::string name;
  double last = 0.;                     ///< value in the last cycle
  std::optional<double> value;          ///< v; nothing if it cannot be told
  std::optional<double> order;          ///< q, where the three differ
  std::optional<double> relative_error; ///< of the last cycle: |v - v2| / |v|
  std::string obstacle;                 ///< why there is no value
};

/// Of one number with the values @p v0, @p v1, @p v2. @param degree of the elements
Extrapolation extrapolate(const std::string &name, double v0, double v1, double v2,
                          unsigned int degree);

/**
 * Of all quantities, and of the norms of a solution that is not known exactly. Empty for adaptive
 * refinement, or fewer than three cycles that converged.
 */
std::vector<Extrapolation> extrapolations(const StudyRecord &study);

/// A sentence for the user.
std::string to_string(const Extrapolation &extrapolation);
} // namespace femgpu

#endif
