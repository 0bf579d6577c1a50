#include "linalg/preconditioners/biconjugation/factors.h"
#include "linalg/preconditioners/factorised_operator.h"
#include "linalg/preconditioners/operator_preconditioner.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/sparse/symmetry.h"

#include <sstream>

namespace femgpu::linalg
{
namespace
{
/// How the columns of a factor are scaled by the pivots p_j.
enum class PivotUse
{
  none,   ///< columns are not scaled
  root,   ///< column j is divided by √p_j
  inverse ///< column j is divided by p_j
};

/// Returns a transposed factor with unsorted rows: row j contains the nonzeros of z_j (or w_j),
/// with the row numbers and the scaling of A.
template <class Backend, int n_factors>
std::shared_ptr<const CsrMatrix>
rows_of_factor(Biconjugation<Backend, n_factors> &result, const AinvSystem<n_factors> &system,
               const BlockPartition &partition, const int factor, const PivotUse use)
{
  const ExecutorPtr owner = result.executor_of_factors();
  const int n = partition.n();
  const ColumnsView<n_factors> Z = result.factors();
  const PartitionView blocks = partition.view();
  Runner<Backend> runner(*owner);
  Buffer<int> row_lengths(owner, static_cast<std::size_t>(n));
  runner.run(rows(n, [Z, factor, blocks, lengths = row_lengths.data()] FEMGPU_BODY(const int j) {
    int length = 0;
    for (int e = Z.starts[j]; e < Z.starts[j] + Z.lengths[j]; ++e)
      length += Z.values[factor][e] != 0. ? 1 : 0;
    lengths[blocks.old_row(j)] = length;
  }));
  RowPattern pattern = make_rows<Backend>(owner, row_lengths);
  const int *const row_starts = pattern.row_starts.data();
  int *const columns = pattern.columns.data();
  const auto matrix = make_matrix(owner, std::move(pattern), n);
  runner.run(rows(n, [=, pivots = result.pivots().data(), scaling = system.scaling.data(),
                      values = matrix->mutable_values()] FEMGPU_BODY(const int j) {
    const double divisor = use == PivotUse::none   ? 1.
                           : use == PivotUse::root ? sqrt(pivots[j])
                                                   : pivots[j];
    int at = row_starts[blocks.old_row(j)];
    for (int e = Z.starts[j]; e < Z.starts[j] + Z.lengths[j]; ++e) {
      if (Z.values[factor][e] == 0.)
        continue;
      columns[at] = blocks.old_row(Z.rows[e]);
      values[at++] = Z.values[factor][e] * scaling[Z.rows[e]] / divisor;
    }
  }));
  return matrix;
}

/// The options of `ainv` and `sainv`.
struct AinvOptions
{
  explicit AinvOptions(Method &method)
      : name(method.name()), drop(method.number("drop", 0.1, 0., 1e10)),
        fill(method.integer("fill", 0, 0, 1 << 24)),
        order(method.word("order", "shortest", column_order_choices())),
        symmetric(method.word("symmetric", "auto", {"auto", "yes", "no"})),
        is_scaled(method.word("scaling", "diagonal", {"diagonal", "none"}) == "diagonal"),
        blocks(method.integer("blocks", 1, 1, 1 << 24)),
        partition(method.word("partition", "contiguous", partition_choices()))
  {
    check_partition(partition);
    check_column_order(order);
  }

  bool is_stabilised() const
  {
    return name == "sainv";
  }

  std::string name;
  double drop;
  int fill;
  std::string order, symmetric;
  bool is_scaled;
  int blocks;
  std::string partition;
};

/**
 * Factorised approximate inverse by biconjugation of the unit vectors, M⁻¹ = Z D⁻¹ Wᵀ with Wᵀ A Z ≈
 * D: `ainv` (Benzi, Meyer and Tůma 1996; Benzi and Tůma 1998 for two factors), and `sainv`,
 * stabilised (Benzi, Cullum and Tůma 2000). Blocks: Dědeček 2013, chapter 4.
 *
 * Use: PCG with one factor, G = D^{-1/2} Zᵀ and M⁻¹ = Gᵀ G; BiCGStab with two factors. Needs: for
 * one factor, A symmetric positive definite. Cost: an application takes two products; the set-up
 * (see Biconjugation) is much more expensive than that of FSAI with the pattern of A. Fails: a
 * SolverError names the row of a pivot that is not positive (one factor) or zero (two factors); for
 * positive definite A this occurs only with ainv. DeviceError if the columns exceed the memory.
 */
template <class Backend>
class ApproximateInverse final : public OperatorPreconditioner<FactorisedInverse>
{
public:
  explicit ApproximateInverse(Method &method)
      : OperatorPreconditioner<FactorisedInverse>(method, true), options(method),
        make_factorised(factorised_maker<Backend>(method))
  {
    preserves_symmetry = options.symmetric != "no";
  }

