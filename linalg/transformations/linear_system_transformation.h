#ifndef femgpu_linalg_transformations_linear_system_transformation_h
#define femgpu_linalg_transformations_linear_system_transformation_h

#include "linalg/execution/memory/executor.h"
#include "linalg/transformations/registry.h"

#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/**
 * A x = b, scaled and reordered on the host: Â x̂ = b̂ with Â = P R A C Pᵀ, b̂ = P R b and
 * x = C Pᵀ x̂. The residual is transformed too: r̂ = P R r, so with a scaling a norm of r̂ is another
 * than that of r. All pointers are host memory; vectors have n elements and do not overlap.
 */
class LinearSystemTransformation
{
public:
  /// By the names of the registries. @throws ParameterError for unknown names
  LinearSystemTransformation(const std::string &scaling, const std::string &ordering);

  /**
   * Takes a new pattern and its values, and gives Â: a view of memory of @p A and of this object,
   * valid until the next call and as long as both live. Nothing is copied that stays as it is.
   * @throws SolverError that names the row if it cannot be scaled; ParameterError if there are more
   *         entries than the ordering can count
   */
  HostCsr setup(const HostCsr &A);

  /// Only the pattern of that: values are none, and @p A needs none; update() comes next.
  HostCsr set_pattern(const HostCsr &A);

  /// The same for new values of the same pattern: scales anew, keeps the order. Is called by all
  /// parts. @param rows of A in host memory, with its ghosts
  /// @throws SolverError as above, or if @p A has another size than in setup()
  HostCsr update(const HostCsr &A, const RowSpace &rows);

  /// Where all rows are here.
  HostCsr update(const HostCsr &A)
  {
    return update(A, RowSpace(std::make_shared<HostExecutor>(), A.n));
  }

  /// Whether Â is A, and the functions below only copy.
  bool is_identity() const;

  void transform_rhs(const double *b, double *transformed) const
  {
    transform(b, scale_rhs, transformed);
  }
  void transform_guess(const double *x, double *transformed) const
  {
    transform(x, scale_guess, transformed);
  }
  void restore_solution(const double *transformed, double *x) const
  {
    restore(transformed, unscale_solution, x);
  }
  /// b from b̂, for right-hand sides that are made for the transformed system.
  void restore_rhs(const double *transformed, double *b) const
  {
    restore(transformed, unscale_rhs, b);
  }

private:
  using ScaleVector = void (*)(const Scaling &, const double *, double *);

  void transform(const double *v, ScaleVector scale, double *transformed) const;
  void restore(const double *transformed, ScaleVector unscale, double *v) const;
  void transform_values(const HostCsr &A);
  UnknownsPtr transformed_unknowns(const HostCsr &A) const;
  HostCsr transformed(const HostCsr &A, const double *new_values) const;
  /// P v, or v; @p v and @p permuted do not overlap.
  void reorder(const double *v, double *permuted) const;
  /// Undoes reorder().
  void restore_order(const double *permuted, double *v) const;

  Scaling (*make_scaling)(const HostCsr &, const RowSpace &);
  std::string ordering;
  OrderingFunction make_order;
  int n = 0;
  std::size_t n_nonzeros = 0;
  Scaling scaling;
  std::vector<int> order; ///< empty: none
  std::vector<int> part_starts;
  PermutedPattern pattern;    ///< with an order
  std::vector<double> values; ///< of Â unless it is A
};
} // namespace femgpu::linalg

#endif
