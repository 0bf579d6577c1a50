#ifndef femgpu_linalg_transformations_linear_system_transformation_h
#define femgpu_linalg_transformations_linear_system_transformation_h

#include "linalg/execution/host/executor.h"
#include "linalg/memory/executor.h"
#include "linalg/transformations/registry.h"

#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * Scales and reorders A x = b on the host to Â x̂ = b̂ with Â = P Q R A C Pᵀ, b̂ = P Q R b and
 * x = C Pᵀ x̂. The diagonal matrices R and C are the scaling, P is the ordering. Q permutes rows;
 * it is the identity unless the scaling is `matching`. The residual becomes r̂ = P Q R r, so that a
 * scaling changes its norm. All pointers refer to host memory; vectors have n elements and do not
 * overlap.
 */
class LinearSystemTransformation
{
public:
  /// Selects a scaling and an ordering by their names.
  /// @throws ParameterError for unknown names
  LinearSystemTransformation(const std::string &scaling, const std::string &ordering);

  /**
   * Sets up a new pattern and its values, and returns Â: a view of memory of @p A and of this
   * object, valid until setup(), set_pattern() or update() is called again and as long as both
   * exist. Unchanged arrays are not copied.
   * @throws SolverError naming a row that cannot be scaled
   * @throws ParameterError if A has more entries than the scaling or the ordering can count
   */
  HostCsr setup(const HostCsr &A);

  /// Sets up only the pattern, and returns Â without values; @p A needs values only if
  /// needs_values(). Call update() next.
  /// @throws the exceptions of setup()
  HostCsr set_pattern(const HostCsr &A);

  /// Returns whether the pattern of Â depends on the values of A, because the scaling permutes
  /// rows.
  bool needs_values() const
  {
    return permutes_rows;
  }

  /// Returns Â for new values of the same pattern: keeps the ordering, and computes a new scaling
  /// unless the scaling permutes rows. Collective over all ranks.
  /// @param rows the row space of A in host memory, with ghosts
  /// @throws SolverError if a row cannot be scaled, or if the size of @p A has changed since
  /// setup()
  HostCsr update(const HostCsr &A, const RowSpace &rows);

  /// Returns Â for new values of a matrix that is not distributed.
  HostCsr update(const HostCsr &A)
  {
    return update(A, RowSpace(std::make_shared<HostExecutor>(), A.n));
  }

  /// Returns whether Â is A; the functions below then only copy.
  bool is_identity() const;

  void transform_rhs(const double *b, double *transformed) const
  {
    transform(b, scale_rhs, row_order, transformed);
  }
  void transform_guess(const double *x, double *transformed) const
  {
    transform(x, scale_guess, order, transformed);
  }
  void restore_solution(const double *transformed, double *x) const
  {
    restore(transformed, order, unscale_solution, x);
  }
  /// Computes b from a right-hand side b̂ that was made for the transformed system.
  void restore_rhs(const double *transformed, double *b) const
  {
    restore(transformed, row_order, unscale_rhs, b);
  }

private:
  using ScaleVector = void (*)(const Scaling &, const double *, double *);

  void transform(const double *v, ScaleVector scale, const std::vector<int> &to_order,
                 double *transformed) const;
  void restore(const double *transformed, const std::vector<int> &from_order, ScaleVector unscale,
               double *v) const;
  void set_orders(const HostCsr &A);
  void transform_values(const HostCsr &A);
  UnknownsPtr transformed_unknowns(const HostCsr &A) const;
  HostCsr transformed(const HostCsr &A, const double *new_values) const;
  Scaling (*make_scaling)(const HostCsr &, const RowSpace &);
  std::string scaling_name, ordering;
  bool permutes_rows;
  OrderingFunction make_order;
  int n = 0;
  std::size_t n_nonzeros = 0;
  Scaling scaling;
  std::vector<int> order;     ///< P, the order of columns; if nothing moves, both orders are empty
  std::vector<int> row_order; ///< P Q, the order of rows
  std::vector<int> part_starts;
  PermutedPattern pattern;    ///< pattern of Â, if rows or columns move
  std::vector<double> values; ///< values of Â, unless Â is A
};
} // namespace femgpu::linalg

#endif
