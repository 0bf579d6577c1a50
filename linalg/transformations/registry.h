#ifndef femgpu_linalg_transformations_registry_h
#define femgpu_linalg_transformations_registry_h

#include "linalg/base/registry.h"
#include "linalg/transformations/reordering.h"
#include "linalg/transformations/scaling.h"

#include <functional>
#include <string>
#include <vector>

namespace femgpu::linalg
{
struct ScalingTraits
{
  bool changes_system = true;     ///< norms in the report are those of the scaled system
  bool preserves_symmetry = true; ///< of A
  bool permutes_rows = false;     ///< depending on their values, as does the pattern of Â
  bool uses_int_offsets = false;  ///< entries of A, see check_countable()
};

extern const Registry<ScalingTraits, Scaling(const HostCsr &, const RowSpace &)> scalings;

struct OrderingTraits
{
  bool preserves_order = false;  ///< of all systems
  bool uses_int_offsets = false; ///< entries of A, see check_countable()
};

/// Returns a Partition, without starts if the ordering has no parts.
using OrderingFunction = std::function<Partition(const HostCsr &)>;

/// Making an ordering also throws a ParameterError if this build lacks what it needs.
extern const Registry<OrderingTraits, OrderingFunction(Method &)> orderings;
} // namespace femgpu::linalg

#endif
