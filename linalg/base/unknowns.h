#ifndef femgpu_linalg_base_unknowns_h
#define femgpu_linalg_base_unknowns_h

#include "linalg/base/raw_vector.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace femgpu::linalg
{
/// The rows of a prolongation, which gives unknowns by fewer others. Columns ascend in each row. Of
/// a part columns from n_columns on are ghosts, unknowns that other parts own.
struct HostProlongation
{
  int n_columns = 0;
  std::vector<long long> ghosts; ///< their global numbers, ascending
  RawVector<int> row_starts = {0};
  RawVector<int> columns;
  RawVector<double> values;
};

struct CoarserUnknowns;

/// Those of a coarser mesh or a lower degree, which may be made only when somebody asks for them.
/// Copies share them; the first get() makes them, not by two threads at a time.
class LazyCoarserUnknowns
{
public:
  using Pointer = std::shared_ptr<const CoarserUnknowns>;

  /// None.
  LazyCoarserUnknowns() = default;
  /// @param known nullptr: none
  LazyCoarserUnknowns(Pointer known) : shared(std::make_shared<Shared>())
  {
    shared->known = std::move(known);
  }
  explicit LazyCoarserUnknowns(std::function<Pointer()> make) : shared(std::make_shared<Shared>())
  {
    shared->make = std::move(make);
  }

  /// Does get() give some, or may it? Makes none.
  bool may_be_known() const
  {
    return shared && (shared->make || shared->known);
  }
  /// nullptr: none are known
  Pointer get() const
  {
    if (!shared)
      return nullptr;
    if (shared->make)
      shared->known = std::exchange(shared->make, nullptr)();
    return shared->known;
  }

private:
  struct Shared
  {
    std::function<Pointer()> make;
    Pointer known;
  };

  std::shared_ptr<Shared> shared;
};

/**
 * What is known of the unknowns x of a matrix besides its entries. Where a system is scaled, places
 * and prolongations are those of x as it was given.
 */
struct Unknowns
{
  int per_node = 0; ///< unknowns of a node, numbered side by side; 0 if not known
  int dimension = 0;
  std::vector<double> coordinates; ///< n x dimension, row by row; empty if not known
  /// Nodes along the longest side of the body, of all parts, if they fill it evenly; 0 if not
  /// known.
  double nodes_along_body = 0.;
  std::vector<double> scales;   ///< x = scales · x̂, n; empty: the matrix is not scaled
  std::vector<int> part_starts; ///< of parts that an order has made: the first of each, then n
  LazyCoarserUnknowns coarser;
};

struct CoarserUnknowns
{
  HostProlongation prolongation;
  Unknowns unknowns;
};

using UnknownsPtr = std::shared_ptr<const Unknowns>;

inline const UnknownsPtr nothing_known = std::make_shared<const Unknowns>();
} // namespace femgpu::linalg

#endif
