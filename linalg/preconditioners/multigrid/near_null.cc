#include "linalg/preconditioners/multigrid/near_null.h"

#include "linalg/base/error.h"
#include "linalg/execution/this_backend.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace femgpu::linalg
{
namespace
{
/// Returns whether row i has a nonzero off-diagonal entry.
FEMGPU_HD
bool is_coupled(const CsrView<double> &A, const int i)
{
  const RowEntries<double> row = A.entries(i);
  for (int k = 0; k < row.length; ++k)
    if (row.columns[k] != i && row.values[k] != 0.)
      return true;
  return false;
}

/// Stores row i of the near-null vectors: v_c = 1 if the row is unknown c of its node, else 0; then
/// the rotations if `coordinates` is given. In a scaled system, v is divided by `scales`.
struct StoreMotions
{
  CsrView<double> A;
  int block, count;
  const double *coordinates; ///< n x block; nullptr: no rotations
  const double *scales;      ///< nullptr: all are 1
  double *values;

  FEMGPU_HD
  void operator()(const int i) const
  {
    double *const v = values + static_cast<std::size_t>(i) * count;
    for (int c = 0; c < count; ++c)
      v[c] = 0.;
    if (!is_coupled(A, i))
      return;
    const int component = i % block;
    const double one = scales == nullptr ? 1. : 1. / scales[i];
    v[component] = one;
    if (coordinates == nullptr)
      return;
    const double *const x = coordinates + static_cast<std::size_t>(i) * block;
    for (int r = block; r < count; ++r) { // rotation in the plane of directions a and b
      const int a = block == 2 ? 0 : (r + 1) % 3, b = block == 2 ? 1 : (r + 2) % 3;
      v[r] = component == a ? -one * x[b] : component == b ? one * x[a] : 0.;
    }
  }
};

/// Stores row i of near-null vectors that Unknowns supply.
struct StoreSupplied
{
  CsrView<double> A;
  int count;
  const double *supplied; ///< n x count
  const double *scales;   ///< nullptr: all are 1
  double *values;

  FEMGPU_HD
  void operator()(const int i) const
  {
    const std::size_t begin = static_cast<std::size_t>(i) * count;
    const double factor = !is_coupled(A, i) ? 0. : scales == nullptr ? 1. : 1. / scales[i];
    for (int c = 0; c < count; ++c)
      values[begin + c] = factor * supplied[begin + c];
  }
};

/// Returns the coordinates relative to the centre of the body, about which it rotates, in units of
/// its size. Centre and size are determined from the coordinates on all ranks.
std::vector<double> centred(const std::vector<double> &coordinates, const int dimension,
                            const RowSpace &rows)
{
  std::vector<double> result = coordinates;
  const auto step = static_cast<std::size_t>(dimension);
  double extent = 0.;
  for (std::size_t d = 0; d < step; ++d) {
    double smallest = std::numeric_limits<double>::max(), largest = -smallest;
    for (std::size_t k = d; k < coordinates.size(); k += step) {
      smallest = std::min(smallest, coordinates[k]);
      largest = std::max(largest, coordinates[k]);
    }
    smallest = -rows.max(-smallest);
    largest = rows.max(largest);
    for (std::size_t k = d; k < coordinates.size(); k += step)
      result[k] -= 0.5 * (smallest + largest);
    extent = std::max(extent, largest - smallest);
  }
  for (double &x : result)
    x /= extent > 0. ? extent : 1.;
  return result;
}
} // namespace

template <class Backend>
NearNullVectors near_null_vectors(const CsrMatrix &A, const Unknowns &unknowns, const int block,
                                  const std::string &kind)
{
  const int dimension = unknowns.dimension;
  const bool has_rigid_body_modes = dimension >= 2 && dimension <= 3 && block == dimension;
  if (kind == "rigid-body" && !has_rigid_body_modes)
    throw ParameterError(
        "Multigrid with near-null=rigid-body needs the coordinates of the unknowns, and one "
        "unknown per node for each dimension, but the matrix has " +
        (dimension == 0 ? "no coordinates"
                        : "coordinates in " + std::to_string(dimension) + " dimensions") +
        " and a block of " + std::to_string(block) +
        ". Use near-null=constants, or block=2 in 2D and block=3 in 3D.");
  const bool has_rotations = has_rigid_body_modes && kind != "constants";
  const bool is_supplied = kind == "auto" && unknowns.n_near_null > 0;
  NearNullVectors result;
  result.count = is_supplied      ? unknowns.n_near_null
                 : !has_rotations ? block
                 : dimension == 2 ? 3
                                  : 6;
  if (result.count > NearNullVectors::max_vectors)
    throw ParameterError("Multigrid supports at most " +
                         std::to_string(NearNullVectors::max_vectors) +
                         " near-null vectors, but the matrix has " + std::to_string(result.count) +
                         ". Supply fewer vectors.");
  const ExecutorPtr &owner = A.executor();
  result.values = Buffer<double>(owner, static_cast<std::size_t>(A.n()) *
                                            static_cast<std::size_t>(result.count));
  Buffer<double> given, scales;
  if (const std::vector<double> &values = unknowns.scales; !values.empty())
    scales = Buffer<double>(owner, values.data(), values.size());
  Runner<Backend> runner(*owner);
  if (is_supplied) {
    given = Buffer<double>(owner, unknowns.near_null.data(), unknowns.near_null.size());
    runner.run(rows(A.n(), StoreSupplied{A.csr_view(), result.count, given.data(), scales.data(),
                                         result.values.data()}));
    return result;
  }
  if (has_rotations) {
    const std::vector<double> on_host = centred(unknowns.coordinates, dimension, *A.range());
    given = Buffer<double>(owner, on_host.data(), on_host.size());
  }
  runner.run(rows(A.n(), StoreMotions{A.csr_view(), block, result.count, given.data(),
                                      scales.data(), result.values.data()}));
  return result;
}

template NearNullVectors near_null_vectors<ThisBackend>(const CsrMatrix &, const Unknowns &, int,
                                                        const std::string &);
} // namespace femgpu::linalg
