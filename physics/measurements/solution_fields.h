#ifndef femgpu_physics_solution_fields_h
#define femgpu_physics_solution_fields_h

#include "physics/problem.h"
#include "physics/residual.h"

#include <deal.II/base/tensor.h>
#include <deal.II/base/types.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe_update_flags.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/lac/vector.h>

#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// The names of the axes, as in v_x.
inline constexpr char axes[] = "xyz";

/**
 * All fields of a solution by name, wherever FEValues are: the solution's components, the gradient
 * of a scalar solution, and what Problem::derived_fields() and Problem::nodal_fields() yield.
 * A scalar is one column; a vector `v` has columns `v_x`, `v_y` (`v_z`) and `v_magnitude`; a tensor
 * `t` has `t_xx`, `t_xy`, ….
 */
template <int dim>
class SolutionFields
{
public:
  using ActiveCell = typename dealii::DoFHandler<dim>::active_cell_iterator;

  /// @p discretization and @p problem outlive this object.
  SolutionFields(const Discretization<dim> &discretization, const Problem<dim> &problem);

  /// Collective. Sets the solution whose fields are evaluated.
  void reinit(DiscreteSolution<dim> &solution);

  /// The columns; those of nodal fields are there after reinit().
  const std::vector<std::string> &names() const
  {
    return columns;
  }
  /// The columns of the solution itself, without its gradient.
  std::vector<std::string> solution_names() const;

  /// What evaluate() needs of FEValues.
  static dealii::UpdateFlags update_flags()
  {
    return dealii::update_values | dealii::update_gradients | dealii::update_quadrature_points;
  }

  /**
   * @param fe was reinit() with @p cell, or with a face of it
   * @param values for each quadrature point gets a value for each column
   */
  void evaluate(const dealii::FEValuesBase<dim> &fe, const ActiveCell &cell,
                std::vector<std::vector<double>> &values);

  /// Sets the magnitudes of vectors in a row of values whose components are means of several rows.
  void set_magnitudes(std::vector<double> &row) const;

  /// A field that measurements name.
  struct Reference
  {
    enum class Kind
    {
      one,    ///< `1`
      column, ///< a column
      normal  ///< `v.n`, the component of a vector along the outer normal
    };
    Kind kind = Kind::one;
    unsigned int column = 0; ///< of a vector that of its first component

    double value(const std::vector<double> &columns,
                 const dealii::Tensor<1, dim> &normal = dealii::Tensor<1, dim>()) const;
  };

  /**
   * @param path "Section/Key" of the parameter that has the word
   * @param on_boundary are there normal vectors?
   * @throws ParameterError that lists the fields
   */
  Reference find(const std::string &path, const std::string &word, bool on_boundary) const;

private:
  void add_scalar(const std::string &name);
  void add_vector(const std::string &name);
  void add_tensor(const std::string &name);
  void add_function(const std::string &name);
  void add_values(const dealii::FEValuesBase<dim> &fe, const FeVector &v,
                  std::vector<std::vector<double>> &values);
  void add_derived(const dealii::FEValuesBase<dim> &fe, const ActiveCell &cell,
                   std::vector<std::vector<double>> &values);

  const Discretization<dim> &discretization;
  const Problem<dim> &problem;
  const bool is_scalar;
  std::vector<DerivedField> derived;
  FeVector u;
  std::vector<NodalField> nodal;
  std::vector<std::string> columns;
  std::vector<std::pair<std::string, unsigned int>> vectors; ///< names and first columns
  unsigned int n_columns_before_nodal = 0;
  std::size_t n_vectors_before_nodal = 0;

  // of one cell or face
  std::vector<double> scalar_values;
  std::vector<dealii::Vector<double>> vector_values;
  std::vector<dealii::Tensor<1, dim>> scalar_gradients;
  std::vector<std::vector<dealii::Tensor<1, dim>>> vector_gradients;
  PointBatch<dim> at;
  PointRows numbers; ///< of derived fields
};
} // namespace femgpu

#endif
