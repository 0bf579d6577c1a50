#ifndef femgpu_linalg_steps_vector_steps_h
#define femgpu_linalg_steps_vector_steps_h

#include "linalg/steps/diagonal_view.h"
#include "linalg/steps/steps.h"

/**
 * @file
 * Steps that leave open where the vectors of a method are.
 *
 * Vectors have numbers, and the body of a step sees the values of one row in them. It says by
 * `Reads` and `Writes` which it loads and stores, and is called as body(s, v, m_i, sum), with the
 * row's entry of a diagonal M⁻¹; the body of a product as body(s, v, Av_i, m_i, sum), and says by
 * `static constexpr int factor = p` which vector A is multiplied with. Bodies without members run
 * with vectors in memory, where each row is loaded and stored, and with vectors that stay in the
 * registers of a GPU for a whole solve; those with members, the data of an equation, run in memory.
 * Methods are written as in recurrences.h, which makes such bodies of their formulas; `OnChip` is
 * one without the vectors that need no place there.
 */
namespace femgpu::linalg
{
class Matrix;

/// Numbers of vectors.
template <int... numbers>
struct VectorList
{};

/// Is a step of these formulas a product? It has a `factor` then.
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
  int number; ///< of the row
  double values[n_vectors];

  FEMGPU_HD
  double &operator[](const int vector)
  {
    return values[vector];
  }
};

/// Where the vectors of a method are: arrays of n elements. Views of them are copied freely.
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

/// A body with its vectors in memory, as the steps of steps.h have it. @p m gives m_i.
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

/// Can the vectors of a step's body be elsewhere than in memory?
template <class Body>
struct IsInMemory : std::false_type
{};
template <int n_vectors, class Body>
struct IsInMemory<InMemory<n_vectors, Body>> : std::is_empty<Body>
{};

/// The same of a step.
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
