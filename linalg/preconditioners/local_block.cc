#include "linalg/preconditioners/local_block.h"

#include "linalg/sparse/select_entries.h"

namespace femgpu::linalg
{
namespace
{
template <class Backend>
class DerivedBlock final : public LocalBlock
{
public:
  explicit DerivedBlock(const CsrMatrix &A)
      : block(A, A.n(),
              drop_ghost_columns<Backend>(pattern_of(A), "The diagonal block of a subdomain"))
  {
    block.mutable_matrix().set_unknowns(A.unknowns());
  }
  const CsrMatrix &matrix() const override
  {
    return *block.matrix();
  }
  void update(const CsrMatrix &A) override
  {
    block.update(A);
  }

private:
  DerivedMatrix<Backend> block;
};
} // namespace

template <>
std::unique_ptr<LocalBlock> make_local_block<ThisBackend>(const CsrMatrix &A)
{
  return std::make_unique<DerivedBlock<ThisBackend>>(A);
}
} // namespace femgpu::linalg
