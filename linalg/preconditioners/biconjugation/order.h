#ifndef femgpu_linalg_preconditioners_biconjugation_order_h
#define femgpu_linalg_preconditioners_biconjugation_order_h

#include "linalg/base/error.h"
#include "linalg/base/hash.h"
#include "linalg/preconditioners/biconjugation/pivots.h"
#include "linalg/preconditioners/incomplete/pattern.h"

#include <string>
#include <vector>

/**
 * @file
 * Orders in which columns of an approximate inverse become pivots.
 */
namespace femgpu::linalg
{
inline std::vector<std::string> column_order_choices()
{
  return {"shortest", "colouring", "natural", "nested-dissection"};
}

/// @throws ParameterError if this program was built without what @p order needs
inline void check_column_order(const std::string &order)
{
  if (order == "nested-dissection" && !have_metis())
    throw ParameterError("This femgpu was built without METIS, which order=nested-dissection "
                         "needs. Install libmetis-dev and configure again, or use "
                         "order=colouring.");
}

/// Keys that look like random numbers.
struct HashedKey
{
  const int *A_starts; ///< nullptr: the rows of A do not count
  ColumnKey *keys;

  FEMGPU_HD
  void operator()(const int j) const
  {
    keys[j] = key_of(A_starts == nullptr ? 0. : A_starts[j + 1] - A_starts[j],
                     hash_of(static_cast<unsigned int>(j)));
  }
};

struct NaturalKey
{
  ColumnKey *keys;

  FEMGPU_HD
  void operator()(const int j) const
  {
    keys[j] = key_of(0., static_cast<unsigned int>(j));
  }
};

/// Keys by METIS' nested dissection of the graph of A + Aᵀ.
inline Buffer<ColumnKey> nested_dissection_keys(const CsrMatrix &A, const BlockPartition &blocks)
{
  const std::vector<int> row_starts = A.host_row_starts(), columns = A.host_columns();
  HostCsr pattern;
  pattern.n = A.n();
  pattern.n_nonzeros = A.n_nonzeros();
  pattern.row_starts = row_starts.data();
  pattern.columns = columns.data();
  const bool has_nodes = A.unknowns_per_node() > 1 && A.n() % A.unknowns_per_node() == 0;
  const int node_size = has_nodes ? A.unknowns_per_node() : 1;
  const std::vector<int> places = metis_dissection(node_graph(pattern, node_size));
  std::vector<ColumnKey> keys(static_cast<std::size_t>(A.n()));
  for (int j = 0; j < A.n(); ++j) {
    const int row = blocks.old_row(j);
    keys[j] =
        key_of(1, static_cast<unsigned int>(places[row / node_size] * node_size + row % node_size));
  }
  return {A.executor(), keys.data(), keys.size()};
}

/// Of the columns in the order of the blocks: those with smaller keys come first.
/// @param pattern of the blocks
template <class Backend>
Buffer<ColumnKey> column_keys(const std::string &order, const CsrMatrix &A,
                              const BlockPartition &blocks, const RowPattern &pattern)
{
  if (order == "nested-dissection")
    return nested_dissection_keys(A, blocks);
  Buffer<ColumnKey> keys(A.executor(), static_cast<std::size_t>(A.n()));
  Runner<Backend> runner(*A.executor());
  if (order == "natural")
    runner.run(rows(A.n(), NaturalKey{keys.data()}));
  else
    runner.run(rows(
        A.n(), HashedKey{order == "shortest" ? pattern.row_starts.data() : nullptr, keys.data()}));
  return keys;
}
} // namespace femgpu::linalg

#endif
