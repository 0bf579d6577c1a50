#include "physics/cell_equation.h"
#include "physics/error_norms.h"
#include "tests/physics/distorted_meshes.h"
#include "tests/physics/physics_on_mesh.h"

#include <deal.II/base/function.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/base/symmetric_tensor.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/numerics/vector_tools_integrate_difference.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

/**
 * @file
 * Compares cell matrices, right-hand sides and error norms with those of deal.II's FEValues and
 * VectorTools on distorted and curved cells of all elements.
 */
namespace
{
using namespace femgpu;
using namespace dealii;

/// Returns the Gauss rule with @p n points per direction, or the simplex rule that corresponds to
/// it.
template <int dim>
Quadrature<dim> gauss(const std::string &cells, const unsigned int n)
{
  if (cells == "simplex")
    return QGaussSimplex<dim>(std::min(n, 4U));
  return QGauss<dim>(n);
}

/// A smooth function outside of all finite element spaces, with its gradient.
template <int dim>
class KnownSolution final : public Function<dim>
{
public:
  explicit KnownSolution(const unsigned int n_components) : Function<dim>(n_components)
  {}
  double value(const Point<dim> &p, const unsigned int c) const override
  {
    return std::sin(p[0] + 2. * p[1] + c) + c * p[dim - 1];
  }
  Tensor<1, dim> gradient(const Point<dim> &p, const unsigned int c) const override
  {
    Tensor<1, dim> result;
    result[0] = std::cos(p[0] + 2. * p[1] + c);
    result[1] = 2. * result[0];
    result[dim - 1] += c;
    return result;
  }
};

/// The problem −∇·(k∇u) = 4 x − (1 + y) u with du/dn + 2 u = 3 y or du/dn = x y on sides, and an
/// independent implementation of its terms.
template <int dim>
struct AnisotropicDiffusion
{
  static constexpr const char *name = "poisson";
  static std::string parameters()
  {
    return std::string("subsection Poisson\n set Coefficient = 2 + x*y, 1 + x^2") +
           (dim == 3 ? ", 3 - y\n" : "\n") +
           " set Right-hand side = 4*x - (1 + y)*u\n set Dirichlet = 0: 1\n"
           " set Robin = 1: 2 + x, 3*y\n set Neumann = 3: x*y\n"
           " set Exact solution = sin(x + 2*y)\nend\n";
  }
  static Point<dim> k(const Point<dim> &p)
  {
    const std::array<double, 3> of_direction = {{2. + p[0] * p[1], 1. + p[0] * p[0], 3. - p[1]}};
    Point<dim> result;
    for (unsigned int d = 0; d < dim; ++d)
      result[d] = of_direction[d];
    return result;
  }
  static void add_cell(const FEValues<dim> &values, FullMatrix<double> &K, Vector<double> &f)
  {
    for (const unsigned int q : values.quadrature_point_indices()) {
      const Point<dim> &p = values.quadrature_point(q);
      const Point<dim> k_q = k(p);
      for (const unsigned int i : values.dof_indices()) {
        for (const unsigned int j : values.dof_indices()) {
          double sum = (1. + p[1]) * values.shape_value(i, q) * values.shape_value(j, q);
          for (unsigned int d = 0; d < dim; ++d)
            sum += k_q[d] * values.shape_grad(i, q)[d] * values.shape_grad(j, q)[d];
          K(i, j) += sum * values.JxW(q);
        }
        f(i) += 4. * p[0] * values.shape_value(i, q) * values.JxW(q);
      }
    }
  }
  static void add_face(const FEFaceValues<dim> &values, const types::boundary_id id,
                       FullMatrix<double> &K, Vector<double> &f)
  {
    if (id != 1 && id != 3)
      return;
    for (const unsigned int q : values.quadrature_point_indices()) {
      const Point<dim> &p = values.quadrature_point(q);
      const double a = id == 1 ? 2. + p[0] : 0., g = id == 1 ? 3. * p[1] : p[0] * p[1];
      for (const unsigned int i : values.dof_indices()) {
        for (const unsigned int j : values.dof_indices())
          K(i, j) += a * values.shape_value(i, q) * values.shape_value(j, q) * values.JxW(q);
        f(i) += g * values.shape_value(i, q) * values.JxW(q);
      }
    }
  }
  /// Returns the square of the flux of the function whose gradient is @p g.
  static double flux_square(const Point<dim> &p, const std::vector<Tensor<1, dim>> &g)
  {
    double sum = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      sum += std::pow(k(p)[d] * g[0][d], 2);
    return sum;
  }
};

/// Elasticity with varying moduli, heat, body force, traction and pressure; plane strain in 2D.
template <int dim>
struct ThermalElasticity
{
  static constexpr const char *name = "elasticity";
  static std::string parameters()
  {
    const bool is_3d = dim == 3;
    return std::string("subsection Elasticity\n set Young's modulus = 2 + x\n") +
           " set Poisson's ratio = 0.2 + 0.1*y\n set Thermal expansion = 0.1\n"
           " set Temperature rise = x*y\n set Displacement = 0: 0, 0" +
           (is_3d ? ", 0" : "") + "\n set Body force = x, 2*y" + (is_3d ? ", 1" : "") +
           "\n set Traction = 1: y, 1" + (is_3d ? ", x" : "") +
           "\n set Pressure = 3: x\n set Exact solution = sin(x + 2*y), sin(x + 2*y + 1) + " +
           (is_3d ? "z, sin(x + 2*y + 2) + 2*z" : "y") + "\nend\n";
  }
  static double mu(const Point<dim> &p)
  {
    return (2. + p[0]) / 2. / (1.2 + 0.1 * p[1]);
  }
  static double lambda(const Point<dim> &p)
  {
    const double nu = 0.2 + 0.1 * p[1];
    return (2. + p[0]) * nu / (1. + nu) / (1. - 2. * nu);
  }
  static void add_cell(const FEValues<dim> &values, FullMatrix<double> &K, Vector<double> &f)
  {
    const FEValuesExtractors::Vector u(0);
    for (const unsigned int q : values.quadrature_point_indices()) {
      const Point<dim> &p = values.quadrature_point(q);
      const double of_heat = (3. * lambda(p) + 2. * mu(p)) * 0.1 * p[0] * p[1];
      Tensor<1, dim> force;
      force[0] = p[0];
      force[1] = 2. * p[1];
      if (dim == 3)
        force[dim - 1] = 1.;
      for (const unsigned int i : values.dof_indices()) {
        const SymmetricTensor<2, dim> strain = values[u].symmetric_gradient(i, q);
        for (const unsigned int j : values.dof_indices())
          K(i, j) += (lambda(p) * trace(strain) * values[u].divergence(j, q) +
                      2. * mu(p) * (strain * values[u].symmetric_gradient(j, q))) *
                     values.JxW(q);
        f(i) += (force * values[u].value(i, q) + of_heat * trace(strain)) * values.JxW(q);
      }
    }
  }
  static void add_face(const FEFaceValues<dim> &values, const types::boundary_id id,
                       FullMatrix<double> & /* K */, Vector<double> &f)
  {
    if (id != 1 && id != 3)
      return;
    const FEValuesExtractors::Vector u(0);
    for (const unsigned int q : values.quadrature_point_indices()) {
      const Point<dim> &p = values.quadrature_point(q);
      Tensor<1, dim> traction;
      traction[0] = p[1];
      traction[1] = 1.;
      if (dim == 3)
        traction[dim - 1] = p[0];
      if (id == 3)
        traction = -p[0] * values.normal_vector(q);
      for (const unsigned int i : values.dof_indices())
        f(i) += traction * values[u].value(i, q) * values.JxW(q);
    }
  }
  /// Returns the square of the stress of the displacement whose gradients are @p g.
  static double flux_square(const Point<dim> &p, const std::vector<Tensor<1, dim>> &g)
  {
    SymmetricTensor<2, dim> strain;
    for (unsigned int c = 0; c < dim; ++c)
      for (unsigned int d = 0; d <= c; ++d)
        strain[c][d] = (g[c][d] + g[d][c]) / 2.;
    const SymmetricTensor<2, dim> stress =
        lambda(p) * trace(strain) * unit_symmetric_tensor<dim>() + 2. * mu(p) * strain;
    return stress * stress;
  }
};

/// Checks that entries differ from deal.II's by at most 1e-12 of the largest entry in the row.
void expect_same_rows(const FullMatrix<double> &ours, const FullMatrix<double> &theirs)
{
  for (unsigned int i = 0; i < theirs.m(); ++i) {
    double largest = 0.;
    for (unsigned int j = 0; j < theirs.n(); ++j)
      largest = std::max(largest, std::abs(theirs(i, j)));
    for (unsigned int j = 0; j < theirs.n(); ++j)
      ASSERT_NEAR(ours(i, j), theirs(i, j), 1e-12 * largest) << "row " << i << ", column " << j;
  }
}

template <int dim, template <int> class Equation>
void expect_cells_of_deal_ii(const PhysicsOnMesh<dim> &on_mesh, const std::string &cells,
                             const unsigned int degree)
{
  Discretization<dim> discretization(on_mesh.mesh, degree, on_mesh.problem->n_components());
  discretization.distribute_dofs();
  discretization.make_constraints(*on_mesh.problem);
  const unsigned int n = discretization.element().n_dofs_per_cell();
  FEValues<dim> values(
      discretization.mapping(), discretization.element(), gauss<dim>(cells, degree + 1),
      update_values | update_gradients | update_quadrature_points | update_JxW_values);
  FEFaceValues<dim> face_values(
      discretization.mapping(), discretization.element(), gauss<dim - 1>(cells, degree + 1),
      update_values | update_quadrature_points | update_normal_vectors | update_JxW_values);
  CellEquation<dim> equation(*on_mesh.problem, discretization);
  CellTerms terms(n, false);
  FullMatrix<double> K(n, n);
  Vector<double> f(n);
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    K = 0.;
    f = 0.;
    values.reinit(cell);
    Equation<dim>::add_cell(values, K, f);
    for (const unsigned int face : cell->face_indices())
      if (cell->face(face)->at_boundary()) {
        face_values.reinit(cell, face);
        Equation<dim>::add_face(face_values, cell->face(face)->boundary_id(), K, f);
      }
    equation.linearize(ActiveCell<dim>(cell, nullptr, 0), nullptr, terms);
    expect_same_rows(terms.K, K);
    for (unsigned int i = 0; i < n; ++i)
      ASSERT_NEAR(terms.f(i), f(i), 1e-12 * f.linfty_norm()) << "row " << i;
  }
}

