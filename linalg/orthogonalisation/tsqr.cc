#include "linalg/base/error.h"
#include "linalg/orthogonalisation/gram_factors.h"
#include "linalg/orthogonalisation/gram_schmidt.h"
#include "linalg/orthogonalisation/householder_tree.h"
#include "linalg/orthogonalisation/orthogonalisation.h"

#include <algorithm>
#include <cmath>

namespace femgpu::linalg
{
namespace
{
/// Variants in ascending order of robustness.
enum class Variant : int
{
  mgs,
  cgs,
  cholqr,
  svqr,
  caqr
};

constexpr const char *names[] = {"mgs", "cgs", "cholqr", "svqr", "caqr"};

Variant variant_of(const std::string &name)
{
  return static_cast<Variant>(std::find(std::begin(names), std::end(names), name) -
                              std::begin(names));
}

template <class Backend>
double frobenius_norm(TallSkinny<Backend> &columns, const int n, const Columns &V,
                      Buffer<double> &product)
{
  double sum = 0.;
  for (int c = 0; c < V.count; ++c) {
    const Columns v = V.columns(c, 1);
    columns.gram(n, v, v, product.data());
    sum += product.to_host(1)[0];
  }
  return std::sqrt(sum);
}

/// Sets the rank and the first dependent column in the report from R. A column depends on previous
/// ones if its diagonal entry of R is at most a rounding error relative to the norm of the column.
void determine_rank(TsqrReport &report)
{
  const int p = report.n_columns;
  const auto R = [&](const int i, const int j) {
    return report
        .R[static_cast<std::size_t>(i) + static_cast<std::size_t>(j) * static_cast<std::size_t>(p)];
  };
  report.rank = 0;
  report.first_dependent = p;
  for (int j = 0; j < p; ++j) {
    double norm = 0.;
    for (int i = 0; i <= j; ++i)
      norm = std::hypot(norm, R(i, j));
    const double left = std::abs(R(j, j));
    report.is_finite = report.is_finite && std::isfinite(norm);
    if (left > dependence_tolerance(p) * norm)
      ++report.rank;
    else
      report.first_dependent = std::min(report.first_dependent, j);
  }
  report.is_done = report.is_done && report.is_finite;
}

/**
 * Computes V = Q R in one or two passes of a variant. The second pass orthogonalises the Q of the
 * first one again, and R is the product of both. (cgs orthogonalises each column twice instead,
 * because its first pass may leave nothing to continue with.)
 *
 * With the condition number κ of V, the variants have these costs and errors ‖I − QᵀQ‖. mgs: p
 * reductions; O(ε κ). cgs: 2 p reductions; O(ε κ^{p-1}), the weakest of all in one pass, as good as
 * any in two while ε κ < 1. cholqr: one reduction, reads V twice and writes it once; O(ε κ²), fails
 * if κ² reaches 1/ε. svqr: as cholqr, with a more expensive small factorisation, which does not
 * fail but leaves orthogonality to a second pass if κ² exceeds 1/ε. caqr: O(ε) for every V; reads
 * and writes V twice, and performs four times as many operations. (Yamazaki 2014, V and figure 10.)
 */
template <class Backend>
class TallSkinnyQr final : public Tsqr
{
public:
  TallSkinnyQr(Method &method, const ExecutorPtr &executor, const Communicator *const communicator)
      : executor(executor), communicator(communicator), variant(variant_of(method.name())),
        passes(method.integer("passes", 1, 1, 2)),
        safer((variant == Variant::cholqr || variant == Variant::svqr) &&
              method.word("safer", "yes", {"yes", "no"}) == "yes"),
        columns(executor, communicator), tree(executor, communicator), B(executor, max_entries),
        R_pass(executor, max_entries), status(executor, 1)
  {}

  TsqrReport factorise(const int n, const Columns &V, double *R) override
  {
    check(n, V);
    TsqrReport report;
    report.n_columns = V.count;
    report.variant = names[static_cast<int>(variant)];
    int n_passes = variant == Variant::cgs ? 1 : passes;
    bool is_done = true;
    for (int pass = 0; pass < n_passes && is_done; ++pass) {
      double *const R_of_pass = pass == 0 ? R : R_pass.data();
      const bool may_floor = !safer || (pass == 0 && n_passes > 1);
      is_done = run_pass(n, V, R_of_pass, may_floor, report);
      if (pass == 0 && safer && report.n_floored > 0 && report.variant != names[4])
        ++n_passes; // the Q of the first pass is not orthonormal
      if (is_done && pass > 0)
        columns.steps().run(teams(1, MultiplyTriangles{V.count, R_of_pass, R},
                                  MultiplyTriangles::scratch_size(V.count)));
    }
    report.is_done = is_done;
    if (is_done) {
      report.R.resize(static_cast<std::size_t>(V.count) * static_cast<std::size_t>(V.count));
      executor->copy_to_host(report.R.data(), R, report.R.size() * sizeof(double));
      determine_rank(report);
    }
    return report;
  }

  double orthogonality_error(const int n, const Columns &Q) const override
  {
    check_alignment(Q);
    const auto p = static_cast<std::size_t>(Q.count);
    Buffer<double> products(executor, p * p);
    TallSkinny<Backend>(executor, communicator).gram(n, Q, Q, products.data());
    const std::vector<double> C = products.to_host();
    double sum = 0.;
    for (std::size_t k = 0; k < C.size(); ++k) {
      const double error = (k % p == k / p ? 1. : 0.) - C[k];
      sum += error * error;
    }
    return std::sqrt(sum);
  }

