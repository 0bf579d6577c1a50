#include "linalg/base/error.h"
#include "physics/problem_tools.h"
#include "physics/registry.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/parameter_acceptor.h>
#include <deal.II/base/symmetric_tensor.h>

#include <algorithm>
#include <cmath>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Section "Elasticity": −div σ = b, σ = λ tr(ε) I + 2μ ε.
class ElasticityPhysics final : public Physics, public ParameterAcceptor
{
public:
  ElasticityPhysics() : ParameterAcceptor("/Elasticity")
  {
    add_parameter("Young's modulus", young, "E > 0, in Pa (or any unit of stress).", prm,
                  Patterns::Double(1e-300));
    add_parameter("Poisson's ratio", poisson, "nu, -0.999 <= nu <= 0.499, without unit.", prm,
                  Patterns::Double(-0.999, 0.499));
    add_parameter("Body force", body_force,
                  "Force per volume, in N/m^3: one expression of x, y, z for each direction, "
                  "separated by ','; empty for none.");
    add_parameter("Displacement", displacement,
                  "Prescribed displacement on parts of the boundary, in m: 'ids: u_x, u_y, u_z; "
                  "...', one expression for each direction or the word free, as '0: 0, 0, 0; 1: "
                  "free, 0.1, free'.");
    add_parameter(
        "Traction", traction,
        "Force per area on parts of the boundary, in Pa: 'ids: t_x, t_y, t_z; ...'. Parts "
        "that are not named anywhere are free of traction.");
    add_parameter("Exact solution", exact_solution,
                  "If given, errors in L2, H1 and Linf are computed: the displacement, one "
                  "expression for each direction, separated by ','.");
  }

  std::unique_ptr<Problem<2>> make_2d(const MeshRegions &regions) const override;
  std::unique_ptr<Problem<3>> make_3d(const MeshRegions &regions) const override;

  double young = 210e9;
  double poisson = 0.3;
  std::string body_force;
  std::string displacement;
  std::string traction;
  std::string exact_solution;
};

/// Lamé's constants of E and ν, in the unit of E.
struct Lame
{
  Lame(const double E, const double nu)
      : lambda(E * nu / ((1. + nu) * (1. - 2. * nu))), mu(E / (2. * (1. + nu)))
  {}

  double lambda, mu;
};

/// von Mises stress; in plane strain with σ_zz = λ tr(ε).
template <int dim>
class VonMises final : public DataPostprocessorScalar<dim>
{
public:
  explicit VonMises(const Lame &lame)
      : DataPostprocessorScalar<dim>("von_mises_stress", update_gradients), lame(lame)
  {}

  void evaluate_vector_field(const DataPostprocessorInputs::Vector<dim> &input,
                             std::vector<Vector<double>> &computed) const override
  {
    for (unsigned int q = 0; q < computed.size(); ++q) {
      SymmetricTensor<2, 3> strain;
      for (unsigned int a = 0; a < dim; ++a)
        for (unsigned int b = 0; b <= a; ++b)
          strain[a][b] =
              (input.solution_gradients[q][a][b] + input.solution_gradients[q][b][a]) / 2.;
      const SymmetricTensor<2, 3> s = 2. * lame.mu * deviator(strain);
      computed[q](0) = std::sqrt(1.5) * s.norm();
    }
  }

private:
  Lame lame;
};

/// A condition on some components of one part of the boundary.
template <int dim>
struct PrescribedDisplacement
{
  std::shared_ptr<Field<dim>> values;
  ComponentMask mask;
};

template <int dim>
std::map<types::boundary_id, PrescribedDisplacement<dim>>
make_displacements(const std::string &path, const std::string &text, const MeshRegions &regions)
{
  std::map<types::boundary_id, PrescribedDisplacement<dim>> result;
  for (auto [id, expressions] : parse_boundary_expressions(path, text, dim, regions)) {
    std::vector<bool> mask;
    for (std::string &expression : expressions) {
      mask.push_back(expression != "free");
      if (!mask.back())
        expression = "0";
    }
    result[id] = {std::make_shared<Field<dim>>(path, expressions), ComponentMask(mask)};
  }
  return result;
}

template <int dim>
class Elasticity final : public Problem<dim>
{
public:
  using typename Problem<dim>::CellMatrix;
  using typename Problem<dim>::CellVector;

  Elasticity(const ElasticityPhysics &parameters, const MeshRegions &regions)
      : lame(parameters.young, parameters.poisson),
        body_force(make_optional_field<dim>("Elasticity/Body force", parameters.body_force, dim)),
        displacement(
            make_displacements<dim>("Elasticity/Displacement", parameters.displacement, regions)),
        traction(
            make_boundary_fields<dim>("Elasticity/Traction", parameters.traction, dim, regions)),
        exact(make_optional_field<dim>("Elasticity/Exact solution", parameters.exact_solution, dim))
  {}

  unsigned int n_components() const override
  {
    return dim;
  }
  std::vector<std::string> component_names() const override
  {
    return std::vector<std::string>(dim, "displacement");
  }
  std::vector<std::pair<std::string, std::set<types::boundary_id>>>
  named_boundaries() const override
  {
    std::set<types::boundary_id> ids;
    for (const auto &entry : displacement)
      ids.insert(entry.first);
    return {{"Elasticity/Displacement", ids}, {"Elasticity/Traction", ids_of(traction)}};
  }

