#ifndef femgpu_linalg_preconditioners_approximate_inverse_least_squares_h
#define femgpu_linalg_preconditioners_approximate_inverse_least_squares_h

#include "linalg/base/host_device.h"
#include "linalg/sparse/column_set.h"

#include <cstddef>

namespace femgpu::linalg
{
/**
 * Solves min ‖Â m − ê‖₂ for a dense n1 x n2 matrix Â by modified Gram-Schmidt of (Â, ê), which is
 * as stable as Householder's method, in the form without square roots (Björck 1967): Â = Q S, where
 * the columns of Q are orthogonal, but not normalised, and S is upper triangular with a unit
 * diagonal; then S m = t with QᵀQ t = Qᵀê.
 *
 * The workspace begins with memory of one column for row 0 of S, followed by the columns of Â and
 * by ê. Column c of Q is not needed after it has been projected out of the later columns; row c + 1
 * of S, with t_{c+1}, overwrites it. The distance between columns is odd, so that neither rows nor
 * columns cause bank conflicts in shared memory.
 */
class LeastSquares
{
public:
  const int n1, n2;

  /// Returns the size of the workspace in doubles. Before the matrix is stored, the workspace
  /// must have memory for n1 ints and a ColumnSet of n1 columns.
  FEMGPU_HD
  static std::size_t size(const int n1, const int n2)
  {
    const std::size_t matrix = static_cast<std::size_t>(padded_dimension(n1, n2)) * (n2 + 2);
    const std::size_t set = 3 * static_cast<std::size_t>(n1) + 9;
    return matrix > set ? matrix : set;
  }

  /// Returns the largest n1 for which a workspace of @p size doubles suffices; negative if none
  /// does.
  FEMGPU_HD
  static int max_rows(const std::size_t size, const int n2)
  {
    const std::size_t many = std::size_t{1} << 30;
    const auto n_columns = static_cast<unsigned int>(n2 + 2);
    const std::size_t longest = size < many // a 32-bit division is faster
                                    ? static_cast<unsigned int>(size) / n_columns
                                    : size / n_columns;
    const int matrix_limit = (static_cast<int>(longest < many ? longest : many) - 1) / 2 * 2; // odd
    const int set_limit = (static_cast<int>(size < many ? size : many) - 9) / 3;
    if (matrix_limit < n2 || size < 9)
      return -1;
    return matrix_limit < set_limit ? matrix_limit : set_limit;
  }

  FEMGPU_HD
  LeastSquares(double *work, const int n1, const int n2)
      : n1(n1), n2(n2), work(work), leading_dimension(padded_dimension(n1, n2))
  {}

  /// Returns column c of Â or Q; column n2 is ê.
  FEMGPU_HD
  double *column(const int c) const
  {
    return work + static_cast<std::size_t>(c + 1) * leading_dimension;
  }
  /// Returns row c of S: element l >= c is S_cl, element n2 is t_c.
  FEMGPU_HD
  double *row(const int c) const
  {
    return work + static_cast<std::size_t>(c) * leading_dimension;
  }
  /// The squared norm of column c of Â before the factorisation, to detect dependent columns.
  FEMGPU_HD
  double &squared_norm(const int c) const
  {
    return column(c)[n1];
  }

  /// Sets Â and ê to zero; does not change the memory before them.
  template <class Team>
  FEMGPU_HD
  void clear(const Team &team) const
  {
    double *const begin = column(0);
    const std::size_t count = static_cast<std::size_t>(n2 + 1) * leading_dimension;
    for (std::size_t l = team.rank(); l < count; l += team.size())
      begin[l] = 0.;
    team.sync();
  }

  /// Computes S and t in place of Â and ê. Returns the number of linearly dependent columns; the
  /// result is only valid on the first thread.
  template <class Team>
  FEMGPU_HD
  int factorise(const Team &team) const
  {
    int n_dependent = 0;
    for (int c = 0; c < n2; ++c) {
      n_dependent += project(team, c) ? 0 : 1;
      team.sync();
    }
    return n_dependent;
  }

  /// Computes m = S⁻¹t, with zeros for dependent columns.
  template <class Team>
  FEMGPU_HD
  void substitute(const Team &team, double *m) const
  {
    for (int c = n2 - 1; c >= 0; --c) {
      const double m_c = row(c)[c] > 0. ? row(c)[n2] : 0.;
      if (team.rank() == 0)
        m[c] = m_c;
      for (int l = team.rank(); l < c; l += team.size())
        row(l)[n2] -= row(l)[c] * m_c;
      team.sync();
    }
  }

private:
  /// A column is dependent if projection leaves less than this share of its squared norm.
  static constexpr double rank_tolerance = 1e-24;
  /// A column is dependent if its remaining squared norm is less than this, and hence too small to
  /// divide by.
  static constexpr double smallest = 1e-300;