  void setup(const Matrix &A) override
  {
    this->inverse.reset();
    detect_symmetry(A.csr());
    blocks = std::make_unique<BlockPartition>(
        A.executor(), make_partition(options.partition, A.csr(), options.blocks));
    if (preserves_symmetry)
      factorise<1>(A.csr());
    else
      factorise<2>(A.csr());
    blocks.reset();
  }

private:
  void detect_symmetry(const CsrMatrix &A)
  {
    if (options.symmetric == "no")
      return;
    const int row = first_unsymmetric_row<Backend>(A);
    if (row >= 0 && options.symmetric == "yes")
      throw SolverError("Preconditioner '" + options.name + "' with symmetric=yes needs a " +
                        "symmetric matrix, but row " + std::to_string(row) +
                        " differs from its column. Use symmetric=no with solver bicgstab.");
    preserves_symmetry = row < 0;
  }

  template <int n_factors>
  void factorise(const CsrMatrix &A)
  {
    const ExecutorPtr &owner = A.executor();
    const AinvSystem<n_factors> system =
        make_ainv_system<Backend, n_factors>(A, *blocks, options.is_scaled);
    try {
      Biconjugation<Backend, n_factors> result(
          owner, system, column_keys<Backend>(options.order, A, *blocks, system.pattern),
          {options.is_stabilised(), options.order == "shortest", {options.drop, options.fill}});
      make_operator(result, system);
    }
    catch (const BadPivot &pivot) {
      throw_bad_pivot(pivot);
    }
  }

  /// Returns a factor with sorted rows.
  template <int n_factors>
  std::shared_ptr<const CsrMatrix> sorted_rows(Biconjugation<Backend, n_factors> &result,
                                               const AinvSystem<n_factors> &system,
                                               const int factor, const PivotUse use) const
  {
    return transposed<Backend>(*rows_of_factor(result, system, *blocks, factor, use)).matrix();
  }

  template <int n_factors>
  void make_operator(Biconjugation<Backend, n_factors> &result, const AinvSystem<n_factors> &system)
  {
    constexpr int w = n_factors - 1;
    const PivotUse with_w = n_factors == 1 ? PivotUse::root : PivotUse::none;
    const auto W = sorted_rows(result, system, w, with_w);
    std::shared_ptr<const CsrMatrix> second;
    if constexpr (n_factors == 2)
      second = sorted_rows(result, system, 0, PivotUse::inverse);
    else
      second = W;
    const auto first = transposed<Backend>(*W).matrix();
    const std::size_t n_nonzeros =
        first->n_nonzeros() + (n_factors == 2 ? second->n_nonzeros() : 0);
    this->report = {n_nonzeros, describe(result.n_rounds())};
    this->inverse = make_factorised(first->domain(), first, second);
  }

  std::string describe(const int n_rounds) const
  {
    std::ostringstream text;
    text << (preserves_symmetry ? "" : "biconjugate, ") << "drop " << options.drop;
    if (options.fill > 0)
      text << ", at most " << options.fill << " entries per column";
    text << ", order " << options.order << ", " << n_rounds << " rounds";
    if (options.blocks > 1)
      text << ", " << blocks->host.n_blocks() << " " << options.partition << " blocks of up to "
           << blocks->host.largest_block() << " rows";
    return text.str();
  }

  [[noreturn]] void throw_bad_pivot(const BadPivot &pivot) const
  {
    std::ostringstream text;
    text << "Preconditioner '" << options.name << "' breaks down: the pivot of row "
         << blocks->old_row(pivot.column) << " is " << pivot.value << ", which is "
         << (preserves_symmetry ? "not positive" : "zero") << " up to rounding. "
         << (!options.is_stabilised() ? "Use sainv, or a smaller drop."
             : preserves_symmetry     ? "The matrix is not positive definite: use symmetric=no."
                                      : "Use scaling matching, or a smaller drop.");
    throw SolverError(text.str());
  }

  AinvOptions options;
  MakeFactorised make_factorised;
  using OperatorPreconditioner<FactorisedInverse>::preserves_symmetry;
  std::unique_ptr<BlockPartition> blocks; ///< nullptr except during set-up
};
} // namespace

template <>
std::unique_ptr<Preconditioner> make_on<class AinvPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<ApproximateInverse<ThisBackend>>(method);
}
} // namespace femgpu::linalg
