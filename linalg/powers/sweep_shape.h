#ifndef femgpu_linalg_powers_sweep_shape_h
#define femgpu_linalg_powers_sweep_shape_h

#include "linalg/memory/executor.h"

#include <algorithm>
#include <string>

namespace femgpu::linalg
{
/// Returns how many rows of up to @p width entries fit into the registers of a thread.
constexpr int rows_in_registers(const int width)
{
  return width <= 3 ? 8 : width <= 5 ? 6 : width <= 7 ? 4 : 3;
}
constexpr int max_width_in_registers = 9;

/// How teams run sweeps over cache blocks.
struct SweepShape
{
  int team_size; ///< threads per team; 1 on the host
  int width;     ///< entries per row kept in registers: 3, 5, 7 or 9; 0: rows are read in each step

  std::string description() const
  {
    if (team_size == 1)
      return "a thread each";
    return "teams of " + std::to_string(team_size) +
           (width > 0 ? ", matrix in registers" : ", matrix read in each step");
  }
};

/// Chooses the shape of sweeps.
/// @param max_rows largest number of rows of a block, with its ghosts
inline SweepShape choose_sweep_shape(const BackendKind backend, const int max_rows,
                                     const int longest_row)
{
  if (backend == BackendKind::host)
    return {1, 0};
  const int width = std::max(3, longest_row | 1);
  if (width <= max_width_in_registers)
    for (const int team_size : {256, 512})
      if (max_rows <= rows_in_registers(width) * team_size)
        return {team_size, width};
  return {max_rows <= 1024 ? 256 : max_rows <= 4096 ? 512 : 1024, 0};
}
} // namespace femgpu::linalg

#endif
