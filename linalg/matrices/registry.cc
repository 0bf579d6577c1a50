#include "linalg/matrices/registry.h"

#include "linalg/execution/host/executor.h"
#include "linalg/matrices/multi_product.h"

#include <algorithm>
#include <type_traits>

namespace femgpu::linalg
{
template <class Name>
constexpr auto *format = make_on_any<Name, Matrix, const CsrMatrix &>;

/// Makes a format that exists for GPUs only.
template <class Name>
std::unique_ptr<Matrix> gpu_format(Method &method, const BackendKind backend, const CsrMatrix &A)
{
  return on_backend(backend, [&](const auto on) -> std::unique_ptr<Matrix> {
    using Backend = typename decltype(on)::Backend;
    if constexpr (std::is_same_v<Backend, HostBackend>)
      throw ParameterError("The format '" + method.name() +
                           "' needs a GPU and a femgpu built with CUDA. Use csr on the host.");
    else
      return make_on<Name, Backend, Matrix, const CsrMatrix &>(method, A);
  });
}

constexpr decltype(formats)::Entry format_table[] = {
    {"csr",
     "compressed sparse rows. Option: threads=T, the number of GPU threads per row (1 to 32; 0: "
     "chosen by row length)",
     format<class CsrStorage>},
    {"ellpack-r",
     "ELLPACK that stores row lengths, with one GPU thread per row, for rows of nearly equal "
     "length",
     format<class EllpackRStorage>},
    {"ellr-t",
     "as ellpack-r, but with several GPU threads per row. Option: threads=T (1 to 32), their "
     "number",
     format<class EllrTStorage>},
    {"sell",
     "SELL-C-sigma, for rows of any length. Options: slice=C, the number of rows of a slice; "
     "window=SIGMA, the number of rows that are sorted by length together; columns=int|short, the "
     "type of column indices (short: 16-bit offsets where these suffice)",
     format<class SellStorage>},
    {"bsr",
     "block CSR. Options: block=B, the number of rows of a block (0: the number of unknowns per "
     "node); threads=T, as for csr",
     format<class BsrStorage>},
    {"bsell",
     "sliced block CSR. Options: block=B, as for bsr; slice=C, the number of nodes of a slice; "
     "window=S, the number of nodes that are sorted by length together",
     format<class BsellStorage>},
    {"coo",
     "coordinate format with segmented sums",
     format<class CooStorage>,
     {.uses_int_offsets = true}},
    {"pcsr",
     "CSR in blocks of entries, for rows of very different lengths. Options: prefetch=P (1, 2 or "
     "4), which makes blocks of 256 P entries; padding=Q (1, 2, 4 or 8), which pads rows to "
     "multiples of Q entries",
     format<class PcsrStorage>,
     {.uses_int_offsets = true}},
    {"cusparse-csr",
     "CSR multiplied by cuSPARSE, on GPUs only",
     gpu_format<class CusparseCsrStorage>,
     {.needs_gpu = true, .uses_int_offsets = true}},
    {"cusparse-sell",
     "sliced ELL multiplied by cuSPARSE, on GPUs only. Option: slice=C, the number of rows of a "
     "slice",
     gpu_format<class CusparseSellStorage>,
     {.needs_gpu = true, .uses_int_offsets = true}},
    {"cusparse-bsr",
     "block CSR multiplied by cuSPARSE, on GPUs only. Option: block=B, as for bsr",
     gpu_format<class CusparseBsrStorage>,
     {.needs_gpu = true, .uses_int_offsets = true}},
    {"auto",
     "a format that is chosen by row lengths and the number of unknowns per node. On a GPU: pcsr "
     "if one row is extremely long; bsell or bsr for several unknowns per node; sell columns=short "
     "for rows of similar length; otherwise csr. On the host: bsr for several unknowns per node, "
     "otherwise csr",
     format<class AutoStorage>}};

constexpr decltype(formats) formats("matrix format", format_table);

bool has_dominant_row(const double n_nonzeros, const double mean_length, const int longest)
{
  // Measured on an H100: one thread takes 0.08 us per entry of a long row, all threads together
  // take 5 ps per entry; a product with pcsr takes at least 20 us.
  const double threads = std::clamp(mean_length / 6., 1., 32.);
  return 0.08e-6 * longest / threads > 20e-6 + 5e-12 * n_nonzeros;
}

void multiply(const Matrix &A, MultiVector<double> &X, MultiVector<double> &Y)
{
  X.update_ghost_values();
  on_backend(A.executor()->backend(),
             [&](const auto on) { multiply_on<typename decltype(on)::Backend>(A, X, Y); });
}

void check_format(const std::string &text)
{
  if (formats.traits(text).needs_gpu) // the GPU may not be available yet
    return;
  const HostMatrix empty;
  make_format(text, CsrMatrix(std::make_shared<HostExecutor>(1), empty.csr()));
}
} // namespace femgpu::linalg
