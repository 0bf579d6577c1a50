#ifndef femgpu_linalg_base_row_share_h
#define femgpu_linalg_base_row_share_h

namespace femgpu::linalg
{
/// One of some equal parts of what follows each other.
struct RowShare
{
  int part = 0, n_parts = 1;

  /// The first of @p n that it has; the end is the first of the next.
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
