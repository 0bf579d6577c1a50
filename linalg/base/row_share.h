#ifndef femgpu_linalg_base_row_share_h
#define femgpu_linalg_base_row_share_h

namespace femgpu::linalg
{
/// One of several equal contiguous shares of a range.
struct RowShare
{
  int part = 0, n_parts = 1;

  /// Returns the first of @p n items in the share; the end is the first item of the next share.
  int first(const int n) const
  {
    return static_cast<int>(static_cast<long long>(n) * part / n_parts);
  }
  int end(const int n) const
  {
    return RowShare{part + 1, n_parts}.first(n);
  }
  bool is_all() const
  {
    return n_parts == 1;
  }
};
} // namespace femgpu::linalg

#endif
