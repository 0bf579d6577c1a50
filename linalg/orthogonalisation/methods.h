#ifndef femgpu_linalg_orthogonalisation_methods_h
#define femgpu_linalg_orthogonalisation_methods_h

#include "linalg/base/method.h"
#include "linalg/execution/this_backend.h"
#include "linalg/orthogonalisation/orthogonalisation.h"

/**
 * @file
 * What orthogonalisation.h has, made for a backend.
 */
namespace femgpu::linalg
{
template <class Backend>
std::unique_ptr<Tsqr> make_tsqr_on(Method &method, const ExecutorPtr &executor);

template <class Backend>
std::unique_ptr<BlockOrthogonalisation>
make_block_orthogonalisation_on(Method &method, const ExecutorPtr &executor);

template <class Backend>
double orthogonality_error_on(const ExecutorPtr &executor, int n, const Columns &Q);

template <class Backend>
double factorisation_error_on(const ExecutorPtr &executor, int n, const Columns &V,
                              const Columns &Q, const double *R);
} // namespace femgpu::linalg

#endif
