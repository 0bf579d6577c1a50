#include "physics/measurements/solution_fields.h"

#include "linalg/base/error.h"

#include <algorithm>
#include <cmath>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Puts |v| behind the last dim entries of @p row, which are v.
template <int dim>
void append_magnitude(std::vector<double> &row)
{
  double square = 0.;
  for (auto entry = row.end() - dim; entry != row.end(); ++entry)
    square += *entry * *entry;
  row.push_back(std::sqrt(square));
}
} // namespace

template <int dim>
SolutionFields<dim>::SolutionFields(const Discretization<dim> &discretization,
                                    const Problem<dim> &problem)
    : discretization(discretization), problem(problem), is_scalar(problem.n_components() == 1),
      derived(problem.derived_fields())
{
  const std::string name = problem.component_names().front();
  add_function(name);
  if (is_scalar)
    add_vector("grad_" + name);
  for (const DerivedField &field : derived)
    field.rank == 0   ? add_scalar(field.name)
    : field.rank == 1 ? add_vector(field.name)
                      : add_tensor(field.name);
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

template <int dim>
void SolutionFields<dim>::add_values(const FEValuesBase<dim> &fe, const FeVector &v,
                                     std::vector<std::vector<double>> &values)
{
  const unsigned int n = fe.n_quadrature_points;
  if (is_scalar) {
    scalar_values.resize(n);
    fe.get_function_values(v, scalar_values);
    for (unsigned int q = 0; q < n; ++q)
      values[q].push_back(scalar_values[q]);
    return;
  }
  vector_values.resize(n, Vector<double>(dim));
  fe.get_function_values(v, vector_values);
  for (unsigned int q = 0; q < n; ++q) {
    values[q].insert(values[q].end(), vector_values[q].begin(), vector_values[q].end());
    append_magnitude<dim>(values[q]);
  }
}

/// Of u, whose values at the points are in scalar_values or vector_values.
template <int dim>
void SolutionFields<dim>::add_derived(const FEValuesBase<dim> &fe, const ActiveCell &cell,
                                      std::vector<std::vector<double>> &values)
{
  const unsigned int n = fe.n_quadrature_points, n_components = is_scalar ? 1 : dim;
  at.places = &fe.get_quadrature_points();
  at.material = cell->material_id();
  at.u.reinit(n_components, n);
  at.gradients.reinit(n_components * dim, n);
  if (!is_scalar) {
    vector_gradients.resize(n, std::vector<Tensor<1, dim>>(dim));
    fe.get_function_gradients(u, vector_gradients);
  }
  for (unsigned int c = 0; c < n_components; ++c)
    for (unsigned int q = 0; q < n; ++q) {
      at.u[c][q] = is_scalar ? scalar_values[q] : vector_values[q](c);
      const Tensor<1, dim> &gradient = is_scalar ? scalar_gradients[q] : vector_gradients[q][c];
      for (unsigned int d = 0; d < dim; ++d)
        at.gradients[c * dim + d][q] = gradient[d];
    }
  unsigned int n_rows = 0;
  for (const DerivedField &field : derived)
    n_rows += field.n_numbers(dim);
  numbers.reinit(n_rows, n);
  problem.derive(at, numbers);
  for (unsigned int q = 0; q < n; ++q) {
    unsigned int row = 0;
    for (const DerivedField &field : derived) {
      for (const unsigned int end = row + field.n_numbers(dim); row < end; ++row)
        values[q].push_back(numbers[row][q]);
      if (field.rank == 1)
        append_magnitude<dim>(values[q]);
    }
  }
}

template <int dim>
void SolutionFields<dim>::evaluate(const FEValuesBase<dim> &fe, const ActiveCell &cell,
                                   std::vector<std::vector<double>> &values)
{
  const unsigned int n = fe.n_quadrature_points;
  values.resize(n);
  for (auto &row : values)
    row.clear();
  add_values(fe, u, values);
  if (is_scalar) {
    scalar_gradients.resize(n);
    fe.get_function_gradients(u, scalar_gradients);
    for (unsigned int q = 0; q < n; ++q) {
      for (unsigned int d = 0; d < dim; ++d)
        values[q].push_back(scalar_gradients[q][d]);
      append_magnitude<dim>(values[q]);
    }
  }
  if (!derived.empty())
    add_derived(fe, cell, values);
  for (const NodalField &field : nodal)
    add_values(fe, field.values, values);
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
double SolutionFields<dim>::Reference::value(const std::vector<double> &columns,
                                             const Tensor<1, dim> &normal) const
{
  if (kind == Kind::one)
    return 1.;
  if (kind == Kind::column)
    return columns[column];
  double sum = 0.;
  for (unsigned int d = 0; d < dim; ++d)
    sum += columns[column + d] * normal[d];
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
