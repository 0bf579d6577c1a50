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
  bool changes_system = true;     ///< scales, so that reports contain norms of the scaled system
  bool preserves_symmetry = true; ///< Â is symmetric if A is
  bool permutes_rows =
      false; ///< the row order, and so the pattern of Â, depends on the values of A
  bool uses_int_offsets = false; ///< counts entries by int: A may have at most max_indices entries
};

extern const Registry<ScalingTraits, Scaling(const HostCsr &, const RowSpace &)> scalings;

struct OrderingTraits
{
  bool preserves_order = false;  ///< never reorders any system
  bool uses_int_offsets = false; ///< counts entries by int: A may have at most max_indices entries
};

/// Computes an ordering as a Partition, whose starts are empty if the ordering has no parts.
using OrderingFunction = std::function<Partition(const HostCsr &)>;

/// All orderings by name. make() also throws a ParameterError if this build lacks a library that
/// the ordering needs.
extern const Registry<OrderingTraits, OrderingFunction(Method &)> orderings;
} // namespace femgpu::linalg

#endif
