#include "linalg/base/lapack.h"

#include <algorithm>
#include <cmath>
#include <limits>

extern "C" {
void dhseqr_(const char *job, const char *compz, const int *n, const int *ilo, const int *ihi,
             double *h, const int *ldh, double *wr, double *wi, double *z, const int *ldz,
             double *work, const int *lwork, int *info);
void dgesvd_(const char *jobu, const char *jobvt, const int *m, const int *n, double *a,
             const int *lda, double *s, double *u, const int *ldu, double *vt, const int *ldvt,
             double *work, const int *lwork, int *info);
}

namespace femgpu::linalg
{
std::vector<std::complex<double>> hessenberg_eigenvalues(const std::vector<double> &H, const int n,
                                                         const int ld)
{
  if (n == 0)
    return {};
  const auto size = static_cast<std::size_t>(n);
  std::vector<double> h(size * size), re(size), im(size), work(11 * size);
  for (std::size_t j = 0; j < size; ++j)
    for (std::size_t i = 0; i < std::min(size, j + 2); ++i)
      h[j * size + i] = H[j * static_cast<std::size_t>(ld) + i];
  const int first = 1, work_size = 11 * n;
  int info = 0;
  double unused = 0.;
  dhseqr_("E", "N", &n, &first, &n, h.data(), &n, re.data(), im.data(), &unused, &first,
          work.data(), &work_size, &info);
  if (info != 0)
    return {};
  std::vector<std::complex<double>> values;
  for (std::size_t k = 0; k < size; ++k)
    values.emplace_back(re[k], im[k]);
  return values;
}

double condition_number(std::vector<double> A, const int p)
{
  const double infinity = std::numeric_limits<double>::infinity();
  if (std::any_of(A.begin(), A.end(), [](const double a) { return !std::isfinite(a); }))
    return infinity;
  std::vector<double> sigma(static_cast<std::size_t>(p)), work(static_cast<std::size_t>(5 * p));
  const int one = 1, work_size = 5 * p;
  int info = 0;
  double unused = 0.;
  dgesvd_("N", "N", &p, &p, A.data(), &p, sigma.data(), &unused, &one, &unused, &one, work.data(),
          &work_size, &info);
  return info == 0 && sigma.back() > 0. ? sigma.front() / sigma.back() : infinity;
}
} // namespace femgpu::linalg
