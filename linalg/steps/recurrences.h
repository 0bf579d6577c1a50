#ifndef femgpu_linalg_steps_recurrences_h
#define femgpu_linalg_steps_recurrences_h

#include "linalg/steps/batch.h"
#include "linalg/steps/vector_steps.h"

#include <tuple>
#include <type_traits>

/**
 * @file
 * Solvers with short recurrences. A method consists of a state, sums, an enum of its vectors and a
 * list of formulas. It is written once for all preconditioners M:
 *
 *     enum Vector : int { x, r, p, q, n_fused, z = n_fused, n_vectors };
 *
 *     struct ApplyMatrix : MatrixTimes<p, q> {      // q = A p
 *       using Reads = VectorList<p>;                // loaded besides q; Writes: stored besides q
 *       using Contributes = SumList<&Sums::pq>;
 *       FEMGPU_HD void operator()(const State &, Row<n_vectors> &v, Sums &sum) const
 *       {
 *         sum.pq += v[p] * v[q];
 *       }
 *       ...                                         // optionally finish(), as in steps.h
 *     };
 *     using Precondition = PreconditionerTimes<r, z>;   // z = M⁻¹r
 *     struct UpdateDirection : RowFormula {                  // without a product
 *       using Images = ImageList<Image<z, r>>;          // reads z, which is M⁻¹r
 *       ...
 *     };
 *
 * If M⁻¹ is diagonal, preconditioning joins the preceding formulas in one step, and an image (the
 * product of M⁻¹ and a source vector) is recomputed from its source wherever it is read. So the
 * vectors from n_fused on, which no formula multiplies with A, need no memory. With any other M⁻¹,
 * preconditioning is a product. Both forms, and the vectors that their steps read and write, are
 * derived from the list of formulas. In both forms the vectors may stay on the chip, see
 * vector_steps.h.
 *
 * A nested list of formulas is an inner loop, which runs while the state's `inner` is true; the
 * last epilogue of the list sets `inner`. The first formula of a step may have one member, `data`:
 * data of the equation other than vectors.
 */
namespace femgpu::linalg
{
enum class Multiplier
{
  none,
  matrix,
  preconditioner
};

/// Declares that v[of] = M⁻¹v[source].
template <int of_, int source_>
struct Image
{
  static constexpr int of = of_, source = source_;
};
template <class... Images>
struct ImageList
{};

/// The base class of the formulas of a row. A formula with a product is called when the row's v[to]
/// contains A v[from] or M⁻¹v[from].
template <Multiplier multiplier_, int from_, int to_>
struct Formula
{
  static constexpr Multiplier multiplier = multiplier_;
  static constexpr int from = from_, to = to_;
  using Reads = VectorList<>;
  using Images = ImageList<>;
  using Writes = VectorList<>;
  /// The number of vectors in `data` of which each row reads a value.
  static constexpr int n_vectors_of_data = 0;

  /// Does nothing: a formula may consist of its product only.
  template <class State, class Row, class Sums>
  FEMGPU_HD
  void operator()(const State & /* state */, Row & /* v */, Sums & /* sums */) const
  {}
};
using RowFormula = Formula<Multiplier::none, -1, -1>;
template <int from, int to>
using MatrixTimes = Formula<Multiplier::matrix, from, to>;
template <int from, int to>
using PreconditionerTimes = Formula<Multiplier::preconditioner, from, to>;

/// The values of one row of all vectors, which formulas access.
template <int n_vectors, bool is_fused>
struct FormulaRow : Row<n_vectors>
{
  double m_i; ///< the row's entry of a diagonal M⁻¹

