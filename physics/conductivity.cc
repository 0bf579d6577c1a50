#include "physics/conductivity.h"

#include "linalg/base/error.h"
#include "physics/gradient_products.h"

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

template <int dim>
Conductivity<dim>::Conductivity(std::string path, const std::string &text,
                                const MeshRegions &regions)
    : path(std::move(path))
{
  for (const auto &entry :
       parse_material_expressions(this->path, text, dim, regions, /* repeats */ true)) {
    const std::vector<std::string> &expressions = entry.second;
    Material material;
    material.k = std::make_shared<Field<dim>>(this->path, expressions);
    material.is_isotropic =
        std::all_of(expressions.begin(), expressions.end(),
                    [&](const std::string &k) { return k == expressions.front(); });
    material.is_constant = true;
    for (unsigned int d = 0; d < dim; ++d)
      material.is_constant = material.is_constant && material.k->is_constant(d);
    materials[entry.first] = material;
  }
}

template <int dim>
void Conductivity<dim>::check(const Discretization<dim> &discretization) const
{
  FEValues<dim> fe(discretization.mapping(), discretization.element(),
                   discretization.cell_quadrature(), update_quadrature_points);
  std::string error;
  const auto check_point = [&](const Material &material, const types::material_id id,
                               const Point<dim> &p) {
    for (unsigned int d = 0; d < (material.is_isotropic ? 1 : dim) && error.empty(); ++d)
      if (const double k = material.k->value(p, d); !(k > 0.)) {
        std::ostringstream text;
        text << path << " is " << k << " at (" << p << ") in material id " << id
             << ", but must be positive. Change the expression there.";
        error = text.str();
      }
  };
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned() || !error.empty())
      continue;
    const Material &material = materials.at(cell->material_id());
    if (material.is_constant) {
      if (!(material.k->value(Point<dim>()) > 0.) || !material.is_isotropic)
        check_point(material, cell->material_id(), cell->center());
      continue;
    }
    fe.reinit(cell);
    for (const Point<dim> &p : fe.get_quadrature_points())
      check_point(material, cell->material_id(), p);
  }
  for (const std::string &text : Utilities::MPI::all_gather(discretization.communicator(), error))
    if (!text.empty())
      throw ParameterError(text, path);
}

template <int dim>
Tensor<1, dim> Conductivity<dim>::flux(const Place<dim> &place,
                                       const Tensor<1, dim> &gradient) const
{
  const Material &material = materials.at(place.material);
  if (material.is_isotropic)
    return material.k->value(place.point) * gradient;
  Tensor<1, dim> result;
  for (unsigned int d = 0; d < dim; ++d)
    result[d] = material.k->value(place.point, d) * gradient[d];
  return result;
}

template <int dim>
void Conductivity<dim>::add_cell_terms(const FEValues<dim> &fe, FullMatrix<double> &K) const
{
  const Material &material = materials.at(fe.get_cell()->material_id());
  const unsigned int n_directions = material.is_isotropic ? 1 : dim;
  std::array<std::vector<double>, dim> k; // of each direction at all points
  for (unsigned int d = 0; d < n_directions; ++d) {
    k[d].resize(fe.n_quadrature_points);
    material.k->value_list(fe.get_quadrature_points(), k[d], d);
  }
  for (const unsigned int q : fe.quadrature_point_indices()) {
    if (material.is_isotropic) {
      add_gradient_products(fe, q, k[0][q] * fe.JxW(q), K);
      continue;
    }
    Tensor<1, dim> k_JxW;
    for (unsigned int d = 0; d < dim; ++d)
      k_JxW[d] = k[d][q] * fe.JxW(q);
    add_gradient_products(fe, q, k_JxW, K);
  }
}

namespace
{
/// −k∇u
template <int dim>
class FluxOutput final : public DataPostprocessorVector<dim>
{
public:
  explicit FluxOutput(const Conductivity<dim> &k)
      : DataPostprocessorVector<dim>("flux", update_gradients | update_quadrature_points), k(k)
  {}

  void evaluate_scalar_field(const DataPostprocessorInputs::Scalar<dim> &inputs,
                             std::vector<Vector<double>> &computed) const override
  {
    const types::material_id material = inputs.template get_cell<dim>()->material_id();
    for (unsigned int q = 0; q < computed.size(); ++q) {
      const Tensor<1, dim> flux =
          k.flux({inputs.evaluation_points[q], material}, inputs.solution_gradients[q]);
      for (unsigned int d = 0; d < dim; ++d)
        computed[q](d) = -flux[d];
    }
  }

private:
  const Conductivity<dim> &k;
};
} // namespace

template <int dim>
std::shared_ptr<DataPostprocessor<dim>> make_flux_output(const Conductivity<dim> &k)
{
  return std::make_shared<FluxOutput<dim>>(k);
}

template <int dim>
void add_source(const FEValues<dim> &fe, const MaterialFields<dim> &fields, Vector<double> &f)
{
  std::vector<double> values(fe.n_quadrature_points);
  fields.at(fe.get_cell()->material_id())->value_list(fe.get_quadrature_points(), values);
  for (const unsigned int q : fe.quadrature_point_indices()) {
    const double f_JxW = values[q] * fe.JxW(q);
    for (unsigned int i = 0; i < fe.dofs_per_cell; ++i)
      f(i) += f_JxW * fe.shape_value(i, q);
  }
}

template class Conductivity<2>;
template class Conductivity<3>;
template std::shared_ptr<DataPostprocessor<2>> make_flux_output(const Conductivity<2> &);
template std::shared_ptr<DataPostprocessor<3>> make_flux_output(const Conductivity<3> &);
template void add_source(const FEValues<2> &, const MaterialFields<2> &, Vector<double> &);
template void add_source(const FEValues<3> &, const MaterialFields<3> &, Vector<double> &);
} // namespace femgpu
