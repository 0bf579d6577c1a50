#include "linalg/base/error.h"
#include "linalg/direct/factors.h"
#include "linalg/execution/backends.h"

#include <umfpack.h>

#include <algorithm>
#include <string>
#include <vector>

namespace femgpu::linalg
{
bool has_umfpack()
{
  return true;
}

namespace
{
/// LU factors of a matrix in host memory, computed by UMFPACK on one core. UMFPACK expects
/// compressed columns; read in this way, the compressed rows of A describe Aᵀ.
class UmfpackFactors final : public Factors
{
public:
  UmfpackFactors() = default;
  ~UmfpackFactors() override
  {
    umfpack_dl_free_numeric(&numeric);
  }
  UmfpackFactors(const UmfpackFactors &) = delete;
  UmfpackFactors &operator=(const UmfpackFactors &) = delete;

  /// The analysis is repeated, because the strategy of UMFPACK depends on the values.
  void factorise(const HostCsr &A, bool /* same pattern */) override
  {
    umfpack_dl_free_numeric(&numeric);
    is_singular = false;
    n = A.n;
    values = A.values;
    if (n == 0)
      return;
    row_starts.resize(static_cast<std::size_t>(n) + 1);
    for (int i = 0; i <= n; ++i)
      row_starts[i] = static_cast<long>(A.row_starts[i]);
    columns.assign(A.columns, A.columns + A.n_nonzeros);
    void *symbolic = nullptr;
    is_singular = !check(umfpack_dl_symbolic(n, n, row_starts.data(), columns.data(), values,
                                             &symbolic, nullptr, nullptr));
    const int status = is_singular ? UMFPACK_OK
                                   : umfpack_dl_numeric(row_starts.data(), columns.data(), values,
                                                        symbolic, &numeric, nullptr, nullptr);
    umfpack_dl_free_symbolic(&symbolic);
    is_singular = is_singular || !check(status);
  }

  bool solve(double *const v) override
  {
    if (is_singular || n == 0)
      return !is_singular;
    std::vector<double> x(static_cast<std::size_t>(n));
    if (!check(umfpack_dl_solve(UMFPACK_At, row_starts.data(), columns.data(), values, x.data(), v,
                                numeric, nullptr, nullptr)))
      return false;
    std::copy(x.begin(), x.end(), v);
    return true;
  }

  FactorsReport report() const override
  {
    FactorsReport report;
    long n_lower = 0, n_upper = 0, n_rows = 0, n_columns = 0, n_diagonal = 0;
    if (numeric != nullptr && umfpack_dl_get_lunz(&n_lower, &n_upper, &n_rows, &n_columns,
                                                  &n_diagonal, numeric) == UMFPACK_OK)
      report.n_nonzeros = static_cast<std::size_t>(n_lower + n_upper);
    return report;
  }

private:
  /// Returns false if UMFPACK reports a singular matrix; throws on other errors.
  bool check(const int status) const
  {
    switch (status) {
    case UMFPACK_OK:
      return true;
    case UMFPACK_WARNING_singular_matrix:
      return false;
    case UMFPACK_ERROR_out_of_memory:
      throw DeviceError("UMFPACK does not have enough memory for the factors of " +
                        std::to_string(n) + " rows. Use an iterative solver, or fewer unknowns.");
    default:
      throw SolverError("UMFPACK failed with status " + std::to_string(status) +
                        ". Use an iterative solver.");
    }
  }

  int n = 0;
  std::vector<long> row_starts, columns; ///< pattern of A, in the integer type of UMFPACK
  const double *values = nullptr;        ///< values of A, not copied
  void *numeric = nullptr;
  bool is_singular = false;
};
} // namespace

template <>
std::unique_ptr<Factors> make_factors_on<HostBackend>(const ExecutorPtr & /* executor */)
{
  return std::make_unique<UmfpackFactors>();
}
} // namespace femgpu::linalg