  double factorisation_error(const int n, const Columns &V, const Columns &Q,
                             const double *R) const override
  {
    check_alignment(V);
    check_alignment(Q);
    const auto p = static_cast<std::size_t>(V.count);
    const auto rows_of_copy = static_cast<std::size_t>(n) + static_cast<std::size_t>(n % 2);
    TallSkinny<Backend> own(executor, communicator);
    Buffer<double> memory(executor, rows_of_copy * p), product(executor, 1);
    const Columns difference{memory.data(), rows_of_copy, V.count};
    for (int c = 0; c < V.count; ++c)
      executor->copy_within(difference[c], V[c], sizeof(double) * static_cast<std::size_t>(n));
    own.subtract(n, Q, R, difference);
    const double norm = frobenius_norm(own, n, V, product);
    return frobenius_norm(own, n, difference, product) / (norm > 0. ? norm : 1.);
  }

private:
  static constexpr auto max_entries = static_cast<std::size_t>(max_columns) * max_columns;

  void check(const int n, const Columns &V) const
  {
    const int min_rows = communicator == nullptr ? 1 : 0;
    if (n < min_rows || V.count < 1 || V.count > max_columns)
      throw ParameterError("A block of " + std::to_string(V.count) + " columns with " +
                           std::to_string(n) + " rows cannot be factorised. Use 1 to " +
                           std::to_string(max_columns) + " columns and at least one row.");
    check_alignment(V);
  }

  /// Computes V = Q R in one pass. Returns false, and does not change V, if that fails.
  /// @param may_floor permits eigenvalues at their floor, so that Q is not yet orthonormal
  bool run_pass(const int n, const Columns &V, double *R, const bool may_floor, TsqrReport &report)
  {
    if (variant == Variant::mgs || variant == Variant::cgs) // these do not write the lower triangle
      executor->fill_zero(R, sizeof(double) * static_cast<std::size_t>(V.count * V.count));
    if (variant == Variant::mgs)
      modified_gram_schmidt(columns, n, V, R, B.data());
    else if (variant == Variant::cgs)
      classical_gram_schmidt(columns, n, V, R, B.data(), passes);
    else if (variant == Variant::caqr)
      tree.factorise(n, V, R);
    else
      return run_gram_pass(n, V, R, may_floor, report);
    return true;
  }

  /// Runs a pass by cholqr or svqr, or by a safer variant.
  bool run_gram_pass(const int n, const Columns &V, double *R, const bool may_floor,
                     TsqrReport &report)
  {
    columns.gram(n, V, V, B.data());
    if (variant == Variant::cholqr) {
      factorise_gram<CholeskyFactor>(V.count, R);
      columns.solve(n, V, R, &status.data()->has_factor); // checked on the device, without waiting
      const FactorStatus result = status.to_host()[0];
      report.is_finite = result.is_finite != 0;
      if (result.has_factor != 0 || !report.is_finite)
        return report.is_finite;
      if (report.failed_column < 0)
        report.failed_column = result.failed_column;
      if (!safer)
        return false;
    }
    return run_singular_value_pass(n, V, R, may_floor, report);
  }

  /// Runs a pass by svqr, with the current Gram matrix, or by caqr if svqr does not suffice.
  bool run_singular_value_pass(const int n, const Columns &V, double *R, const bool may_floor,
                               TsqrReport &report)
  {
    factorise_gram<SingularValueFactor>(V.count, R);
    const FactorStatus result = status.to_host()[0];
    report.is_finite = result.is_finite != 0;
    report.n_floored = std::max(report.n_floored, result.n_floored);
    record_variant(Variant::svqr, report);
    const bool is_enough = result.has_factor != 0 && (result.n_floored == 0 || may_floor);
    if (!report.is_finite)
      return false;
    if (safer && !is_enough) {
      record_variant(Variant::caqr, report);
      tree.factorise(n, V, R);
      return true;
    }
    if (result.has_factor != 0)
      columns.solve(n, V, R);
    return result.has_factor != 0;
  }

  template <class Factor>
  void factorise_gram(const int p, double *R)
  {
    columns.steps().run(teams(1, Factor{p, B.data(), R, status.data()}, Factor::scratch_size(p)));
  }

  static void record_variant(const Variant variant, TsqrReport &report)
  {
    if (variant > variant_of(report.variant))
      report.variant = names[static_cast<int>(variant)];
  }

  ExecutorPtr executor;
  const Communicator *communicator; ///< nullptr: rows are not distributed
  Variant variant;
  int passes;
  bool safer;
  TallSkinny<Backend> columns;
  HouseholderTree<Backend> tree;
  Buffer<double> B, R_pass;
  Buffer<FactorStatus> status;
};
} // namespace

template <>
std::unique_ptr<Tsqr> make_on<class TsqrMethod, ThisBackend>(Method &method,
                                                             const ExecutorPtr &executor,
                                                             const Communicator *const communicator)
{
  return std::make_unique<TallSkinnyQr<ThisBackend>>(method, executor, communicator);
}
} // namespace femgpu::linalg
