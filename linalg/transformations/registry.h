#ifndef femgpu_linalg_transformations_registry_h
#define femgpu_linalg_transformations_registry_h

#include "linalg/base/choice.h"
#include "linalg/transformations/reordering.h"
#include "linalg/transformations/scaling.h"

#include <string>
#include <vector>

/// Every scaling: X(name in parameter files, function HostCsr -> Scaling, meaning).
#define FEMGPU_SCALINGS(X)                                                                         \
  X("none", no_scaling, "the system as it is")                                                     \
  X("symmetric", symmetric_scaling,                                                                \
    "rows and columns by the square roots of the columns' 2-norms; keeps A symmetric")             \
  X("balance", balancing,                                                                          \
    "rows by their 2-norms, then columns by theirs; for unsymmetric methods only")

/// Every order of the unknowns: X(name, function HostCsr -> order, meaning).
#define FEMGPU_ORDERINGS(X)                                                                        \
  X("none", natural_ordering, "the unknowns as they come")                                         \
  X("rcm", reverse_cuthill_mckee, "reverse Cuthill-McKee: a small bandwidth")

namespace femgpu::linalg
{
using ScalingFunction = Scaling (*)(const HostCsr &);
using OrderingFunction = std::vector<int> (*)(const HostCsr &);

std::vector<Choice> scaling_choices();
std::vector<Choice> ordering_choices();

/// @throws ParameterError naming the valid ones if there is none of that @p name.
ScalingFunction find_scaling(const std::string &name);
OrderingFunction find_ordering(const std::string &name);
} // namespace femgpu::linalg

#endif