  FEMGPU_HD
  static int padded_dimension(const int n1, const int n2)
  {
    return ((n1 > n2 ? n1 : n2) + 1) | 1;
  }

  FEMGPU_HD
  bool is_independent(const int c, const double qq) const
  {
    return qq > rank_tolerance * squared_norm(c) && qq > smallest;
  }

  /// Projects column c out of all later columns, unless it is dependent. Returns whether it is
  /// independent.
  template <class Team>
  FEMGPU_HD
  bool project(const Team &team, const int c) const
  {
    if constexpr (Team::size() == 1)
      return project_by_one_thread(c);
    else
      return project_by_warps(team, c);
  }

  /// Projects column c out of the later columns, one after the other, by one thread.
  FEMGPU_HD
  bool project_by_one_thread(const int c) const
  {
    const double *const q = column(c);
    const double qq = dot(q, q);
    const bool independent = is_independent(c, qq);
    const double inverse = independent ? 1. / qq : 0.;
    double *const S_c = row(c);
    S_c[c] = independent ? 1. : 0.;
    for (int l = c + 1; l <= n2; ++l) {
      double *const a = column(l);
      const double s = dot(q, a) * inverse;
      S_c[l] = s;
      for (int i = 0; i < n1; ++i)
        a[i] -= s * q[i];
    }
    return independent;
  }

  FEMGPU_HD
  double dot(const double *v, const double *w) const
  {
    double sum_0 = 0., sum_1 = 0., sum_2 = 0., sum_3 = 0.; // four independent sums
    int i = 0;
    for (; i + 3 < n1; i += 4) {
      sum_0 += v[i] * w[i];
      sum_1 += v[i + 1] * w[i + 1];
      sum_2 += v[i + 2] * w[i + 2];
      sum_3 += v[i + 3] * w[i + 3];
    }
    for (; i < n1; ++i)
      sum_0 += v[i] * w[i];
    return sum_0 + sum_1 + (sum_2 + sum_3);
  }

  /// Projects column c out of the later columns by warps of a GPU. Each warp takes a few columns at
  /// a time, and computes their inner products with q together with qᵀq.
  template <class Team>
  FEMGPU_HD
  bool project_by_warps(const Team &team, const int c) const
  {
    constexpr int all_at_once = columns_at_once * Team::n_warps();
    bool independent = true;
    for (int first = c + 1; first <= n2;) {
      const int n_remaining = n2 + 1 - first;
      // all in one round, or half of them if two rounds suffice, or a full round
      const int n_columns = n_remaining <= all_at_once       ? n_remaining
                            : n_remaining <= 2 * all_at_once ? (n_remaining + 1) / 2
                                                             : all_at_once;
      const int begin = n_columns * team.warp() / Team::n_warps();
      const int end = n_columns * (team.warp() + 1) / Team::n_warps();
      if (begin < end || team.warp() == 0)
        independent = project_columns(team, c, first + begin, end - begin);
      first += n_columns;
    }
    if (team.rank() == 0)
      row(c)[c] = independent ? 1. : 0.;
    return independent;
  }

  /// Projects column c out of a few columns from @p first on, by one warp.
  template <class Team>
  FEMGPU_HD
  bool project_columns(const Team &team, const int c, const int first, const int n_columns) const
  {
    const double *const q = column(c);
    double *const a = column(first);
    double sums[columns_at_once + 1] = {};
    for (int i = team.lane(); i < n1; i += team.n_lanes()) {
      const double q_i = q[i];
      sums[columns_at_once] += q_i * q_i;
      FEMGPU_UNROLL
      for (int j = 0; j < columns_at_once; ++j)
        if (j < n_columns)
          sums[j] += q_i * a[j * leading_dimension + i];
    }
    team.sum_over_lanes(sums);
    const double qq = sums[columns_at_once];
    const bool independent = is_independent(c, qq);
    const double inverse = independent ? 1. / qq : 0.;
    for (int i = team.lane(); i < n1; i += team.n_lanes()) {
      const double q_i = q[i];
      FEMGPU_UNROLL
      for (int j = 0; j < columns_at_once; ++j)
        if (j < n_columns)
          a[j * leading_dimension + i] -= sums[j] * inverse * q_i;
    }
    double *const S_c = row(c);
    FEMGPU_UNROLL
    for (int j = 0; j < columns_at_once; ++j)
      if (j < n_columns && team.lane() == j)
        S_c[first + j] = sums[j] * inverse;
    return independent;
  }

  static constexpr int columns_at_once = 7; ///< so that a warp computes 8 sums, including qᵀq

  double *work;
  int leading_dimension; ///< distance between columns
};
} // namespace femgpu::linalg

#endif
