#include "linalg/base/error.h"
#include "linalg/base/registry_entry.h"
#include "linalg/orthogonalisation/methods.h"

#include <type_traits>

namespace femgpu::linalg
{
namespace
{
struct Entry
{
  Choice choice;
};

const std::vector<Entry> &tsqr_entries()
{
  static const std::vector<Entry> entries = {
      {{"mgs", "modified Gram-Schmidt, |I-Q'Q| = O(eps kappa); passes=1|2"}},
      {{"cgs", "classical Gram-Schmidt, O(eps kappa^(p-1)); passes=1|2 for each column"}},
      {{"cholqr", "Cholesky factor of V'V, O(eps kappa^2); passes=1|2, safer=yes|no"}},
      {{"svqr", "eigenvalues of V'V, O(eps kappa^2); passes=1|2, safer=yes|no"}},
      {{"caqr", "tree of Householder factorisations, O(eps); passes=1|2"}}};
  return entries;
}

const std::vector<Entry> &block_entries()
{
  static const std::vector<Entry> entries = {
      {{"cgs", "all columns of Q at one time; passes=1|2"}},
      {{"mgs", "one column of Q after the other; passes=1|2"}}};
  return entries;
}

/// Calls f with the backend of an executor.
template <class Function>
auto on_backend_of(const Executor &executor, const Function &f)
{
#ifdef FEMGPU_HAVE_CUDA
  if (executor.backend() == BackendKind::cuda)
    return f(static_cast<CudaBackend *>(nullptr));
#else
  static_cast<void>(executor); // only the host can be had
#endif
  return f(static_cast<HostBackend *>(nullptr));
}

template <class Pointer>
using BackendOf = std::remove_pointer_t<Pointer>;
} // namespace

std::vector<Choice> tsqr_choices()
{
  return choices_of(tsqr_entries());
}

std::vector<Choice> block_orthogonalisation_choices()
{
  return choices_of(block_entries());
}

std::unique_ptr<Tsqr> make_tsqr(const std::string &text, const ExecutorPtr &executor)
{
  Method method("QR factorisation of blocks", text);
  find_entry(tsqr_entries(), "QR factorisation of blocks", method.name());
  auto tsqr = on_backend_of(*executor, [&](const auto backend) {
    return make_tsqr_on<BackendOf<std::remove_const_t<decltype(backend)>>>(method, executor);
  });
  method.finish();
  return tsqr;
}

std::unique_ptr<BlockOrthogonalisation> make_block_orthogonalisation(const std::string &text,
                                                                     const ExecutorPtr &executor)
{
  Method method("orthogonalisation of blocks", text);
  find_entry(block_entries(), "orthogonalisation of blocks", method.name());
  auto result = on_backend_of(*executor, [&](const auto backend) {
    using Backend = BackendOf<std::remove_const_t<decltype(backend)>>;
    return make_block_orthogonalisation_on<Backend>(method, executor);
  });
  method.finish();
  return result;
}

double orthogonality_error(const ExecutorPtr &executor, const int n, const Columns &Q)
{
  return on_backend_of(*executor, [&](const auto backend) {
    using Backend = BackendOf<std::remove_const_t<decltype(backend)>>;
    return orthogonality_error_on<Backend>(executor, n, Q);
  });
}

double factorisation_error(const ExecutorPtr &executor, const int n, const Columns &V,
                           const Columns &Q, const double *R)
{
  return on_backend_of(*executor, [&](const auto backend) {
    using Backend = BackendOf<std::remove_const_t<decltype(backend)>>;
    return factorisation_error_on<Backend>(executor, n, V, Q, R);
  });
}

std::string to_string(const TsqrReport &report)
{
  std::string text = report.variant;
  if (report.failed_column >= 0)
    text += ", Cholesky's factorisation failed in column " + std::to_string(report.failed_column);
  if (report.n_floored > 0)
    text += ", " + std::to_string(report.n_floored) + " eigenvalues at their floor";
  if (!report.is_finite)
    return text + ": entries of V or their squares are not finite";
  if (!report.is_done)
    return text + ": V has not been factorised; allow a safer variant";
  if (report.rank < report.n_columns)
    text += "; rank " + std::to_string(report.rank) + " of " + std::to_string(report.n_columns) +
            ", the first dependent column is " + std::to_string(report.first_dependent);
  return text;
}
} // namespace femgpu::linalg
