#ifndef femgpu_linalg_matrices_multi_product_h
#define femgpu_linalg_matrices_multi_product_h

#include "linalg/operators/matrix.h"
#include "linalg/operators/multi_vector.h"

namespace femgpu::linalg
{
/**
 * Computes Y = A X for several vectors in one pass over A, after all steps launched so far; updates
 * the ghosts of X. A column of Y differs from the product with a single vector by rounding only,
 * and repeated products have the same bits. Reads the CSR matrix of A if the format of A is neither
 * csr, sell, bsr nor bsell, or if it stores floats. Collective.
 *
 * On a GPU a thread computes two columns of one row, so that neighbouring threads share a row of A
 * and read consecutive values of X. A product reads A once and, if the caches suffice, X once: with
 * 27 entries per row and 8 columns, 324 bytes of A and 128 bytes of X and Y per row, compared with
 * 8 times 340 bytes for 8 single products.
 * @pre X is in A's domain and has as many columns as Y, which is in A's range or domain
 */
void multiply(const Matrix &A, MultiVector<double> &X, MultiVector<double> &Y);

template <class Backend>
void multiply_on(const Matrix &A, const MultiVector<double> &X, MultiVector<double> &Y);
} // namespace femgpu::linalg

#endif
