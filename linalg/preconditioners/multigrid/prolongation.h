#ifndef femgpu_linalg_preconditioners_multigrid_prolongation_h
#define femgpu_linalg_preconditioners_multigrid_prolongation_h

#include "linalg/preconditioners/multigrid/aggregates.h"
#include "linalg/preconditioners/multigrid/near_null.h"
#include "linalg/sparse/part_rows.h"

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
 * aggregate are empty. Is called by all parts. @param range the rows of @p B
 */
template <class Backend>
TentativeProlongation make_tentative(const RowSpacePtr &range, const Nodes &nodes,
                                     const Aggregates &aggregates, const NearNullVectors &B);

/// The pattern of A_F, which has the diagonal of A and the entries between nodes of one unknown
/// that are strongly connected; empty where these are all. @param graph of strong_connections()
template <class Backend>
DerivedPattern filtered_pattern(const CsrMatrix &A, const RowPattern &graph);

/// Which nodes a node's first row has entries of.
template <class Backend>
RowPattern node_pattern(const PatternRef &A, const Nodes &nodes);

/// About as many pairs of aggregates are connected in Pᵀ A P, by some of its rows; nodes in none
/// count as one more.
/// @param A of nodes, also the @p filtered pattern of A_F; nullptr: P is P̂
template <class Backend>
double estimated_entries(const PatternRef &A, const PatternRef *filtered,
                         const Aggregates &aggregates);

/**
 * P = (I − ω D⁻¹ A_F) P̂ (Vaněk, Mandel and Brezina 1996). What A_F does not have of A is added to
 * its diagonal so that A_F b = A b for the near-null vector b. One diagonal cannot do that for
 * several vectors, as translations and rotations: for them A_F is A. Patterns are made once; new
 * values need no more than those of A.
 */
template <class Backend>
class SmoothedProlongation
{
public:
  /// @param filtered of filtered_pattern(); empty: A_F is A
  /// @param near_null of the rows of A
  SmoothedProlongation(const CsrMatrix &A, DerivedPattern filtered,
                       std::shared_ptr<const CsrMatrix> tentative, NearNullVectors near_null,
                       const double *inverse_diagonal, double omega);

  std::shared_ptr<const CsrMatrix> matrix() const
  {
    return product->matrix();
  }
  void update(const CsrMatrix &A, const double *inverse_diagonal, double omega);

private:
  void set_values(const CsrMatrix &A, const double *inverse_diagonal, double omega);

  std::size_t n_entries;
  std::shared_ptr<const CsrMatrix> tentative;
  std::unique_ptr<GhostRows<Backend>> tentative_rows; ///< of a part
  NearNullVectors near_null;
  Buffer<int> sources;
  std::shared_ptr<CsrMatrix> filtered; ///< A_F; nullptr: it is A
  std::unique_ptr<Product<Backend>> product;
};
} // namespace femgpu::linalg

#endif