  /// Returns M⁻¹v[source] for a v[source] that has changed. If M⁻¹ is not diagonal, this would need
  /// a product; the function then returns @p by_recurrence, the value that the caller has updated.
  FEMGPU_HD
  double image(const int source, const double by_recurrence) const
  {
    return is_fused ? m_i * this->values[source] : by_recurrence;
  }
};

/// Sets of vectors, represented as bits.
namespace vector_sets
{
using Set = unsigned int;

constexpr Set of(const int vector)
{
  return vector < 0 ? 0U : 1U << vector;
}
template <int... numbers>
constexpr Set of(VectorList<numbers...> /* list */)
{
  return (0U | ... | of(numbers));
}
template <class... Images>
constexpr Set images(ImageList<Images...> /* list */)
{
  return (0U | ... | of(Images::of));
}
template <class... Images>
constexpr Set sources(ImageList<Images...> /* list */)
{
  return (0U | ... | of(Images::source));
}
constexpr int size(const Set set)
{
  return set == 0 ? 0 : 1 + size(set & (set - 1));
}

template <Set set, int vector, int... numbers>
struct ListOf
    : std::conditional_t<(set >> vector & 1U) != 0, ListOf<set, vector - 1, vector, numbers...>,
                         ListOf<set, vector - 1, numbers...>>
{};
template <Set set, int... numbers>
struct ListOf<set, -1, numbers...>
{
  using Type = VectorList<numbers...>;
};
template <Set set>
using List = typename ListOf<set, 31>::Type;

/// Adds to @p loaded the vectors that a formula loads; @p known are the vectors already in the row.
template <class Formula>
constexpr void load(const bool is_fused, Set &loaded, Set &known)
{
  const typename Formula::Images image_list;
  Set needs = of(typename Formula::Reads()) | (is_fused ? sources(image_list) : images(image_list));
  if (is_fused && Formula::multiplier == Multiplier::preconditioner)
    needs |= of(Formula::from);
  known |= of(Formula::to);
  loaded |= needs & ~known;
  known |= needs | images(image_list) | of(typename Formula::Writes());
}
template <class... Formulas>
constexpr Set loads(const bool is_fused)
{
  Set loaded = 0, known = 0;
  (load<Formulas>(is_fused, loaded, known), ...);
  return loaded;
}
template <class... Formulas>
constexpr Set stores()
{
  return (0U | ... | (of(typename Formulas::Writes()) | of(Formulas::to)));
}
} // namespace vector_sets

template <auto... a, auto... b>
SumList<a..., b...> operator+(SumList<a...>, SumList<b...>)
{
  return {};
}

/// A base class that provides the epilogue of a formula, if the formula has one.
template <class Method, class Formula, bool = HasEpilogue<Formula>::value>
struct EpilogueOf
{};
template <class Method, class Formula>
struct EpilogueOf<Method, Formula, true>
{
  using Completes = CompletedSums<Formula>;
  FEMGPU_HD
  void finish(typename Method::State &state, const typename Method::Sums &sums) const
  {
    Formula().finish(state, sums);
  }
};

/// A base class that stores a formula, unless the formula is empty (has no data).
template <class Formula, bool = std::is_empty_v<Formula>>
struct WithData
{
  FEMGPU_HD
  static Formula formula()
  {
    return {};
  }
};
template <class Formula>
struct WithData<Formula, false>
{
  Formula formula_with_data;
  FEMGPU_HD
  const Formula &formula() const
  {
    return formula_with_data;
  }
};

/// A base class that defines `factor`, the vector that a product multiplies; see vector_steps.h.
template <class Formula, bool is_product>
struct FactorOf
{};
template <class Formula>
struct FactorOf<Formula, true>
{
  static constexpr int factor = Formula::from;
};

template <class Formula>
constexpr bool is_product(const bool is_fused)
{
  return Formula::multiplier != Multiplier::none &&
         (Formula::multiplier != Multiplier::preconditioner || !is_fused);
}

template <class... Formulas>
using Last = std::tuple_element_t<sizeof...(Formulas) - 1, std::tuple<Formulas...>>;

/**
 * Formulas of @p Method that run together as one vector step. Only the last one may have an
 * epilogue. Each formula after the first applies the preconditioner and is fused with the preceding
 * formulas.
 */
template <class Method, bool is_fused, int n_stored_, class... Formulas>
struct Joined;
template <class Method, bool is_fused, int n_stored_, class First, class... Rest>
struct Joined<Method, is_fused, n_stored_, First, Rest...>
    : EpilogueOf<Method, Last<First, Rest...>>,
      FactorOf<First, is_product<First>(is_fused)>,
      WithData<First>
{
  static constexpr Multiplier multiplier = First::multiplier;
  static constexpr int n_stored = n_stored_; ///< number of vectors in a Row; not all need memory
  static constexpr vector_sets::Set in_memory =
      vector_sets::of(is_fused ? Method::n_fused : n_stored) - 1;
  static constexpr vector_sets::Set loads =
      vector_sets::loads<First, Rest...>(is_fused) & in_memory;
  static constexpr vector_sets::Set stores = vector_sets::stores<First, Rest...>() & in_memory;
  /// The number of vectors that a pass over all rows reads, plus the number that it writes.
  static constexpr int n_vectors_moved =
      vector_sets::size(loads | vector_sets::of(is_product<First>(is_fused) ? First::from : -1)) +
      vector_sets::size(stores) + First::n_vectors_of_data;
  /// Whether a formula needs entries of a diagonal M⁻¹.
  template <class Formula>
  static constexpr bool needs_diagonal = is_fused &&
                                         (Formula::multiplier == Multiplier::preconditioner ||
                                          vector_sets::images(typename Formula::Images()) != 0);
  static constexpr bool uses_diagonal = needs_diagonal<First> || (... || needs_diagonal<Rest>);

  /// A form of this step for rows that contain only the vectors of the fused form.
  using OnChip = Joined<Method, is_fused, Method::n_fused, First, Rest...>;
  /// This type if the step uses the diagonal of M⁻¹; otherwise the form of the step for any M.
  using ForAnyM =
      std::conditional_t<uses_diagonal, Joined, Joined<Method, false, n_stored, First, Rest...>>;

  using Reads = vector_sets::List<loads>;
  using Writes = vector_sets::List<stores>;
  using Contributes = decltype((AddedSums<First>() + ... + AddedSums<Rest>()));

  template <class State, class Sums>
  FEMGPU_HD
  void operator()(const State &state, Row<n_stored> &stored, const double m_i, Sums &sums) const
  {
    FullRow v = widened(stored, m_i);
    run(state, v, sums);
    narrow(v, stored);
  }

  /// @param product_i the row's entry of the product of the first formula
  template <class State, class Sums>
  FEMGPU_HD
  void operator()(const State &state, Row<n_stored> &stored, const double product_i,
                  const double m_i, Sums &sums) const
  {
    FullRow v = widened(stored, m_i);
    v[First::to] = product_i;
    run(state, v, sums);
    narrow(v, stored);
  }

private:
  using FullRow = FormulaRow<Method::n_vectors, is_fused>;

  FEMGPU_HD
  static FullRow widened(const Row<n_stored> &stored, const double m_i)
  {
    FullRow v{{stored.number, {}}, m_i};
    FEMGPU_UNROLL
    for (int k = 0; k < n_stored; ++k)
      v.values[k] = stored.values[k];
    return v;
  }
  FEMGPU_HD
  static void narrow(const FullRow &v, Row<n_stored> &stored)
  {
    FEMGPU_UNROLL
    for (int k = 0; k < n_stored; ++k)
      stored.values[k] = v.values[k];
  }

  template <class State, class Sums>
  FEMGPU_HD
  void run(const State &state, FullRow &v, Sums &sums) const
  {
    run_one(this->formula(), state, v, sums);
    (run_one(Rest(), state, v, sums), ...);
  }
  template <class Formula, class State, class Sums>
  FEMGPU_HD
  static void run_one(const Formula &formula, const State &state, FullRow &v, Sums &sums)
  {
    if constexpr (is_fused) {
      make_images(v, typename Formula::Images());
      if constexpr (Formula::multiplier == Multiplier::preconditioner)
        v[Formula::to] = v.m_i * v[Formula::from];
    }
    formula(state, v, sums);
  }
  template <class... Images>
  FEMGPU_HD
  static void make_images([[maybe_unused]] FullRow &v, ImageList<Images...> /* which */)
  {
    ((v[Images::of] = v.m_i * v[Images::source]), ...);
  }
};

/// Appends @p Step to @p Steps if it has an effect. A fused step that only computes an image has no
/// effect, because the image is recomputed where it is read.
template <class Steps, class Step>
struct Append;
template <class... Steps, class Step>
struct Append<StepList<Steps...>, Step>
{
  static constexpr bool has_effect = Step::stores != 0 || !Step::Contributes::empty;
  using Type = std::conditional_t<has_effect, StepList<Steps..., typename Step::ForAnyM>,
                                  StepList<Steps...>>;
};
template <class... Steps, class Method, bool is_fused, int n>
struct Append<StepList<Steps...>, Joined<Method, is_fused, n>>
{
  using Type = StepList<Steps...>;
};
template <class... Steps, class... Inner>
struct Append<StepList<Steps...>, StepList<Inner...>>
{
  using Type = StepList<Steps..., StepList<Inner...>>;
};

/// Whether the formula @p Next runs in one step with the formulas @p Current that precede it.
template <bool is_fused, class Next, class... Current>
struct Joins : std::bool_constant<is_fused && Next::multiplier == Multiplier::preconditioner &&
                                  !HasEpilogue<Last<Current...>>::value>
{};
template <bool is_fused, class Next>
struct Joins<is_fused, Next> : std::true_type
{};

/// Divides @p Formulas into steps and appends these to @p Done. The first formulas join the step
/// @p Current as long as possible.
template <class Done, class Current, class... Formulas>
struct Join : Append<Done, Current>
{};
template <class Done, class Method, bool is_fused, int n, class... Current, class Next,
          class... Formulas>
struct Join<Done, Joined<Method, is_fused, n, Current...>, Next, Formulas...>
    : std::conditional_t<Joins<is_fused, Next, Current...>::value,
                         Join<Done, Joined<Method, is_fused, n, Current..., Next>, Formulas...>,
                         Join<typename Append<Done, Joined<Method, is_fused, n, Current...>>::Type,
                              Joined<Method, is_fused, n, Next>, Formulas...>>
{};
template <class Done, class Method, bool is_fused, int n, class... Current, class... Inner,
          class... Formulas>
struct Join<Done, Joined<Method, is_fused, n, Current...>, StepList<Inner...>, Formulas...>
    : Join<typename Append<
               typename Append<Done, Joined<Method, is_fused, n, Current...>>::Type,
               typename Join<StepList<>, Joined<Method, is_fused, n>, Inner...>::Type>::Type,
           Joined<Method, is_fused, n>, Formulas...>
{};

template <class Method, bool is_fused, class Formulas>
struct StepsOfList;
template <class Method, bool is_fused, class... Formulas>
struct StepsOfList<Method, is_fused, StepList<Formulas...>>
    : Join<StepList<>, Joined<Method, is_fused, Method::n_vectors>, Formulas...>
{};

/// The vector steps of a list of formulas: for diagonal M⁻¹ if @p is_fused, otherwise for any M⁻¹.
template <class Method, bool is_fused, class Formulas>
using StepsOf = typename StepsOfList<Method, is_fused, Formulas>::Type;
} // namespace femgpu::linalg

#endif
