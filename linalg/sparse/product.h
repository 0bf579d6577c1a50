#ifndef femgpu_linalg_sparse_product_h
#define femgpu_linalg_sparse_product_h

#include "linalg/sparse/row_pattern.h"

#include <memory>

namespace femgpu::linalg
{
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
 * but a 27-point A A has 729 pairs for the 125 entries of a row.)
 */
template <class Backend>
class Product
{
public:
  /// @throws SolverError if the columns of A are not as many as the rows of B, beyond most_indices
  ///         entries, and for a symmetric product whose pattern is not; DeviceError without memory
  Product(const CsrMatrix &A, const CsrMatrix &B, ProductKind kind = ProductKind::general);

  const std::shared_ptr<const CsrMatrix> &matrix() const
  {
    return result;
  }

  /// Takes over the values of A and B, whose patterns are those that this was made of.
  /// @throws SolverError if they have not as many entries
  void update(const CsrMatrix &A, const CsrMatrix &B);

private:
  void find_large_rows(const CsrMatrix &A, const CsrMatrix &B);

  std::shared_ptr<CsrMatrix> own;
  std::shared_ptr<const CsrMatrix> result; // the same, as others see it
  ProductKind kind;
  std::size_t n_of_A, n_of_B;
  int room = 0;         // sums that a team keeps in its scratch
  Buffer<int> is_large; // of each row; empty if none is
  Buffer<int> large;    // the rows that are
  int room_of_large = 0;
};
} // namespace femgpu::linalg

#endif
