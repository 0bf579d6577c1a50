#include "linalg/preconditioners/biconjugation/factors.h"
#include "linalg/preconditioners/biconjugation/order.h"
#include "linalg/preconditioners/factorised_operator.h"
#include "linalg/preconditioners/registry.h"
#include "linalg/sparse/symmetry.h"

#include <sstream>

namespace femgpu::linalg
{
namespace
{
/// The entries of a part of column j that are not zero.
template <int parts>
struct CountStored
{
  ColumnsView<parts> Z;
  int part;
  PartitionView blocks;
  int *lengths; ///< of old rows

  FEMGPU_HD
  void operator()(const int j) const
  {
    int length = 0;
    for (int e = Z.starts[j]; e < Z.starts[j] + Z.lengths[j]; ++e)
      length += Z.values[part][e] != 0. ? 1 : 0;
    lengths[blocks.old_row(j)] = length;
  }
};

/// What the pivots do with a factor.
enum class PivotUse
{
  none,
  root,   ///< column j is divided by √p_j
  inverse ///< by p_j
};

/// Row j of the transposed factor: z_j with the rows that A has, and its scaling.
template <int parts>
struct StoreFactor
{
  ColumnsView<parts> Z;
  int part;
  PartitionView blocks;
  const double *pivots, *scaling;
  PivotUse use;
  const int *row_starts;
  int *columns;
  double *values;

  FEMGPU_HD
  void operator()(const int j) const
  {
    const double divisor = use == PivotUse::none   ? 1.
                           : use == PivotUse::root ? sqrt(pivots[j])
                                                   : pivots[j];
    int at = row_starts[blocks.old_row(j)];
    for (int e = Z.starts[j]; e < Z.starts[j] + Z.lengths[j]; ++e) {
      if (Z.values[part][e] == 0.)
        continue;
      columns[at] = blocks.old_row(Z.rows[e]);
      values[at++] = Z.values[part][e] * scaling[Z.rows[e]] / divisor;
    }
  }
};

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
 * Use: PCG with one factor, G = D^{-1/2} Zᵀ and M⁻¹ = Gᵀ G; BiCGStab with two. Needs: for one
 * factor A symmetric and positive definite. Cost: an application is two products; the setup is that
 * of Biconjugation, by far dearer than FSAI with the pattern of A. Fails: SolverError naming the
 * row of a pivot that is not positive, or with two factors zero, which for positive definite A only
 * ainv can find; DeviceError where the columns outgrow the memory.
 */
template <class Backend>
class ApproximateInverse final : public Preconditioner
{
public:
  explicit ApproximateInverse(Method &method)
      : options(method), has_symmetric_form(options.symmetric != "no")
  {}

  void setup(const Matrix &A) override
  {
    factors.reset();
    find_form(A.csr());
    blocks = std::make_unique<BlockPartition>(
        A.executor(), make_partition(options.partition, A.csr(), options.blocks));
    if (has_symmetric_form)
      factorise<1>(A.csr());
    else
      factorise<2>(A.csr());
    blocks.reset();
  }
  void update(const Matrix &A) override // the pattern follows the values
  {
    setup(A);
  }
  Action action() const override
  {
    return factors.get();
  }
  SetupReport setup_report() const override
  {
    const std::size_t in_second = has_symmetric_form ? 0 : factors->second().n_nonzeros();
    return {factors->first().n_nonzeros() + in_second, remarks};
  }
  bool is_symmetric() const override
  {
    return has_symmetric_form;
  }
  std::string name() const override
  {
    return options.name;
  }
  std::size_t bytes() const override
  {
    return factors->bytes();
  }

private:
  void find_form(const CsrMatrix &A)
  {
    if (options.symmetric == "no")
      return;
    const int row = first_unsymmetric_row<Backend>(A);
    if (row >= 0 && options.symmetric == "yes")
      throw SolverError("Preconditioner '" + options.name + "' with symmetric=yes needs a " +
                        "symmetric matrix, but row " + std::to_string(row) +
                        " is another than its column. Use symmetric=no, and bicgstab.");
    has_symmetric_form = row < 0;
  }

