#include "linalg/matrices/format.h"

#include "linalg/base/error.h"
#include "linalg/base/indices.h"

#include <algorithm>

namespace femgpu::linalg
{
int threads_option(Method &method, const Executor &executor, const double mean_length)
{
  const int n_requested = method.integer("threads", 0, 0, 32);
  if ((n_requested & (n_requested - 1)) != 0)
    throw ParameterError("Option 'threads' of the matrix format '" + method.name() +
                         "' must be 1, 2, 4, 8, 16 or 32, or 0 to choose by row length, but is " +
                         std::to_string(n_requested) + ".");
  if (executor.backend() == BackendKind::host) // one thread per row
    return 1;
  return n_requested > 0 ? n_requested : threads_for_rows(executor, mean_length);
}

void check_stored(Method &method, const CsrMatrix &A, const std::size_t n_stored,
                  const std::size_t limit)
{
  constexpr std::size_t slack = 4096; // padding of small matrices is harmless
  const double max_padding = method.number("max-padding", 3., 1., 1e6);
  const std::string beginning = "The format '" + method.name() + "' would store " +
                                std::to_string(n_stored) + " entries for the " +
                                std::to_string(A.n_nonzeros()) + " entries of a matrix with " +
                                std::to_string(A.n()) + " rows, ";
  if (n_stored > limit)
    throw ParameterError(beginning + "more than the limit of its indices (" +
                         std::to_string(limit) + "). Use csr.");
  if (static_cast<double>(n_stored) > max_padding * static_cast<double>(A.n_nonzeros()) + slack)
    throw ParameterError(beginning +
                         "more than max-padding=" + std::to_string(max_padding).substr(0, 6) +
                         " allows. Use csr or pcsr, or raise max-padding.");
}

namespace
{
/// Returns the bytes of all blocks of size @p b, summed over all ranks. Collective over all ranks.
double bytes_of_blocks(const CsrMatrix &A, const int b)
{
  const double blocks = A.domain()->sum(static_cast<double>(BlockPattern(A, b).columns.size()));
  return blocks *
         static_cast<double>(sizeof(int) + sizeof(double) * static_cast<std::size_t>(b) * b);
}

/// Returns whether the rows and the ghosts of this rank consist of whole blocks of @p b consecutive
/// unknowns.
bool has_complete_blocks(const RowSpace &rows, const int b)
{
  if (rows.n() % b != 0 || rows.first() % b != 0)
    return false;
  if (rows.ghost_plan() == nullptr)
    return true;
  const std::vector<long long> &ghosts = rows.ghost_plan()->numbers;
  for (std::size_t k = 0; k < ghosts.size(); ++k)
    if (const std::size_t in_block = k % static_cast<std::size_t>(b);
        ghosts[k] % b != static_cast<long long>(in_block) ||
        ghosts[k] != ghosts[k - in_block] + static_cast<long long>(in_block))
      return false;
  return ghosts.size() % static_cast<std::size_t>(b) == 0;
}

/// Returns whether has_complete_blocks() is true on all ranks. Collective over all ranks.
bool can_use_blocks(const CsrMatrix &A, const int b)
{
  return A.domain()->max(has_complete_blocks(*A.domain(), b) ? 0. : 1.) == 0.;
}
} // namespace

int block_option(Method &method, const CsrMatrix &A)
{
  int b = method.integer("block", 0, 0, 16);
  if (b == 0)
    b = A.unknowns()->per_node;
  if (b == 0) {
    b = 1;
    double min_bytes = bytes_of_blocks(A, 1);
    for (int candidate = 2; candidate <= 6; ++candidate)
      if (can_use_blocks(A, candidate)) {
        const double bytes = bytes_of_blocks(A, candidate);
        if (bytes < min_bytes) {
          min_bytes = bytes;
          b = candidate;
        }
      }
  }
  if (A.domain()->n_global() % b != 0)
    throw ParameterError("The matrix has " + std::to_string(A.domain()->n_global()) +
                         " rows, not a multiple of the block size " + std::to_string(b) +
                         ". Give '" + method.name() +
                         "' a block size that divides the number of rows, for example block=1.");
  if (!can_use_blocks(A, b))
    throw ParameterError("The subdomains of this matrix, or their ghost entries, split blocks of " +
                         std::to_string(b) + " unknowns. Give '" + method.name() +
                         "' block=1, or use format csr or sell.");
  return b;
}

std::vector<int> BlockPattern::row_lengths() const
{
  std::vector<int> lengths(row_starts.size() - 1);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    lengths[i] = row_starts[i + 1] - row_starts[i];
  return lengths;
}

BlockPattern::BlockPattern(const CsrMatrix &A, const int b)
{
  const std::vector<int> low = A.host_row_starts(), entries = A.host_columns();
  const RowStarts starts(low.data(), A.n(), A.n_nonzeros());
  const int n_block_rows = A.n() / b;
  row_starts.assign(static_cast<std::size_t>(n_block_rows) + 1, 0);
  std::vector<int> last(static_cast<std::size_t>(A.n_columns() / b),
                        -1); // for each block column: the last block row that contains it
  std::vector<int> row;
  for (int block_row = 0; block_row < n_block_rows; ++block_row) {
    row.clear();
    const int first_row = block_row * b;
    for (std::size_t k = starts[first_row]; k < starts[first_row + b]; ++k) {
      const int block = entries[k] / b;
      if (last[block] != block_row) {
        last[block] = block_row;
        row.push_back(block);
      }
    }
    std::sort(row.begin(), row.end());
    columns.insert(columns.end(), row.begin(), row.end());
    row_starts[block_row + 1] = static_cast<int>(columns.size());
  }
}
} // namespace femgpu::linalg
