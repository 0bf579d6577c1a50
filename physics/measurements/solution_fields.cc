#include "physics/measurements/solution_fields.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <cmath>

namespace femgpu
{
using namespace dealii;

template <int dim>
SolutionFields<dim>::SolutionFields(const Discretization<dim> &discretization,
                                    const Problem<dim> &problem)
    : discretization(discretization), problem(problem), is_scalar(problem.n_components() == 1),
      postprocessors(problem.postprocessors()), u_cell(discretization.element().n_dofs_per_cell())
{
  const std::string name = problem.component_names().front();
  add_function(name);
  if (is_scalar)
    add_vector("grad_" + name);
  for (const auto &postprocessor : postprocessors)
    add_postprocessor(*postprocessor);
  n_columns_before_nodal = static_cast<unsigned int>(columns.size());
  n_vectors_before_nodal = vectors.size();
}

template <int dim>
void SolutionFields<dim>::add_scalar(const std::string &name)
{
  columns.push_back(name);
}

template <int dim>
void SolutionFields<dim>::add_vector(const std::string &name)
{
  vectors.emplace_back(name, columns.size());
  for (unsigned int d = 0; d < dim; ++d)
    columns.push_back(name + '_' + axes[d]);
  columns.push_back(name + "_magnitude");
}

template <int dim>
void SolutionFields<dim>::add_tensor(const std::string &name)
{
  for (unsigned int a = 0; a < dim; ++a)
    for (unsigned int b = 0; b < dim; ++b)
      columns.push_back(name + '_' + axes[a] + axes[b]);
}

template <int dim>
void SolutionFields<dim>::add_function(const std::string &name)
{
  if (is_scalar)
    add_scalar(name);
  else
    add_vector(name);
}

template <int dim>
void SolutionFields<dim>::add_postprocessor(const DerivedFields<dim> &postprocessor)
{
  const auto names = postprocessor.get_names();
  const auto kinds = postprocessor.get_data_component_interpretation();
  for (unsigned int i = 0; i < names.size();)
    if (kinds[i] == DataComponentInterpretation::component_is_part_of_vector) {
      add_vector(names[i]);
      i += dim;
    }
    else if (kinds[i] == DataComponentInterpretation::component_is_part_of_tensor) {
      add_tensor(names[i]);
      i += dim * dim;
    }
    else
      add_scalar(names[i++]);
}

template <int dim>
void SolutionFields<dim>::reinit(DiscreteSolution<dim> &solution)
{
  u = solution.u();
  u.update_ghost_values();
  nodal = problem.nodal_fields(solution);
  columns.resize(n_columns_before_nodal);
  vectors.resize(n_vectors_before_nodal);
  for (const NodalField &field : nodal) {
    field.values.update_ghost_values();
    add_function(field.name);
  }
}

template <int dim>
std::vector<std::string> SolutionFields<dim>::solution_names() const
{
  return {columns.begin(), columns.begin() + (is_scalar ? 1 : dim)};
}

namespace
{
/// Copies the rows of fields from @p row on, in the order of their numbers, to columns, where |v|
/// follows the components of a vector v.
template <int dim>
class ColumnWriter
{
public:
  ColumnWriter(PointRows &values, const unsigned int n_points) : values(values), n(n_points)
  {}

  unsigned int column = 0; ///< the next

  void scalar(const PointRows &rows, const unsigned int row)
  {
    std::copy_n(rows[row], n, values[column++]);
  }
  void vector(const PointRows &rows, const unsigned int row)
  {
    double *const magnitude = values[column + dim];
    for (unsigned int d = 0; d < dim; ++d) {
      for (unsigned int q = 0; q < n; ++q)
        magnitude[q] += rows[row + d][q] * rows[row + d][q];
      scalar(rows, row + d);
    }
    for (unsigned int q = 0; q < n; ++q)
      magnitude[q] = std::sqrt(magnitude[q]);
    ++column;
  }

private:
  PointRows &values;
  unsigned int n;
};
} // namespace

template <int dim>
void SolutionFields<dim>::evaluate(CellPoints<dim> &points, const ActiveCell<dim> &cell,
                                   PointRows &values)
{
  values.reinit(static_cast<unsigned int>(columns.size()), points.size());
  ColumnWriter<dim> to(values, points.size());
  const PointBatch<dim> &at = points.batch();
  const auto add_function = [&](const FeVector &v) {
    cell->get_dof_values(v, u_cell);
    points.set_solution(u_cell);
    if (is_scalar)
      to.scalar(at.u, 0);
    else
      to.vector(at.u, 0);
  };
  add_function(u);
  if (is_scalar)
    to.vector(at.gradients, 0);
  for (const auto &postprocessor : postprocessors) {
    const auto kinds = postprocessor->get_data_component_interpretation();
    derived.reinit(static_cast<unsigned int>(kinds.size()), points.size());
    postprocessor->evaluate(at, derived);
    for (unsigned int row = 0; row < kinds.size();)
      if (kinds[row] == DataComponentInterpretation::component_is_part_of_vector) {
        to.vector(derived, row);
        row += dim;
      }
      else
        to.scalar(derived, row++);
  }
  for (const NodalField &field : nodal)
    add_function(field.values);
}

template <int dim>
void SolutionFields<dim>::set_magnitudes(std::vector<double> &row) const
{
  for (const auto &entry : vectors) {
    double square = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      square += row[entry.second + d] * row[entry.second + d];
    row[entry.second + dim] = std::sqrt(square);
  }
}

template <int dim>
double SolutionFields<dim>::Reference::value(const PointRows &values, const PointBatch<dim> &at,
                                             const unsigned int q) const
{
  if (kind == Kind::one)
    return 1.;
  if (kind == Kind::column)
    return values[column][q];
  double sum = 0.;
  for (unsigned int d = 0; d < dim; ++d)
    sum += values[column + d][q] * (*at.normals)[q][d];
  return sum;
}

template <int dim>
typename SolutionFields<dim>::Reference SolutionFields<dim>::find(const std::string &path,
                                                                  const std::string &word,
                                                                  const bool on_boundary) const
{
  if (word == "1")
    return {Reference::Kind::one, 0};
  if (const auto at = std::find(columns.begin(), columns.end(), word); at != columns.end())
    return {Reference::Kind::column, static_cast<unsigned int>(at - columns.begin())};
  for (const auto &[name, first] : vectors)
    if (word == name + ".n") {
      if (!on_boundary)
        throw ParameterError("'" + word + "' in " + path +
                                 " is a component along the normal, which only the boundary has. "
                                 "Write 'over boundary', or take a component such as " +
                                 columns[first] + ".",
                             path);
      return {Reference::Kind::normal, first};
    }
  std::string list;
  for (const std::string &name : columns)
    list += name + ", ";
  for (const auto &entry : vectors)
    list += entry.first + ".n, ";
  throw ParameterError("There is no field '" + word + "', which " + path + " names; there are " +
                           list + "and 1 (.n: along the normal of the boundary).",
                       path);
}

template class SolutionFields<2>;
template class SolutionFields<3>;
} // namespace femgpu