  void check(const Mesh<dim> & /* mesh */,
             const DiscretizationParameters & /* parameters */) const override
  {
    ComponentMask supported(dim, false);
    for (const auto &entry : displacement)
      supported = supported | entry.second.mask;
    for (unsigned int a = 0; a < dim; ++a)
      if (!supported[a])
        throw ParameterError(std::string("The body can move freely in direction ") + "xyz"[a] +
                                 ". Prescribe this displacement on at least one boundary id in "
                                 "Elasticity/Displacement.",
                             "Elasticity/Displacement");
  }

  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    std::vector<DirichletCondition<dim>> conditions;
    for (const auto &[id, prescribed] : displacement)
      if (prescribed.mask.n_selected_components() > 0)
        conditions.push_back({{id}, prescribed.values.get(), prescribed.mask});
    return conditions;
  }

  /**
   * K_ij = λ (div φ_i, div φ_j) + 2μ (ε(φ_i), ε(φ_j)), f_i = (b, φ_i). Shape function i has the
   * one component a, and j has b: with gradients g of the scalar functions the integrand is
   * λ g_i[a] g_j[b] + μ g_i[b] g_j[a] + μ δ_ab g_i·g_j.
   */
  void add_cell_terms(const FEValues<dim> &fe, CellMatrix &K, CellVector &rhs) const override
  {
    const unsigned int n = fe.dofs_per_cell;
    for (const unsigned int q : fe.quadrature_point_indices()) {
      const double lambda_JxW = lame.lambda * fe.JxW(q), mu_JxW = lame.mu * fe.JxW(q);
      for (unsigned int i = 0; i < n; ++i) {
        const unsigned int a = fe.get_fe().system_to_component_index(i).first;
        const Tensor<1, dim> &g_i = fe.shape_grad(i, q);
        for (unsigned int j = 0; j <= i; ++j) {
          const unsigned int b = fe.get_fe().system_to_component_index(j).first;
          const Tensor<1, dim> &g_j = fe.shape_grad(j, q);
          K(i, j) += lambda_JxW * g_i[a] * g_j[b] + mu_JxW * g_i[b] * g_j[a] +
                     (a == b ? mu_JxW * (g_i * g_j) : 0.);
        }
      }
    }
    for (unsigned int i = 0; i < n; ++i)
      for (unsigned int j = 0; j < i; ++j)
        K(j, i) = K(i, j);
    if (body_force)
      add_force(fe, *body_force, rhs);
  }

  bool has_face_terms(const types::boundary_id id) const override
  {
    return traction.count(id) > 0;
  }

  /// f_i += <t, φ_i>
  void add_face_terms(const FEFaceValues<dim> &face, const types::boundary_id id,
                      CellMatrix & /* K */, CellVector &rhs) const override
  {
    add_force(face, *traction.at(id), rhs);
  }

  const Function<dim> *exact_solution() const override
  {
    return exact.get();
  }

  std::vector<std::shared_ptr<DataPostprocessor<dim>>> postprocessors() const override
  {
    return {std::make_shared<VonMises<dim>>(lame)};
  }

  /// The largest displacement of a node, in m.
  std::vector<Quantity> quantities(const Discretization<dim> &discretization,
                                   const FeVector &u) const override
  {
    const unsigned int n = discretization.element().n_dofs_per_cell();
    std::vector<types::global_dof_index> dofs(n);
    const auto &fe = discretization.element();
    std::vector<double> squares(n / dim);
    double largest = 0.;
    for (const auto &cell : discretization.dofs().active_cell_iterators()) {
      if (!cell->is_locally_owned())
        continue;
      cell->get_dof_indices(dofs);
      std::fill(squares.begin(), squares.end(), 0.);
      for (unsigned int i = 0; i < n; ++i)
        squares[fe.system_to_component_index(i).second] += std::pow(u(dofs[i]), 2);
      largest = std::max(largest, *std::max_element(squares.begin(), squares.end()));
    }
    return {{"max displacement",
             std::sqrt(Utilities::MPI::max(largest, discretization.communicator()))}};
  }

private:
  static void add_force(const FEValuesBase<dim> &fe, const Field<dim> &force, CellVector &rhs)
  {
    Vector<double> b(dim);
    for (const unsigned int q : fe.quadrature_point_indices()) {
      force.vector_value(fe.quadrature_point(q), b);
      for (unsigned int i = 0; i < fe.dofs_per_cell; ++i)
        rhs(i) +=
            b(fe.get_fe().system_to_component_index(i).first) * fe.shape_value(i, q) * fe.JxW(q);
    }
  }

  Lame lame;
  std::unique_ptr<Field<dim>> body_force;
  std::map<types::boundary_id, PrescribedDisplacement<dim>> displacement;
  BoundaryFields<dim> traction;
  std::unique_ptr<Field<dim>> exact;
};

std::unique_ptr<Problem<2>> ElasticityPhysics::make_2d(const MeshRegions &regions) const
{
  return std::make_unique<Elasticity<2>>(*this, regions);
}

std::unique_ptr<Problem<3>> ElasticityPhysics::make_3d(const MeshRegions &regions) const
{
  return std::make_unique<Elasticity<3>>(*this, regions);
}
} // namespace

std::unique_ptr<Physics> make_elasticity()
{
  return std::make_unique<ElasticityPhysics>();
}
} // namespace femgpu
