#ifndef femgpu_app_abaqus_fields_h
#define femgpu_app_abaqus_fields_h

#include "physics/mesh/mesh_table.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * Expressions for the values that an input file of Abaqus gives at nodes or in cells.
 */
namespace femgpu
{
/// The function a[0] + a[1] x + a[2] y + a[3] z.
using Affine = std::array<double, 4>;

/// The data lines of a property, with the temperature in the last column.
using AbaqusTable = std::vector<std::vector<double>>;

/// Returns column @p column of @p table at @p at, a value of the last column: linear between lines,
/// constant outside.
double interpolate(const AbaqusTable &table, std::size_t column, double at);

/// Returns the shortest text that represents @p number exactly.
std::string number_text(double number);

/// Returns @p function as an expression of x, y and z.
std::string text_of(const Affine &function);

/// Returns the affine function that has the values @p values at the points @p nodes of @p table;
/// nullopt if none has, to within 1e-6 of the largest value.
/// @param values by index of a point
std::optional<Affine> affine_through(const MeshTable &table, const std::vector<std::size_t> &nodes,
                                     const std::vector<double> &values);

/**
 * Returns an expression that equals @p functions[c] in cell c of @p table, for all cells. Cells
 * with different functions must be separated by boxes parallel to the axes; returns nullopt if they
 * are not.
 */
std::optional<std::string> expression_in_cells(const MeshTable &table, int dim,
                                               const std::vector<Affine> &functions);
} // namespace femgpu

#endif
