#ifndef femgpu_linalg_base_row_share_h
#define femgpu_linalg_base_row_share_h

namespace femgpu::linalg
{
/// The share of one rank if a range 0 <= i < n, for example of rows, is divided into n_ranks
/// contiguous shares of nearly equal size.
struct RowShare
{
  int rank = 0, n_ranks = 1;

  /// Returns the first i of the share.
  int first(const int n) const
  {
    return static_cast<int>(static_cast<long long>(n) * rank / n_ranks);
  }
  /// Returns the end of the share, which is the first i of the next share.
  int end(const int n) const
  {
    return RowShare{rank + 1, n_ranks}.first(n);
  }
  bool is_all() const
  {
    return n_ranks == 1;
  }
};
} // namespace femgpu::linalg

#endif