/// Integrates flux_square() of the difference of @p u and @p exact over the cells of all ranks.
template <int dim, template <int> class Equation>
double flux_error_of_deal_ii(const Discretization<dim> &discretization,
                             const Quadrature<dim> &quadrature, const FeVector &u,
                             const Function<dim> &exact)
{
  FEValues<dim> values(discretization.mapping(), discretization.element(), quadrature,
                       update_gradients | update_quadrature_points | update_JxW_values);
  std::vector<std::vector<Tensor<1, dim>>> gradients(
      quadrature.size(), std::vector<Tensor<1, dim>>(exact.n_components));
  double sum = 0.;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    values.reinit(cell);
    values.get_function_gradients(u, gradients);
    for (const unsigned int q : values.quadrature_point_indices()) {
      for (unsigned int c = 0; c < exact.n_components; ++c)
        gradients[q][c] -= exact.gradient(values.quadrature_point(q), c);
      sum += Equation<dim>::flux_square(values.quadrature_point(q), gradients[q]) * values.JxW(q);
    }
  }
  return std::sqrt(Utilities::MPI::sum(sum, discretization.communicator()));
}

template <int dim, template <int> class Equation>
void expect_norms_of_deal_ii(const PhysicsOnMesh<dim> &on_mesh, const std::string &cells,
                             const unsigned int degree)
{
  const Problem<dim> &problem = *on_mesh.problem;
  const KnownSolution<dim> exact(problem.n_components());
  Discretization<dim> discretization(on_mesh.mesh, degree, problem.n_components());
  discretization.distribute_dofs();
  FeVector u = discretization.make_vector(), zero = discretization.make_vector();
  zero.update_ghost_values();
  VectorTools::interpolate(discretization.mapping(), discretization.dofs(), exact, u);
  u *= 1.1;
  u.update_ghost_values();
  const Quadrature<dim> quadrature = gauss<dim>(cells, degree + 2);
  const Quadrature<dim> dense =
      cells == "simplex" ? quadrature : QIterated<dim>(QTrapezoid<1>(), 2 * degree);
  const auto norm_of = [&](const FeVector &v, const Quadrature<dim> &points,
                           const VectorTools::NormType norm) {
    Vector<double> of_cells(on_mesh.mesh.triangulation->n_active_cells());
    VectorTools::integrate_difference(discretization.mapping(), discretization.dofs(), v, exact,
                                      of_cells, points, norm);
    return VectorTools::compute_global_error(*on_mesh.mesh.triangulation, of_cells, norm);
  };
  double flux_error = 0.;
  const ErrorNorms ours = compute_errors(problem, discretization, u, &flux_error);
  const auto expect_same = [](const double a, const double b, const char *const name) {
    EXPECT_NEAR(a, b, 1e-12 * b) << name;
  };
  expect_same(ours.L2, norm_of(u, quadrature, VectorTools::L2_norm), "L2");
  expect_same(ours.H1, norm_of(u, quadrature, VectorTools::H1_seminorm), "H1");
  expect_same(ours.Linf, norm_of(u, dense, VectorTools::Linfty_norm), "Linf");
  expect_same(ours.exact_L2, norm_of(zero, quadrature, VectorTools::L2_norm), "exact L2");
  expect_same(ours.exact_H1, norm_of(zero, quadrature, VectorTools::H1_seminorm), "exact H1");
  expect_same(flux_error,
              flux_error_of_deal_ii<dim, Equation>(discretization, quadrature, u, exact), "flux");
}

