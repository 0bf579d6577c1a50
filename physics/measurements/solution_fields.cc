#include "physics/measurements/solution_fields.h"

#include "linalg/base/error.h"
#include "physics/extrema.h"

#include <algorithm>
#include <cmath>

namespace femgpu
{
using namespace dealii;

template <int dim>
SolutionFields<dim>::SolutionFields(const Discretization<dim> &discretization,
                                    const Problem<dim> &problem)
    : discretization(discretization), problem(problem), is_scalar(problem.n_components() == 1),
      derived(problem.derived_fields()), u_cell(discretization.element().n_dofs_per_cell())
{
  for (const DerivedField &field : derived)
    n_derived_numbers += field.n_numbers(dim);
}

template <int dim>
void SolutionFields<dim>::add(const DerivedField &field)
{
  if (field.rank == 0)
    columns.push_back(field.name);
  else if (field.rank == 1) {
    vectors.emplace_back(field.name, columns.size());
    for (unsigned int d = 0; d < dim; ++d)
      columns.push_back(field.name + '_' + axes[d]);
    columns.push_back(field.name + "_magnitude");
  }
  else
    for (unsigned int a = 0; a < dim; ++a)
      for (unsigned int b = 0; b < dim; ++b)
        columns.push_back(field.name + '_' + axes[a] + axes[b]);
  is_nonnegative.resize(columns.size(), field.rank == 0 && field.is_nonnegative);
  if (field.rank == 1)
    is_nonnegative.back() = true; // the magnitude
}

template <int dim>
void SolutionFields<dim>::add_space_function(const std::string &name, const FeVector &values)
{
  const auto first = static_cast<unsigned int>(columns.size());
  add({name, is_scalar ? 0U : 1U});
  for (unsigned int column = first; column < columns.size(); ++column)
    space_functions[column] = {
        &values, column - first < problem.n_components() ? column - first : Objective::length};
}

template <int dim>
void SolutionFields<dim>::reinit(DiscreteSolution<dim> &solution)
{
  u = solution.u();
  u.update_ghost_values();
  nodal = problem.nodal_fields(solution);
  columns.clear();
  is_nonnegative.clear();
  space_functions.clear();
  vectors.clear();
  const std::string name = problem.solution_name();
  add_space_function(name, u);
  if (is_scalar)
    add({"grad_" + name, 1});
  for (const DerivedField &field : derived)
    add(field);
  for (const NodalField &field : nodal) {
    field.values.update_ghost_values();
    add_space_function(field.name, field.values);
  }
}

template <int dim>
std::vector<std::string> SolutionFields<dim>::solution_names() const
{
  return {columns.begin(), columns.begin() + (is_scalar ? 1 : dim)};
}

template <int dim>
void SolutionFields<dim>::evaluate(CellPoints<dim> &points, const ActiveCell<dim> &cell,
                                   PointRows &values)
{
  const unsigned int n = points.size();
  values.reinit(static_cast<unsigned int>(columns.size()), n);
  unsigned int column = 0; // the next column
  // copies a field's rows, and appends |v| to the components of a vector v
  const auto copy = [&](const PointRows &rows, const unsigned int begin, const unsigned int n_rows,
                        const bool is_vector) {
    for (unsigned int row = begin; row < begin + n_rows; ++row)
      std::copy_n(rows[row], n, values[column++]);
    if (!is_vector)
      return;
    double *const magnitude = values[column++];
    for (unsigned int row = begin; row < begin + n_rows; ++row)
      for (unsigned int q = 0; q < n; ++q)
        magnitude[q] += rows[row][q] * rows[row][q];
    for (unsigned int q = 0; q < n; ++q)
      magnitude[q] = std::sqrt(magnitude[q]);
  };
  const PointBatch<dim> &at = points.batch();
  const auto copy_function = [&](const FeVector &v) {
    cell->get_dof_values(v, u_cell);
    points.set_solution(u_cell);
    copy(at.u, 0, problem.n_components(), !is_scalar);
  };
  copy_function(u);
  if (is_scalar)
    copy(at.gradients, 0, dim, true);
  if (!derived.empty()) {
    numbers.reinit(n_derived_numbers, n);
    problem.evaluate_derived_fields(at, numbers);
  }
  unsigned int row = 0;
  for (const DerivedField &field : derived) {
    copy(numbers, row, field.n_numbers(dim), field.rank == 1);
    row += field.n_numbers(dim);
  }
  for (const NodalField &field : nodal)
    copy_function(field.values);
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
auto SolutionFields<dim>::space_function(const Reference &reference) const
    -> std::optional<SpaceFunction>
{
  const auto entry = space_functions.find(reference.column);
  if (reference.kind != Reference::Kind::column || entry == space_functions.end())
    return {};
  return entry->second;
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
    return {};
  if (const auto at = std::find(columns.begin(), columns.end(), word); at != columns.end()) {
    const auto column = static_cast<unsigned int>(at - columns.begin());
    return {Reference::Kind::column, column, is_nonnegative[column]};
  }
  for (const auto &[name, first] : vectors)
    if (word == name + ".n") {
      if (!on_boundary)
        throw ParameterError(
            "'" + word + "' in " + path +
                " is a component along the normal, which is defined on the boundary only. Write "
                "'over boundary', or use a component such as " +
                columns[first] + ".",
            path);
      return {Reference::Kind::normal, first, /* is_nonnegative */ false};
    }
  std::string list;
  for (const std::string &name : columns)
    list += name + ", ";
  for (const auto &entry : vectors)
    list += entry.first + ".n, ";
  throw ParameterError("Field '" + word + "' in " + path + " does not exist. The fields are " +
                           list + "and 1 (.n is the component along the normal of the boundary).",
                       path);
}

template class SolutionFields<2>;
template class SolutionFields<3>;
} // namespace femgpu
