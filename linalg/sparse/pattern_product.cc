#include "linalg/sparse/row_product.h"

namespace femgpu::linalg
{
template <class Backend>
RowPattern multiply(const PatternRef &P, const PatternRef &B, const std::string &what)
{
  return PatternProduct<Backend>(P, B).columns(what);
}

template <class Backend>
std::vector<int> product_lengths(const PatternRef &P, const PatternRef &B, const RowList &list)
{
  return PatternProduct<Backend>(P, B).lengths_to_host(list);
}

template RowPattern multiply<ThisBackend>(const PatternRef &, const PatternRef &,
                                          const std::string &);
template std::vector<int> product_lengths<ThisBackend>(const PatternRef &, const PatternRef &,
                                                       const RowList &);
} // namespace femgpu::linalg
