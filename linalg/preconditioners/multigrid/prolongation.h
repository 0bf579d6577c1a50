#ifndef femgpu_linalg_preconditioners_multigrid_prolongation_h
#define femgpu_linalg_preconditioners_multigrid_prolongation_h

#include "linalg/preconditioners/multigrid/aggregates.h"
#include "linalg/preconditioners/multigrid/near_null.h"
#include "linalg/sparse/product.h"

namespace femgpu::linalg
{
/// P̂, whose columns are the near-null vectors on each aggregate made orthonormal, and what the next
/// level has of them.
struct TentativeProlongation
{
  std::shared_ptr<const CsrMatrix> P;
  Nodes nodes;               ///< of the next level: the aggregates
  NearNullVectors near_null; ///< B_c with P̂ B_c = B
};

/**
 * P̂ Q R-factorises the rows of @p B in each aggregate, by modified Gram-Schmidt with pivoting. What
 * an aggregate cannot tell apart, as a rotation about the line on which its nodes are, gets no
 * column: aggregates have up to B.count rows of the next level. Rows of nodes that are in no
 * aggregate are empty.
 */
template <class Backend>
TentativeProlongation make_tentative(const ExecutorPtr &executor, const Nodes &nodes,
                                     const Aggregates &aggregates, const NearNullVectors &B);

/// The pattern of A_F, which has the entries of A within nodes and between those that are strongly
/// connected. @param graph of strong_connections()
template <class Backend>
DerivedPattern filtered_pattern(const CsrMatrix &A, const Nodes &nodes, const RowPattern &graph);

/// About as many entries has Pᵀ A P, by some of its rows. @param filtered the pattern of A_F;
/// nullptr: P is P̂
template <class Backend>
double estimated_entries(const CsrMatrix &A, const RowPattern *filtered,
                         const CsrMatrix &tentative);

/**
 * P = (I − ω D⁻¹ A_F) P̂ (Vaněk, Mandel and Brezina 1996), where the entries of A that
 * A_F does not have are added to the entry of the row's own node and of the same unknown. Patterns
 * are made once; new values need no more than those of A.
 */
template <class Backend>
class SmoothedProlongation
{
public:
  /// @param filtered of filtered_pattern()
  SmoothedProlongation(const CsrMatrix &A, const Nodes &nodes, DerivedPattern filtered,
                       std::shared_ptr<const CsrMatrix> tentative, const double *inverse_diagonal,
                       double omega);

  std::shared_ptr<const CsrMatrix> matrix() const
  {
    return product->matrix();
  }
  /// Entries of A that are not in A_F.
  std::size_t n_dropped() const
  {
    return n_entries - smoother->n_nonzeros();
  }
  void update(const CsrMatrix &A, const Nodes &nodes, const double *inverse_diagonal, double omega);

private:
  void set_values(const CsrMatrix &A, const Nodes &nodes, const double *inverse_diagonal,
                  double omega);

  std::size_t n_entries;
  std::shared_ptr<const CsrMatrix> tentative;
  std::shared_ptr<CsrMatrix> smoother; ///< I − ω D⁻¹ A_F
  Buffer<int> sources;
  std::unique_ptr<Product<Backend>> product;
};
} // namespace femgpu::linalg

#endif
