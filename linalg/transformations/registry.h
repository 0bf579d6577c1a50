#ifndef femgpu_linalg_transformations_registry_h
#define femgpu_linalg_transformations_registry_h

#include "linalg/base/choice.h"
#include "linalg/base/method.h"
#include "linalg/transformations/reordering.h"
#include "linalg/transformations/scaling.h"

#include <functional>
#include <string>
#include <vector>

/// Every scaling: X(name in parameter files, function HostCsr -> Scaling, meaning).
#define FEMGPU_SCALINGS(X)                                                                         \
  X("none", no_scaling, "the system as it is")                                                     \
  X("symmetric", symmetric_scaling,                                                                \
    "rows and columns by the square roots of the columns' 2-norms; keeps A symmetric")             \
  X("balance", balancing,                                                                          \
    "rows by their 2-norms, then columns by theirs; for unsymmetric methods only")

/// Every order of the unknowns: X(name, function Method & -> (HostCsr -> order), meaning).
#define FEMGPU_ORDERINGS(X)                                                                        \
  X("none", make_natural_ordering, "the unknowns as they come")                                    \
  X("rcm", make_reverse_cuthill_mckee, "reverse Cuthill-McKee: a small bandwidth")                 \
  X("kway", make_kway_ordering,                                                                    \
    "METIS' k-way parts one after the other: few entries between them; parts=P|auto, "             \
    "within=rcm|none for the order in a part")

namespace femgpu::linalg
{
using ScalingFunction = Scaling (*)(const HostCsr &);
using OrderingFunction = std::function<std::vector<int>(const HostCsr &)>;

#define FEMGPU_DECLARE(name, make, meaning) OrderingFunction make(Method &method);
FEMGPU_ORDERINGS(FEMGPU_DECLARE)
#undef FEMGPU_DECLARE

std::vector<Choice> scaling_choices();
std::vector<Choice> ordering_choices();

/// @throws ParameterError naming the valid ones if there is none of that @p name.
ScalingFunction find_scaling(const std::string &name);

/**
 * The order that @p method names, with its options: "kway parts=64".
 * @throws ParameterError naming the valid ones for unknown names and options, and if this program
 *         was built without what the order needs
 */
OrderingFunction find_ordering(const std::string &method);
} // namespace femgpu::linalg

#endif
