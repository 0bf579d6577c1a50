#ifndef femgpu_linalg_matrices_registry_h
#define femgpu_linalg_matrices_registry_h

#include "linalg/base/choice.h"
#include "linalg/base/method.h"
#include "linalg/execution/this_backend.h"
#include "linalg/matrices/csr_matrix.h"

#include <memory>
#include <string>
#include <vector>

/// Every matrix format: X(name in parameter files, function in linalg/matrices, meaning).
#define FEMGPU_FORMATS(X)                                                                          \
  X("csr", make_csr_format,                                                                        \
    "compressed sparse rows; threads=T, the GPU threads a row (1 to 32, 0 by row length)")         \
  X("ellpack-r", make_ellpack_r_format,                                                            \
    "ELLPACK with row lengths, one thread a row, for rows of nearly equal length")                 \
  X("ellr-t", make_ellr_t_format, "ELLPACK-R with threads=T threads a row (1 to 32)")              \
  X("sell", make_sell_format,                                                                      \
    "SELL-C-sigma: slices of slice=C rows, sorted by length in windows of window=SIGMA rows; "     \
    "columns=int|short, short ones have 16 bits where they fit")                                   \
  X("bsr", make_bsr_format, "block CSR; block=B (0: the unknowns of a node), threads=T as csr")    \
  X("bsell", make_bsell_format,                                                                    \
    "sliced block CSR; block=B as bsr, slice=C nodes, window=S as sell")                           \
  X("coo", make_coo_format, "coordinates, segmented sums")                                         \
  X("pcsr", make_pcsr_format,                                                                      \
    "CSR cut in blocks of 256 prefetch=1|2|4 entries, rows padded to padding=1|2|4|8; for rows "   \
    "of very different length")                                                                    \
  X("cusparse-csr", make_cusparse_csr_format, "cuSPARSE's product, CSR; GPU only")                 \
  X("cusparse-sell", make_cusparse_sell_format, "cuSPARSE's product, sliced ELL, slice=C")         \
  X("cusparse-bsr", make_cusparse_bsr_format, "cuSPARSE's product, block CSR, block=B")            \
  X("auto", make_auto_format, "the fastest of those that fit, by row lengths and a short trial")

namespace femgpu::linalg
{
#define FEMGPU_DECLARE(name, make, meaning)                                                        \
  template <class Backend>                                                                         \
  std::unique_ptr<Matrix> make(const CsrMatrix &A, Method &method);
FEMGPU_FORMATS(FEMGPU_DECLARE)
#undef FEMGPU_DECLARE

/// All of them have the option values=double|float; float halves the bytes of the values.
std::vector<Choice> format_choices();

/**
 * The matrix @p A in the format that @p method names, on the same executor; @p A must outlive it.
 * @throws ParameterError for unknown names and options, and if the format cannot hold @p A;
 *         DeviceError without memory.
 */
std::unique_ptr<Matrix> make_format(const std::string &method, const CsrMatrix &A);
/// Throws what make_format() would throw of @p method whatever the matrix: for early checks.
void check_format(const std::string &method);
} // namespace femgpu::linalg

#endif