template <int dim, template <int> class Equation>
void expect_deal_ii(const GeneratedMesh &generated, const unsigned int degree)
{
  PhysicsOnMesh<dim> on_mesh(Equation<dim>::name, Equation<dim>::parameters(), generated);
  refine_globally(on_mesh.mesh, generated.cells == "simplex" || (dim == 3 && degree > 2) ? 0 : 1);
  if (generated.generator == "hyper_cube")
    distort(on_mesh.mesh);
  expect_cells_of_deal_ii<dim, Equation>(on_mesh, generated.cells, degree);
  expect_norms_of_deal_ii<dim, Equation>(on_mesh, generated.cells, degree);
}

template <int dim, template <int> class Equation>
void expect_deal_ii_for_all_elements()
{
  for_each_element([](const std::string &cells, const unsigned int degree) {
    expect_deal_ii<dim, Equation>({"hyper_cube", "0 : 1 : true", cells}, degree);
  });
}

TEST(AsDealII, CellsAndErrorsOfDiffusionIn2D)
{
  expect_deal_ii_for_all_elements<2, AnisotropicDiffusion>();
}

TEST(AsDealII, CellsAndErrorsOfDiffusionIn3D)
{
  expect_deal_ii_for_all_elements<3, AnisotropicDiffusion>();
}

TEST(AsDealII, CellsAndErrorsOfElasticityIn2D)
{
  expect_deal_ii_for_all_elements<2, ThermalElasticity>();
}

TEST(AsDealII, CellsAndErrorsOfElasticityIn3D)
{
  expect_deal_ii_for_all_elements<3, ThermalElasticity>();
}

TEST(AsDealII, CellsAndErrorsOnCurvedCells)
{
  for (unsigned int degree = 1; degree <= 4; ++degree) {
    SCOPED_TRACE(degree);
    const GeneratedMesh ring = {"quarter_hyper_shell", "0, 0 : 0.5 : 1 : 2 : true", "hypercube"};
    expect_deal_ii<2, AnisotropicDiffusion>(ring, degree);
    expect_deal_ii<2, ThermalElasticity>(ring, degree);
  }
  const GeneratedMesh shell = {"quarter_hyper_shell", "0, 0, 0 : 0.5 : 1 : 3 : true", "hypercube"};
  expect_deal_ii<3, AnisotropicDiffusion>(shell, 2);
  expect_deal_ii<3, ThermalElasticity>(shell, 2);
}
} // namespace
