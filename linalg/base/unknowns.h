#ifndef femgpu_linalg_base_unknowns_h
#define femgpu_linalg_base_unknowns_h

#include "linalg/base/raw_vector.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// A prolongation: a CSR matrix that interpolates unknowns (its rows) from coarser unknowns (its
/// columns). Columns are in ascending order within each row. On several ranks, columns from
/// n_columns on are ghosts, which other ranks own.
struct HostProlongation
{
  int n_columns = 0;
  std::vector<long long> ghosts; ///< global numbers of the ghosts, ascending
  RawVector<int> row_starts = {0};
  RawVector<int> columns;
  RawVector<double> values;
};

struct CoarserUnknowns;

/// The unknowns of a coarser mesh or of a lower polynomial degree, either given or computed by the
/// first call of get(). Copies of the object share the result; get() is not thread-safe.
class LazyCoarserUnknowns
{
public:
  using Pointer = std::shared_ptr<const CoarserUnknowns>;

  /// Makes an object without coarser unknowns.
  LazyCoarserUnknowns() = default;
  /// @param value the coarser unknowns; nullptr: there are none
  LazyCoarserUnknowns(Pointer value) : shared(std::make_shared<Shared>())
  {
    shared->value = std::move(value);
  }
  explicit LazyCoarserUnknowns(std::function<Pointer()> make) : shared(std::make_shared<Shared>())
  {
    shared->make = std::move(make);
  }

  /// Returns whether get() may return coarser unknowns, without computing them.
  bool may_exist() const
  {
    return shared && (shared->make || shared->value);
  }
  /// Returns the coarser unknowns; nullptr if there are none.
  Pointer get() const
  {
    if (!shared)
      return nullptr;
    if (shared->make)
      shared->value = std::exchange(shared->make, nullptr)();
    return shared->value;
  }

private:
  struct Shared
  {
    std::function<Pointer()> make;
    Pointer value;
  };

  std::shared_ptr<Shared> shared;
};

/**
 * Properties of the unknowns x of a system that cannot be derived from its matrix. If a system is
 * scaled, coordinates and prolongations refer to the unknowns x before scaling.
 */
struct Unknowns
{
  int per_node = 0; ///< number of consecutive unknowns at each node; 0: not known
  int dimension = 0;
  std::vector<double> coordinates; ///< n x dimension numbers, row by row; empty: not known
  /// Near-null vectors v, A v ≈ 0 away from the boundary, which multigrid uses instead of constants
  /// and rigid-body motions: n x n_near_null numbers, row by row. They refer to the unknowns x
  /// before scaling. Empty: not given.
  std::vector<double> near_null;
  int n_near_null = 0;
  /// The number of nodes along the longest side of the whole body, if the nodes fill the body
  /// evenly; 0: not known.
  double nodes_along_body = 0.;
  /// The n factors x_i / x̂_i, where x̂ solves the scaled system; empty: the matrix is not scaled.
  std::vector<double> scales;
  /// If a reordering has divided the rows into parts: the first row of each part, then n; otherwise
  /// empty.
  std::vector<int> part_starts;
  LazyCoarserUnknowns coarser;
};

/// The coarser unknowns, and the prolongation that interpolates the finer unknowns from them.
struct CoarserUnknowns
{
  HostProlongation prolongation;
  Unknowns unknowns;
};

using UnknownsPtr = std::shared_ptr<const Unknowns>;

inline const UnknownsPtr default_unknowns = std::make_shared<const Unknowns>();
} // namespace femgpu::linalg

#endif