  template <int parts>
  void factorise(const CsrMatrix &A)
  {
    const ExecutorPtr &owner = A.executor();
    const AinvSystem<parts> system =
        make_ainv_system<Backend, parts>(A, *blocks, options.is_scaled);
    try {
      Biconjugation<Backend, parts> result(
          owner, system, column_keys<Backend>(options.order, A, *blocks, system.pattern),
          {options.is_stabilised(), options.order == "shortest", {options.drop, options.fill}});
      make_operator(result, system);
      describe(result.n_rounds());
    }
    catch (const BadPivot &pivot) {
      throw_bad_pivot(pivot);
    }
  }

  template <int parts>
  void make_operator(Biconjugation<Backend, parts> &result, const AinvSystem<parts> &system)
  {
    constexpr int w = parts - 1;
    const PivotUse with_w = parts == 1 ? PivotUse::root : PivotUse::none;
    std::unique_ptr<CsrMatrix> second;
    auto W = transpose<Backend>(*rows_of(result, system, w, with_w)); // sorts its rows
    auto first = transpose<Backend>(*W);
    if constexpr (parts == 1)
      second = std::move(W);
    else
      second = transpose<Backend>(*rows_of(result, system, 0, PivotUse::inverse));
    factors = std::make_unique<FactorisedOperator<Backend>>(std::move(first), std::move(second));
  }

  /// A transposed factor, whose rows are not sorted.
  template <int parts>
  std::unique_ptr<CsrMatrix> rows_of(Biconjugation<Backend, parts> &result,
                                     const AinvSystem<parts> &system, const int part,
                                     const PivotUse use) const
  {
    const ExecutorPtr owner = result.executor_of_factors();
    const int n = blocks->n();
    Runner<Backend> runner(*owner);
    Buffer<int> lengths(owner, static_cast<std::size_t>(n));
    runner.run(rows(n, CountStored<parts>{result.factors(), part, blocks->view(), lengths.data()}));
    RowPattern pattern = make_rows<Backend>(owner, lengths);
    Buffer<double> values(owner, pattern.columns.size());
    runner.run(
        rows(n, StoreFactor<parts>{result.factors(), part, blocks->view(), result.pivots().data(),
                                   system.scaling.data(), use, pattern.row_starts.data(),
                                   pattern.columns.data(), values.data()}));
    return std::make_unique<CsrMatrix>(owner, std::move(pattern.row_starts),
                                       std::move(pattern.columns), std::move(values));
  }

  void describe(const int n_rounds)
  {
    std::ostringstream text;
    text << (has_symmetric_form ? "" : "biconjugate, ") << "drop " << options.drop;
    if (options.fill > 0)
      text << ", at most " << options.fill << " entries a column";
    text << ", order " << options.order << ", " << n_rounds << " rounds";
    if (options.blocks > 1)
      text << ", " << blocks->host.n_blocks() << " " << options.partition << " blocks of up to "
           << blocks->host.largest_block() << " rows";
    remarks = text.str();
  }

  [[noreturn]] void throw_bad_pivot(const BadPivot &pivot) const
  {
    std::ostringstream text;
    text << "Preconditioner '" << options.name << "' breaks down: the pivot of row "
         << blocks->old_row(pivot.column) << " is " << pivot.value << ", which is "
         << (has_symmetric_form ? "not positive" : "zero") << " up to rounding. "
         << (!options.is_stabilised() ? "Use sainv, or a smaller drop."
             : has_symmetric_form     ? "The matrix is not positive definite: use symmetric=no."
                                      : "Use a smaller drop, or ilu.");
    throw SolverError(text.str());
  }

  AinvOptions options;
  bool has_symmetric_form;
  std::string remarks;
  std::unique_ptr<BlockPartition> blocks; ///< while it is set up
  std::unique_ptr<FactorisedOperator<Backend>> factors;
};
} // namespace

template <>
std::unique_ptr<Preconditioner> make_on<class AinvPreconditioner, ThisBackend>(Method &method)
{
  return std::make_unique<ApproximateInverse<ThisBackend>>(method);
}
} // namespace femgpu::linalg
