#ifndef femgpu_physics_solution_fields_h
#define femgpu_physics_solution_fields_h

#include "physics/cell_points.h"
#include "physics/problem.h"
#include "physics/residual.h"

#include <deal.II/lac/vector.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// The names of the axes, as in v_x.
inline constexpr char axes[] = "xyz";

/**
 * Evaluates all fields of a solution by name, at points of cells and faces: the solution's
 * components, the gradient of a scalar solution, and the fields of Problem::derived_fields() and
 * Problem::nodal_fields(). A scalar is one column; a vector `v` has columns `v_x`, `v_y` (`v_z`)
 * and `v_magnitude`; a tensor `t` has `t_xx`, `t_xy`, ….
 */
template <int dim>
class SolutionFields
{
public:
  /// @p discretization and @p problem must outlive this object.
  SolutionFields(const Discretization<dim> &discretization, const Problem<dim> &problem);

  /// Collective. Sets the solution whose fields are evaluated.
  void reinit(DiscreteSolution<dim> &solution);

  /// Returns the column names. @pre reinit() was called
  const std::vector<std::string> &names() const
  {
    return columns;
  }
  /// Returns the column names of the solution itself, without its gradient.
  std::vector<std::string> solution_names() const;

  /**
   * Evaluates all columns.
   * @param points in @p cell or on a face of it; their solution values are overwritten
   * @param values on return, for each column its values at all points
   */
  void evaluate(CellPoints<dim> &points, const ActiveCell<dim> &cell, PointRows &values);

  /// Sets the magnitude of each vector in @p row, which has one mean value per column, to the
  /// magnitude of the mean vector.
  void set_magnitudes(std::vector<double> &row) const;

  /// A field that a measurement refers to.
  struct Reference
  {
    enum class Kind
    {
      one,    ///< the constant 1
      column, ///< a column of evaluate()
      normal  ///< `v.n`, the component of a vector along the outward normal
    };
    Kind kind = Kind::one;
    unsigned int column = 0; ///< for `normal`, the column of the vector's first component
    bool is_nonnegative = true;

    /// Returns the value, given the values of all columns. @pre kind is not `normal`
    double value(const std::vector<double> &columns) const
    {
      return kind == Kind::one ? 1. : columns[column];
    }
    /// Returns the value at point @p q.
    double value(const PointRows &values, const PointBatch<dim> &at, unsigned int q) const;
  };

  /**
   * Finds the field that @p word denotes.
   * @param path "Section/Key" of the parameter that contains the word
   * @param on_boundary whether normal vectors are available
   * @throws ParameterError if there is no such field, or if it needs normal vectors that are not
   * available
   */
  Reference find(const std::string &path, const std::string &word, bool on_boundary) const;

  /// A component, or the length, of a function in the finite element space.
  struct SpaceFunction
  {
    const FeVector *values; ///< with ghost values; valid until the next reinit()
    unsigned int component; ///< index of the component, or Objective::length
  };
  /// Returns the function that @p reference denotes; nullopt if it is not in the finite element
  /// space. @pre reinit() was called
  std::optional<SpaceFunction> space_function(const Reference &reference) const;

private:
  void add(const DerivedField &field);
  void add_space_function(const std::string &name, const FeVector &values);

  const Discretization<dim> &discretization;
  const Problem<dim> &problem;
  const bool is_scalar;
  std::vector<DerivedField> derived;
  unsigned int n_derived_numbers = 0;
  FeVector u;
  std::vector<NodalField> nodal;
  std::vector<std::string> columns;
  std::vector<bool> is_nonnegative;                          ///< by column
  std::map<unsigned int, SpaceFunction> space_functions;     ///< by column
  std::vector<std::pair<std::string, unsigned int>> vectors; ///< names and first columns
  dealii::Vector<double> u_cell;
  PointRows numbers; ///< values of derived fields
};
} // namespace femgpu

#endif
