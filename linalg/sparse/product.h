#ifndef femgpu_linalg_sparse_product_h
#define femgpu_linalg_sparse_product_h

#include "linalg/sparse/derived_matrix.h"
#include "linalg/sparse/row_groups.h"

#include <memory>

namespace femgpu::linalg
{
struct ProductSystem; // product_steps.h

/// A property of a product matrix that the caller knows in advance.
enum class ProductKind
{
  general,
  symmetric ///< the product is symmetric, such as PᵀAP with symmetric A: only the upper triangle is
            ///< computed, and then mirrored, except in rows that the caller excludes
};

/**
 * The product A B. It has an entry (i, j) if there are entries a_ik and b_kj, even if the sum over
 * k cancels. Columns are in ascending order. Entries are sums over k of a_ik b_kj in the order of
 * k: bitwise reproducible, and on the host independent of the number of threads.
 *
 * The pattern is computed once. Teams of threads collect the columns of each row in a ColumnSet,
 * twice: to count and to store them (row_product.h). Updates of the values need neither sets nor
 * memory other than the result, but search the sorted row i of the product for the column j of each
 * a_ik b_kj. (Storing the position of every pair would save the search, but in A A with a 27-point
 * stencil, a row has 729 pairs for 125 entries.) Rows in groups (row_groups.h) share sets and
 * searches. On the host, each thread uses an array with a number for each column instead of sets
 * and searches.
 */
template <class Backend>
class Product
{
public:
  /// @param columns groups of columns of B that occur in the same rows; nullptr: unknown
  /// @param full_rows for a symmetric product, one number per row: 1 if the row may differ from the
  /// column, so that the whole row is computed; empty: no row differs
  /// @throws SolverError if the number of columns of A differs from the number of rows of B, if B
  /// or the product has more than max_indices entries, or if a symmetric product has an
  /// unsymmetric pattern
  /// @throws DeviceError if memory is exhausted
  Product(const CsrMatrix &A, const CsrMatrix &B, ProductKind kind = ProductKind::general,
          const RowGroups *columns = nullptr, Buffer<int> full_rows = {});

  std::shared_ptr<const CsrMatrix> matrix() const
  {
    return result;
  }
  /// Returns the result, whose values the caller may change; the next update() overwrites them.
  CsrMatrix &mutable_matrix()
  {
    return *result;
  }

  /// Updates the values from those of A and B, which must have the original patterns.
  /// @throws SolverError if A or B has a different number of entries
  void update(const CsrMatrix &A, const CsrMatrix &B);

private:
  void choose_teams(const CsrMatrix &A, const CsrMatrix &B);
  template <int max_rows>
  void add_rows(const ProductSystem &product) const;

  std::shared_ptr<CsrMatrix> result;
  ProductKind kind;
  Buffer<int> full_rows; ///< 1 for each row of a symmetric product that is computed as a whole;
                         ///< empty: there is no such row
  std::size_t n_nonzeros_of_A, n_nonzeros_of_B;

  // for GPUs
  RowGroups groups;    // groups of rows of A
  int max_sums = 0;    // maximum number of entries of the product in the rows of a group
  Buffer<int> is_long; // for each row: 1 if a warp or a block computes it; empty: no such row
  RowList warp_groups, block_groups; // groups that a warp, or a block, computes
};
} // namespace femgpu::linalg

#endif
