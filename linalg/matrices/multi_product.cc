#include "linalg/matrices/multi_product.h"

#include "linalg/execution/this_backend.h"
#include "linalg/operators/csr_matrix.h"
#include "linalg/steps/row_pieces.h"

#include <type_traits>

namespace femgpu::linalg
{
namespace
{
/// Multiplies several vectors by the matrix with a view of type View. On a GPU an item is a pair of
/// columns in a row; on the host it is a row.
template <class View>
struct MultiplyRows
{
  /// Resident blocks per multiprocessor of a GPU, which leave enough registers for the loads in
  /// flight.
  static constexpr int min_blocks = 4;

  View A;
  const double *X;
  double *Y;
  RowPieces pieces;

  FEMGPU_HD
  void operator()(const int item) const
  {
    const RowPieces::Piece piece = pieces[item];
    for_column_parts(piece, [&](const auto width, const int c) {
      multiply<decltype(width)::value>(piece.row, c);
    });
  }

private:
  template <int width>
  FEMGPU_HD
  void multiply(const int position, const int c) const
  {
    const RowPart<width> sums =
        A.row_product(position, 0, 1, RowParts<width>{X + c, pieces.stride});
    *reinterpret_cast<RowPart<width> *>(
        Y + static_cast<std::size_t>(A.row(position)) * pieces.stride + c) = sums;
  }
};

template <class View>
constexpr bool supports_several_vectors =
    std::is_same_v<View, CsrView<double>> || std::is_same_v<View, SellView<double>> ||
    std::is_same_v<View, BsrView<double>> || std::is_same_v<View, BlockSellView<double>>;
} // namespace

template <>
void multiply_on<ThisBackend>(const Matrix &A, const MultiVector<double> &X, MultiVector<double> &Y)
{
  Runner<ThisBackend> runner(*A.executor());
  const auto run = [&](const auto &view) {
    for_row_pieces(A.n(), X.stride(), [&](const RowPieces &pieces) {
      runner.run(rows(pieces.count, MultiplyRows<std::decay_t<decltype(view)>>{view, X.data(),
                                                                               Y.data(), pieces}));
    });
  };
  visit_view(A, [&](const auto &view) {
    if constexpr (supports_several_vectors<std::decay_t<decltype(view)>>)
      run(view);
    else
      run(A.csr().csr_view());
  });
}
} // namespace femgpu::linalg
