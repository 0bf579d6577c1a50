#include "linalg/orthogonalisation/orthogonalisation.h"
#include "linalg/orthogonalisation/tall_skinny.h"

namespace femgpu::linalg
{
namespace
{
/**
 * Gram-Schmidt orthogonalisation of a block against a basis (BOrth; Yamazaki 2014, V.A and V.B).
 *
 * cgs: C = QᵀV, V −= Q C. One reduction per pass; reads Q and V twice and writes V once. One pass
 * leaves a component along Q of O(ε κ); use two if the basis must remain orthonormal.
 * mgs: the same for one column of Q after the other: count(Q) reductions, and V is read and written
 * as often. It is more robust if the basis is not quite orthonormal.
 */
template <class Backend>
class BlockGramSchmidt final : public BlockOrthogonalisation
{
public:
  BlockGramSchmidt(Method &method, const ExecutorPtr &executor, const Communicator *communicator)
      : executor(executor), columns(executor, communicator), one_by_one(method.name() == "mgs"),
        passes(method.integer("passes", 1, 1, 2))
  {}

  void orthogonalise(const int n, const Columns &Q, const Columns &V, double *C) override
  {
    check_alignment(Q);
    check_alignment(V);
    const auto n_products = static_cast<std::size_t>(Q.count) * static_cast<std::size_t>(V.count);
    if (products.size() < n_products)
      products = Buffer<double>(executor, n_products);
    const int block_size = one_by_one ? 1 : Q.count;
    for (int pass = 0; pass < passes; ++pass)
      for (int x = 0; x < Q.count; x += block_size)
        columns.project_out(n, Q.columns(x, block_size), V, products.data(), C + x,
                            static_cast<std::size_t>(Q.count / block_size), pass == 0);
  }

private:
  ExecutorPtr executor;
  TallSkinny<Backend> columns;
  Buffer<double> products;
  bool one_by_one;
  int passes;
};
} // namespace

template <>
std::unique_ptr<BlockOrthogonalisation>
make_on<class GramSchmidtMethod, ThisBackend>(Method &method, const ExecutorPtr &executor,
                                              const Communicator *const communicator)
{
  return std::make_unique<BlockGramSchmidt<ThisBackend>>(method, executor, communicator);
}
} // namespace femgpu::linalg
