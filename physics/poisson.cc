#include "linalg/base/error.h"
#include "physics/expressions.h"
#include "physics/gradient_products.h"
#include "physics/problem_tools.h"
#include "physics/registry.h"

#include <deal.II/base/parameter_acceptor.h>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Section "Poisson": −∇·(k∇u) = f.
class PoissonPhysics final : public Physics, public ParameterAcceptor
{
public:
  PoissonPhysics() : ParameterAcceptor("/Poisson")
  {
    add_parameter("Coefficient", coefficient,
                  "k > 0 in -div(k grad u) = f; expression of x, y, z.");
    add_parameter("Right-hand side", right_hand_side, "f; expression of x, y, z.");
    add_parameter("Dirichlet", dirichlet,
                  "u = g on parts of the boundary: 'ids: g; ids: g', as '0, 1: sin(pi*x); 2: 0'.");
    add_parameter("Neumann", neumann,
                  "k du/dn = g on parts of the boundary: 'ids: g; ...'. Parts that are not named "
                  "anywhere have k du/dn = 0.");
    add_parameter("Robin", robin,
                  "k du/dn + a u = g, a >= 0, on parts of the boundary: 'ids: a, g; ...'.");
    add_parameter("Exact solution", exact_solution,
                  "If given, errors in L2, H1 and Linf are computed; expression of x, y, z.");
  }

  std::unique_ptr<Problem<2>> make_2d(const MeshRegions &regions) const override;
  std::unique_ptr<Problem<3>> make_3d(const MeshRegions &regions) const override;

  std::string coefficient = "1";
  std::string right_hand_side = "1";
  std::string dirichlet = "0: 0";
  std::string neumann;
  std::string robin;
  std::string exact_solution;
};

template <int dim>
class Poisson final : public Problem<dim>
{
public:
  using typename Problem<dim>::CellMatrix;
  using typename Problem<dim>::CellVector;

  Poisson(const PoissonPhysics &parameters, const MeshRegions &regions)
      : k("Poisson/Coefficient", {parameters.coefficient}),
        f("Poisson/Right-hand side", {parameters.right_hand_side}),
        dirichlet(make_boundary_fields<dim>("Poisson/Dirichlet", parameters.dirichlet, 1, regions)),
        neumann(make_boundary_fields<dim>("Poisson/Neumann", parameters.neumann, 1, regions)),
        robin(make_boundary_fields<dim>("Poisson/Robin", parameters.robin, 2, regions)),
        exact(make_optional_field<dim>("Poisson/Exact solution", parameters.exact_solution, 1))
  {
    refuse_overlap("Poisson/Neumann", neumann, dirichlet);
    refuse_overlap("Poisson/Robin", robin, dirichlet);
    refuse_overlap("Poisson/Robin", robin, neumann);
  }

  unsigned int n_components() const override
  {
    return 1;
  }
  std::vector<std::string> component_names() const override
  {
    return {"u"};
  }
  std::vector<std::pair<std::string, std::set<types::boundary_id>>>
  named_boundaries() const override
  {
    return {{"Poisson/Dirichlet", ids_of(dirichlet)},
            {"Poisson/Neumann", ids_of(neumann)},
            {"Poisson/Robin", ids_of(robin)}};
  }

  void check(const Mesh<dim> & /* mesh */,
             const DiscretizationParameters & /* parameters */) const override
  {
    if (dirichlet.empty() && robin.empty())
      throw ParameterError("Without Dirichlet or Robin data u is known up to a constant only. Name "
                           "at least one boundary id in Poisson/Dirichlet or Poisson/Robin.",
                           "Poisson/Dirichlet");
  }

  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    return conditions_of(dirichlet);
  }

  /// K_ij = (k∇φ_j, ∇φ_i), f_i = (f, φ_i)
  void add_cell_terms(const FEValues<dim> &fe, CellMatrix &K, CellVector &rhs) const override
  {
    const unsigned int n = fe.dofs_per_cell;
    for (const unsigned int q : fe.quadrature_point_indices()) {
      const double k_JxW = k.value(fe.quadrature_point(q)) * fe.JxW(q);
      const double f_JxW = f.value(fe.quadrature_point(q)) * fe.JxW(q);
      for (unsigned int i = 0; i < n; ++i)
        rhs(i) += f_JxW * fe.shape_value(i, q);
      add_gradient_products(fe, q, k_JxW, K);
    }
  }

  bool has_face_terms(const types::boundary_id id) const override
  {
    return neumann.count(id) > 0 || robin.count(id) > 0;
  }

  /// Neumann: f_i += <g, φ_i>; Robin: K_ij += <a φ_j, φ_i> as well
  void add_face_terms(const FEFaceValues<dim> &face, const types::boundary_id id, CellMatrix &K,
                      CellVector &rhs) const override
  {
    const bool is_robin = robin.count(id) > 0;
    const Field<dim> &data = is_robin ? *robin.at(id) : *neumann.at(id);
    const unsigned int n = face.dofs_per_cell;
    for (const unsigned int q : face.quadrature_point_indices()) {
      const auto &point = face.quadrature_point(q);
      const double g_JxW = data.value(point, is_robin ? 1 : 0) * face.JxW(q);
      const double a_JxW = is_robin ? data.value(point, 0) * face.JxW(q) : 0.;
      for (unsigned int i = 0; i < n; ++i) {
        rhs(i) += g_JxW * face.shape_value(i, q);
        for (unsigned int j = 0; a_JxW != 0. && j < n; ++j)
          K(i, j) += a_JxW * face.shape_value(i, q) * face.shape_value(j, q);
      }
    }
  }

  const Function<dim> *exact_solution() const override
  {
    return exact.get();
  }

private:
  Field<dim> k, f;
  BoundaryFields<dim> dirichlet, neumann, robin;
  std::unique_ptr<Field<dim>> exact;
};

std::unique_ptr<Problem<2>> PoissonPhysics::make_2d(const MeshRegions &regions) const
{
  return std::make_unique<Poisson<2>>(*this, regions);
}

std::unique_ptr<Problem<3>> PoissonPhysics::make_3d(const MeshRegions &regions) const
{
  return std::make_unique<Poisson<3>>(*this, regions);
}
} // namespace

std::unique_ptr<Physics> make_poisson()
{
  return std::make_unique<PoissonPhysics>();
}
} // namespace femgpu
