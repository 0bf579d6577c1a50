#ifndef femgpu_linalg_preconditioners_multigrid_prolongation_h
#define femgpu_linalg_preconditioners_multigrid_prolongation_h

#include "linalg/preconditioners/multigrid/aggregates.h"
#include "linalg/preconditioners/multigrid/near_null.h"
#include "linalg/sparse/row_exchange.h"

namespace femgpu::linalg
{
/// The tentative prolongation P̂, and the nodes and near-null vectors of the next level. The
/// columns of P̂ are the near-null vectors restricted to each aggregate and orthonormalised there.
struct TentativeProlongation
{
  std::shared_ptr<const CsrMatrix> P;
  Nodes nodes;               ///< nodes of the next level, one for each aggregate
  NearNullVectors near_null; ///< vectors B_c of the next level: P̂ B_c = B
};

/**
 * Computes P̂ by QR factorisation of the rows of @p B in each aggregate, with modified Gram-Schmidt
 * and pivoting. A vector that depends on the others within an aggregate, such as a rotation about
 * the line on which the aggregate's nodes lie, gets no column; an aggregate thus has at most
 * B.count rows on the next level. Rows of P̂ are empty for nodes in no aggregate. Collective over
 * all ranks.
 * @param range the rows of @p B
 */
template <class Backend>
TentativeProlongation make_tentative(const RowSpacePtr &range, const Nodes &nodes,
                                     const Aggregates &aggregates, const NearNullVectors &B);

/// Returns the pattern of A_F (see SmoothedProlongation): the diagonal of A and the entries between
/// strongly connected nodes. Returns an empty pattern if A has no other entries.
/// @pre each node is one row
/// @param graph from strong_connections()
template <class Backend>
DerivedPattern filtered_pattern(const CsrMatrix &A, const RowPattern &graph);

/// Returns the pattern of nodes that has an entry (I, J) if @p A has an entry in the first row of
/// node I and the column of the first row of node J.
template <class Backend>
RowPattern node_pattern(const PatternRef &A, const Nodes &nodes);

/// Estimates the number of connected pairs of aggregates in Pᵀ A P from a sample of its rows; nodes
/// in no aggregate count as one more aggregate.
/// @param A the pattern of A for nodes, see node_pattern()
/// @param filtered the pattern of A_F for nodes; nullptr if P is P̂
template <class Backend>
double estimate_entries(const PatternRef &A, const PatternRef *filtered,
                        const Aggregates &aggregates);

/**
 * The prolongation P = (I − ω D⁻¹ A_F) P̂ (Vaněk, Mandel and Brezina 1996). The entries of A that
 * A_F lacks are added to the diagonal of A_F so that A_F b = A b for the near-null vector b. One
 * diagonal cannot achieve this for several vectors, such as translations and rotations: for them
 * A_F is A. Patterns are computed once; an update needs only the values of A.
 */
template <class Backend>
class SmoothedProlongation
{
public:
  /// @param filtered from filtered_pattern(); empty: A_F is A
  /// @param near_null near-null vectors on the rows of A
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
  std::unique_ptr<GhostRows<Backend>> tentative_rows; ///< P̂ with ghost rows; nullptr on one rank
  NearNullVectors near_null;
  Buffer<int> sources;
  std::shared_ptr<CsrMatrix> filtered; ///< A_F; nullptr if A_F is A
  std::unique_ptr<Product<Backend>> product;
};
} // namespace femgpu::linalg

#endif
