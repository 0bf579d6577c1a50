#ifndef femgpu_linalg_sparse_product_h
#define femgpu_linalg_sparse_product_h

#include "linalg/sparse/derived_matrix.h"
#include "linalg/sparse/row_groups.h"

#include <memory>

namespace femgpu::linalg
{
struct ProductSystem; // product_steps.h

/// What is known of a product before it is made.
enum class ProductKind
{
  general,
  symmetric ///< as PᵀAP where A is: the upper triangle is computed, the lower one is its mirror
};

/**
 * A B, with an entry wherever a pair of entries of A and B meets, also where they cancel. Columns
 * ascend. Entries are sums over k of a_ik b_kj, in the order of k: the same bits in every run, and
 * on the host for any number of threads.
 *
 * The pattern is made once, from sets of columns that teams fill, twice: to count and to store
 * (row_product.h). New values need no sets, only a search in the sorted row for each a_ik b_kj, and
 * no memory besides the result. (Values with a place for each pair would be faster by the search,
 * but a 27-point A A has 729 pairs for the 125 entries of a row.) Rows in groups (row_groups.h)
 * share sets and searches. On the host a thread has a number for each column in place of both.
 */
template <class Backend>
class Product
{
public:
  /// @throws SolverError if the columns of A are not as many as the rows of B, beyond most_indices
  ///         entries of B or of the product, and for a symmetric product whose pattern is not;
  ///         DeviceError without memory
  /// @param columns groups of columns of B which are in the same rows; nullptr: not known
  Product(const CsrMatrix &A, const CsrMatrix &B, ProductKind kind = ProductKind::general,
          const RowGroups *columns = nullptr);

  std::shared_ptr<const CsrMatrix> matrix() const
  {
    return result;
  }
  /// For who changes its values, until the next update().
  CsrMatrix &mutable_matrix()
  {
    return *result;
  }

  /// Takes over the values of A and B, whose patterns are those that this was made of.
  /// @throws SolverError if they have not as many entries
  void update(const CsrMatrix &A, const CsrMatrix &B);

private:
  void choose_teams(const CsrMatrix &A, const CsrMatrix &B);
  template <int most_rows>
  void add_rows(const ProductSystem &product) const;

  std::shared_ptr<CsrMatrix> result;
  ProductKind kind;
  std::size_t n_of_A, n_of_B;

  // for GPUs
  RowGroups groups;              // of A
  int most_sums = 0;             // entries of the rows of a group
  Buffer<int> is_long;           // of each row: a warp or a block makes it; empty if none is
  RowList for_warps, for_blocks; // groups
};
} // namespace femgpu::linalg

#endif
