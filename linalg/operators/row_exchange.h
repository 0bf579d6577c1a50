#ifndef femgpu_linalg_operators_row_exchange_h
#define femgpu_linalg_operators_row_exchange_h

#include "linalg/operators/row_space.h"

#include <vector>

namespace femgpu::linalg
{
/// Rows with any number of entries that parts send each other, in host memory: the pattern once, a
/// number for each entry as often as wanted.
class RowExchange
{
public:
  /**
   * Is called by all parts.
   * @param plan of the ghosts whose rows are wanted, or reversed() where rows of ghosts are sent
   * @param lengths of the rows sent, of one neighbour after the other. @p parts outlives it
   */
  RowExchange(const Communicator &parts, const GhostPlan &plan, const std::vector<int> &lengths);

  /// Of the rows received, of one neighbour after the other.
  const std::vector<int> &lengths() const
  {
    return received_lengths;
  }

  /// Is called by all parts. @param sent a number for each entry of the rows sent. Gives those of
  /// the rows received.
  std::vector<double> exchange(const std::vector<double> &sent) const;

private:
  const Communicator &parts;
  GhostPlan entries; ///< numbers of entries in place of those of rows
  std::vector<int> received_lengths;
  std::size_t n_received = 0;
};
} // namespace femgpu::linalg

#endif
