#include "linalg/preconditioners/multigrid/smoother.h"

#include "linalg/steps/row_bodies.h"

namespace femgpu::linalg
{
namespace
{
/// Computes d = a d + b M⁻¹ (r − A x) and x += d.
struct SmoothByM
{
  double a, b;
  bool from_zero;
  double *x, *step;

  FEMGPU_HD
  void operator()(const int i, const double Mt_i) const
  {
    const double d = (a != 0. ? a * step[i] : 0.) + b * Mt_i;
    step[i] = d;
    x[i] = from_zero ? d : x[i] + d;
  }
};

const PreconditionerOperator *operator_of(const Preconditioner &M)
{
  return std::get<const PreconditionerOperator *>(M.action());
}
} // namespace

template <class Backend>
Smoother<Backend>::Smoother(const Matrix &A, const SmootherChoice &choice)
    : A(A), choice(choice), D(A.csr(), "Multigrid")
{
  if (choice.uses_preconditioner()) {
    M = make_preconditioner(choice.name, Backend::kind);
    M->setup(A);
    step = Buffer<double>(A.executor(), static_cast<std::size_t>(A.n()));
  }
  make_terms();
}

template <class Backend>
void Smoother<Backend>::update()
{
  D.update();
  if (M)
    M->update(A);
  make_terms();
}

template <class Backend>
void Smoother<Backend>::make_terms()
{
  if (choice.rounds_to_float)
    round();
  eigenvalue = linalg::largest_eigenvalue<Backend>(matrix(), D.inverse());
  terms.clear();
  if (choice.name == "l1-jacobi" || (M && !M->is_symmetric())) {
    terms.assign(static_cast<std::size_t>(choice.degree), {0., 1.});
    return;
  }
  if (M)
    eigenvalue_of_M = linalg::largest_eigenvalue<Backend>(matrix(), D.inverse(), *operator_of(*M));
  for (int k = 1; k <= choice.degree; ++k)
    terms.emplace_back(k == 1 ? 0. : (2. * k - 3.) / (2. * k + 1.),
                       (8. * k - 4.) / (2. * k + 1.) /
                           (eigenvalue_safety * largest_smoothed_eigenvalue()));
}

template <class Backend>
void Smoother<Backend>::round()
{
  if (D.fits_in_float() && rounded)
    rounded->update();
  else {
    rounded.reset();
    if (D.fits_in_float() && !is_rounded())
      rounded = std::make_unique<RoundedFormat<Backend>>(A);
  }
}

template <class Backend>
PolynomialVectors Smoother<Backend>::smooth(Runner<Backend> &run, double *r, PolynomialVectors v,
                                            const bool from_zero) const
{
  if (!M)
    return add_terms(run, matrix(), choice.name == "l1-jacobi" ? D.inverse_sums() : D.inverse(),
                     terms, r, v, from_zero);
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const auto [a, b] = terms[k];
    const bool is_zero = k == 0 && from_zero;
    if (!is_zero)
      run.run(product(matrix(), v.x, StoreResidual{r, v.other}));
    run.run(product(*operator_of(*M), is_zero ? r : v.other,
                    SmoothByM{a, b, is_zero, v.x, step.data()}));
  }
  return v;
}

/// If M is a preconditioner, counts three vectors for each product with A, and four vectors for
/// each product with M⁻¹.
template <class Backend>
std::size_t Smoother<Backend>::bytes(const bool from_zero) const
{
  const std::size_t vector = D.bytes();
  if (M)
    return n_products(from_zero) * (matrix().bytes() + 3 * vector) +
           terms.size() * (M->bytes() + 4 * vector);
  return bytes_of_terms(matrix(), terms, vector, from_zero);
}

template class Smoother<ThisBackend>;
} // namespace femgpu::linalg
