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

/// Keys by METIS' nested dissection of the graph of A + Aᵀ.
inline Buffer<ColumnKey> nested_dissection_keys(const CsrMatrix &A, const BlockPartition &blocks)
{
  const HostMatrix pattern = host_pattern(A);
  const int node_size = pattern.csr().node_size();
  const std::vector<int> places = metis_dissection(node_graph(pattern.csr(), node_size));
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
  Buffer<ColumnKey> column_keys(A.executor(), static_cast<std::size_t>(A.n()));
  const bool is_natural = order == "natural", is_shortest = order == "shortest";
  const int *const starts = pattern.row_starts.data();
  ColumnKey *const keys = column_keys.data();
  Runner<Backend>(*A.executor()).run(rows(A.n(), [=] FEMGPU_BODY(const int j) {
    const auto number = static_cast<unsigned int>(j);
    // Others than the natural ones look like random numbers.
    keys[j] =
        key_of(is_shortest ? starts[j + 1] - starts[j] : 0., is_natural ? number : hash_of(number));
  }));
  return column_keys;
}
} // namespace femgpu::linalg

#endif
