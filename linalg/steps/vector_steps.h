#ifndef femgpu_linalg_steps_vector_steps_h
#define femgpu_linalg_steps_vector_steps_h

#include "linalg/steps/diagonal_view.h"
#include "linalg/steps/steps.h"

/**
 * @file
 * Steps that do not depend on where the vectors of a method are stored.
 *
 * Vectors have numbers, and the body of a step accesses the values of one row in them. Its `Reads`
 * and `Writes` list the vectors that are loaded and stored. A body is called as body(s, v, m_i,
 * sum) with the state s, the row's values v, the row's entry m_i of a diagonal M⁻¹, and the sums.
 * The body of a product is called as body(s, v, Av_i, m_i, sum), and its `static constexpr int
 * factor = p` is the vector that A multiplies. Bodies without members can run with vectors in
 * memory, where each row is loaded and stored, or with vectors that stay in the registers of a GPU
 * for a whole solve. Bodies with members (the data of an equation) run with vectors in memory only.
 * The templates of recurrences.h make bodies from the formulas of a method. The type `OnChip` of a
 * body is the same body without the vectors that need no storage on the chip.
 */
namespace femgpu::linalg
{
class Matrix;

/// A list of vectors by their numbers.
template <int... numbers>
struct VectorList
{};

/// Whether a step with the body @p Formulas is a product, and therefore has a member `factor`.
template <class Formulas, class = void>
struct IsProduct : std::false_type
{};
template <class Formulas>
struct IsProduct<Formulas, std::void_t<decltype(Formulas::factor)>> : std::true_type
{};

/// The values of one row in each vector of a method.
template <int n_vectors>
struct Row
{
  int number; ///< number of the row
  double values[n_vectors];

  FEMGPU_HD
  double &operator[](const int vector)
  {
    return values[vector];
  }
};

/// A view of the vectors of a method in memory: arrays of n elements.
template <int n_vectors>
struct VectorSet
{
  double *data[n_vectors];

  template <int n>
  VectorSet<n> first() const
  {
    static_assert(n <= n_vectors);
    VectorSet<n> some;
    for (int k = 0; k < n; ++k)
      some.data[k] = data[k];
    return some;
  }

  template <int... numbers>
  FEMGPU_HD
  void load([[maybe_unused]] const int i, [[maybe_unused]] Row<n_vectors> &row,
            VectorList<numbers...> /* which */) const
  {
    ((row.values[numbers] = data[numbers][i]), ...);
  }

  template <int... numbers>
  FEMGPU_HD
  void store([[maybe_unused]] const int i, [[maybe_unused]] const Row<n_vectors> &row,
             VectorList<numbers...> /* which */) const
  {
    ((data[numbers][i] = row.values[numbers]), ...);
  }
};

/// A body with its vectors in memory, in the form that steps.h expects. m(i) returns the entry m_i
/// of a diagonal M⁻¹.
template <int n_vectors, class Body>
struct InMemory : Body
{
  using Formulas = Body;
  static constexpr int size = n_vectors;

  VectorSet<n_vectors> vectors;
  DiagonalView m;

  InMemory(const Body &body, const VectorSet<n_vectors> &vectors, const DiagonalView &m)
      : Body(body), vectors(vectors), m(m)
  {}

  template <class State, class Sums>
  FEMGPU_HD
  void operator()(const State &s, const int i, Sums &sums) const
  {
    Row<n_vectors> row{i, {}};
    vectors.load(i, row, typename Body::Reads{});
    Body::operator()(s, row, m(i), sums);
    vectors.store(i, row, typename Body::Writes{});
  }

  template <class State, class Sums>
  FEMGPU_HD
  void operator()(const State &s, const int i, const double Av_i, Sums &sums) const
  {
    Row<n_vectors> row{i, {}};
    vectors.load(i, row, typename Body::Reads{});
    Body::operator()(s, row, Av_i, m(i), sums);
    vectors.store(i, row, typename Body::Writes{});
  }
};

/// Whether @p Body is an InMemory<...> whose vectors can also be stored on the chip.
template <class Body>
struct IsInMemory : std::false_type
{};
template <int n_vectors, class Body>
struct IsInMemory<InMemory<n_vectors, Body>> : std::is_empty<Body>
{};

/// Whether the vectors of a step can be stored on the chip instead of in memory.
template <class Step>
struct IsVectorStep : std::false_type
{};
template <class Body>
struct IsVectorStep<RowStep<Body>> : IsInMemory<Body>
{};
template <class Body>
struct IsVectorStep<ProductStep<Matrix, Body>> : IsInMemory<Body>
{};

template <int n_vectors, class Body>
RowStep<InMemory<n_vectors, Body>> rows(const int n, const VectorSet<n_vectors> &vectors,
                                        const DiagonalView &m, const Body &body)
{
  return {n, {body, vectors, m}};
}

template <class Operator, int n_vectors, class Body>
ProductStep<Operator, InMemory<n_vectors, Body>> product(const Operator &A,
                                                         const VectorSet<n_vectors> &vectors,
                                                         const DiagonalView &m, const Body &body)
{
  return {&A, vectors.data[Body::factor], {body, vectors, m}};
}
} // namespace femgpu::linalg

#endif
