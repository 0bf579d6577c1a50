#ifndef femgpu_physics_vtu_cells_h
#define femgpu_physics_vtu_cells_h

#include <array>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace femgpu
{
/// Cells, or sides of cells, with numbers, as the text of a .vtu file for ParaView. The cells share
/// no points, so that each number belongs to a cell and to its points.
class VtuCells
{
public:
  /// @param names names of the arrays of numbers
  explicit VtuCells(std::vector<std::string> names);

  /// @param vertices in deal.II's order
  /// @param numbers one for each array
  void add(const std::vector<std::array<double, 3>> &vertices, int dimension,
           const std::vector<double> &numbers);

  std::string text() const;

private:
  std::vector<std::string> names;
  std::ostringstream points, nodes, ends, types;
  std::vector<std::ostringstream> of_points; ///< for each array
  std::size_t n_points = 0, n_cells = 0;
};
} // namespace femgpu

#endif
