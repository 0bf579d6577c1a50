#include "physics/derived_fields.h"

#include <deal.II/dofs/dof_handler.h>

namespace femgpu
{
using namespace dealii;

template <int dim>
void DerivedFields<dim>::add(const std::string &name, const Kind kind)
{
  const unsigned int n = kind == DataComponentInterpretation::component_is_scalar ? 1
                         : kind == DataComponentInterpretation::component_is_part_of_vector
                             ? dim
                             : dim * dim;
  names.insert(names.end(), n, name);
  kinds.insert(kinds.end(), n, kind);
}

namespace
{
double value_of(const double value, const unsigned int /* component */)
{
  return value;
}
double value_of(const Vector<double> &values, const unsigned int c)
{
  return values[c];
}
template <int dim>
const Tensor<1, dim> &gradient_of(const Tensor<1, dim> &gradient,
                                  const unsigned int /* component */)
{
  return gradient;
}
template <int dim>
const Tensor<1, dim> &gradient_of(const std::vector<Tensor<1, dim>> &gradients,
                                  const unsigned int c)
{
  return gradients[c];
}

template <int dim, class Input>
void evaluate_at(const DerivedFields<dim> &fields, const Input &input,
                 const unsigned int n_components, std::vector<Vector<double>> &computed)
{
  PointBatch<dim> at;
  at.places = &input.evaluation_points;
  at.material = input.template get_cell<dim>()->material_id();
  at.u.reinit(n_components, at.size());
  at.gradients.reinit(n_components * dim, at.size());
  for (unsigned int c = 0; c < n_components; ++c)
    for (unsigned int q = 0; q < at.size(); ++q) {
      at.u[c][q] = value_of(input.solution_values[q], c);
      for (unsigned int d = 0; d < dim; ++d)
        at.gradients[c * dim + d][q] = gradient_of(input.solution_gradients[q], c)[d];
    }
  PointRows rows;
  rows.reinit(computed.front().size(), at.size());
  fields.evaluate(at, rows);
  for (const unsigned int row : rows.written())
    for (unsigned int q = 0; q < at.size(); ++q)
      computed[q](row) = rows[row][q];
}
} // namespace

template <int dim>
void DerivedFields<dim>::evaluate_scalar_field(const DataPostprocessorInputs::Scalar<dim> &input,
                                               std::vector<Vector<double>> &computed) const
{
  evaluate_at(*this, input, 1, computed);
}

template <int dim>
void DerivedFields<dim>::evaluate_vector_field(const DataPostprocessorInputs::Vector<dim> &input,
                                               std::vector<Vector<double>> &computed) const
{
  evaluate_at(*this, input, dim, computed);
}

template class DerivedFields<2>;
template class DerivedFields<3>;
} // namespace femgpu
