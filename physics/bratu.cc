#include "linalg/base/error.h"
#include "physics/gradient_products.h"
#include "physics/problem_tools.h"
#include "physics/registry.h"

#include <deal.II/base/function.h>
#include <deal.II/base/parameter_acceptor.h>

#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Section "Bratu": −Δu = λ e^u + f.
class BratuPhysics final : public Physics, public ParameterAcceptor
{
public:
  BratuPhysics() : ParameterAcceptor("/Bratu")
  {
    add_parameter("Lambda", lambda,
                  "lambda >= 0 in -div(grad u) = lambda exp(u) + f. With u = 0 on the boundary and "
                  "f = 0 there is no solution beyond the fold, 6.808 on the unit square and 9.90 "
                  "on the unit cube.",
                  prm, Patterns::Double(0.));
    add_parameter("Right-hand side", right_hand_side, "f; expression of x, y, z.");
    add_parameter("Dirichlet", dirichlet,
                  "u = g on parts of the boundary: 'ids: g; ids: g'. Other parts have du/dn = 0.");
    add_parameter("Exact solution", exact_solution,
                  "If given, errors in L2, H1 and Linf are computed; expression of x, y, z.");
  }

  std::unique_ptr<Problem<2>> make_2d(const MeshRegions &regions) const override;
  std::unique_ptr<Problem<3>> make_3d(const MeshRegions &regions) const override;

  double lambda = 1.;
  std::string right_hand_side = "0";
  std::string dirichlet = "0: 0";
  std::string exact_solution;
};

/**
 * The reaction term is integrated by nodal quadrature, so that it is diagonal: λ w_i exp(u_i) with
 * w_i the integral of the shape function. Newton's method from u = 0 rises to the lower branch,
 * along which the Jacobian is positive definite.
 */
template <int dim>
class Bratu final : public Problem<dim>
{
public:
  using typename Problem<dim>::CellMatrix;
  using typename Problem<dim>::CellVector;

  Bratu(const BratuPhysics &parameters, const MeshRegions &regions)
      : lambda(parameters.lambda), f("Bratu/Right-hand side", {parameters.right_hand_side}),
        dirichlet(make_boundary_fields<dim>("Bratu/Dirichlet", parameters.dirichlet, 1, regions)),
        exact(make_optional_field<dim>("Bratu/Exact solution", parameters.exact_solution, 1))
  {}

  unsigned int n_components() const override
  {
    return 1;
  }
  std::vector<std::string> component_names() const override
  {
    return {"u"};
  }
  bool has_branches() const override
  {
    return true;
  }
  std::optional<linalg::Nonlinearity> nonlinearity() const override
  {
    return linalg::Nonlinearity{linalg::ExponentialLaw(), lambda};
  }
  std::vector<std::pair<std::string, std::set<types::boundary_id>>>
  named_boundaries() const override
  {
    return {{"Bratu/Dirichlet", ids_of(dirichlet)}};
  }

  void check(const Mesh<dim> &mesh, const DiscretizationParameters &parameters) const override
  {
    if (dirichlet.empty())
      throw ParameterError("Without Dirichlet data -div(grad u) = lambda exp(u) has no solution. "
                           "Name at least one boundary id in Bratu/Dirichlet.",
                           "Bratu/Dirichlet");
    require_nodal_quadrature("Bratu", mesh, parameters);
  }

  std::vector<DirichletCondition<dim>> dirichlet_conditions() const override
  {
    return conditions_of(dirichlet);
  }

  /// K_ij = (∇φ_j, ∇φ_i), f_i = (f, φ_i)
  void add_cell_terms(const FEValues<dim> &fe, CellMatrix &K, CellVector &rhs) const override
  {
    for (const unsigned int q : fe.quadrature_point_indices()) {
      const double f_JxW = f.value(fe.quadrature_point(q)) * fe.JxW(q);
      for (unsigned int i = 0; i < fe.dofs_per_cell; ++i)
        rhs(i) += f_JxW * fe.shape_value(i, q);
      add_gradient_products(fe, q, fe.JxW(q), K);
    }
  }

  void add_cell_weights(const FEValues<dim> &nodal, CellVector &w) const override
  {
    add_nodal_weights(nodal, Functions::ConstantFunction<dim>(1.), w);
  }

  const Function<dim> *exact_solution() const override
  {
    return exact.get();
  }

  std::vector<Quantity> quantities(const Discretization<dim> &discretization,
                                   const FeVector &u) const override
  {
    return {{"max u", extrema(u, discretization.communicator()).second}};
  }

  std::string cure_without_solution() const override
  {
    std::ostringstream text;
    text
        << "No steady state was found: lambda = " << lambda
        << " is probably beyond the fold, where none exists (with u = 0 on the boundary and f = 0: "
           "6.808 on the unit square, 9.90 on the unit cube; less on coarse meshes). Lower "
           "Bratu/Lambda, or refine the mesh.";
    return text.str();
  }

private:
  double lambda;
  Field<dim> f;
  BoundaryFields<dim> dirichlet;
  std::unique_ptr<Field<dim>> exact;
};

std::unique_ptr<Problem<2>> BratuPhysics::make_2d(const MeshRegions &regions) const
{
  return std::make_unique<Bratu<2>>(*this, regions);
}

std::unique_ptr<Problem<3>> BratuPhysics::make_3d(const MeshRegions &regions) const
{
  return std::make_unique<Bratu<3>>(*this, regions);
}
} // namespace

std::unique_ptr<Physics> make_bratu()
{
  return std::make_unique<BratuPhysics>();
}
} // namespace femgpu
