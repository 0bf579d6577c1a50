#include "physics/estimators.h"

#include "physics/error_norms.h"
#include "physics/problem_tools.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/numerics/error_estimator.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// A row for each component.
template <int dim>
using Rows = std::vector<Tensor<1, dim>>;

/// The flux of a solution at the points of a cell or a face.
template <int dim>
class FluxValues
{
public:
  FluxValues(const Problem<dim> &problem, const unsigned int n_points)
      : problem(problem), gradients(n_points, Rows<dim>(problem.n_components())), sigma(gradients)
  {}

  void reinit(const FEValuesBase<dim> &fe, const types::material_id material, const FeVector &u)
  {
    fe.get_function_gradients(u, gradients);
    for (const unsigned int q : fe.quadrature_point_indices())
      problem.flux({fe.quadrature_point(q), material}, gradients[q], sigma[q]);
  }
  const Rows<dim> &operator[](const unsigned int q) const
  {
    return sigma[q];
  }

private:
  const Problem<dim> &problem;
  std::vector<Rows<dim>> gradients, sigma;
};

/// The squares of an estimate, cell by cell.
struct Squares
{
  double indicator = 0.; ///< η_K²
  double size = 0.;      ///< of the flux
};

template <int dim>
using Cell = typename DoFHandler<dim>::active_cell_iterator;

/// What both estimators share: the jumps of σ·n over the faces of a cell.
template <int dim>
class FluxJumps
{
public:
  FluxJumps(const Problem<dim> &problem, const Discretization<dim> &discretization,
            const FeVector &u)
      : problem(problem), u(u), n_components(problem.n_components()),
        here(discretization.mapping(), discretization.element(), discretization.face_quadrature(),
             flags),
        there(discretization.mapping(), discretization.element(), discretization.face_quadrature(),
              flags),
        part_here(discretization.mapping(), discretization.element(),
                  discretization.face_quadrature(), flags),
        part_there(discretization.mapping(), discretization.element(),
                   discretization.face_quadrature(), flags),
        sigma_here(problem, here.get_quadrature().size()),
        sigma_there(problem, here.get_quadrature().size()),
        values(here.get_quadrature().size(), Vector<double>(n_components)), given(n_components),
        partners(here.get_quadrature().size()), periodic(ids_of(problem.periodic_sides()))
  {}

  /// Σ_F weight(h_F) ∫_F [σ·n]² over the faces of @p cell, those to cells beyond a periodic side
  /// too; twice for those of the boundary.
  template <class Weight>
  double sum(const Cell<dim> &cell, const Weight &weight)
  {
    double result = 0.;
    for (const unsigned int f : cell->face_indices()) {
      const auto face = cell->face(f);
      if (face->at_boundary() && !cell->has_periodic_neighbor(f)) {
        result += 2. * weight(face->diameter()) * on_boundary(cell, f);
        continue;
      }
      const bool is_periodic = face->at_boundary();
      const auto neighbor = cell->neighbor_or_periodic_neighbor(f);
      if (neighbor->has_children())
        result += across_parts(cell, f, weight);
      else if (is_periodic ? cell->periodic_neighbor_is_coarser(f) : cell->neighbor_is_coarser(f)) {
        const auto [its_face, part] = is_periodic
                                          ? cell->periodic_neighbor_of_coarser_periodic_neighbor(f)
                                          : cell->neighbor_of_coarser_neighbor(f);
        here.reinit(cell, f);
        part_there.reinit(neighbor, its_face, part);
        result += weight(face->diameter()) * across(cell, here, neighbor, part_there, is_periodic);
      }
      else {
        here.reinit(cell, f);
        there.reinit(neighbor, face_of_neighbor(cell, f));
        result += weight(face->diameter()) * across(cell, here, neighbor, there, is_periodic);
      }
    }
    return result;
  }

private:
  static unsigned int face_of_neighbor(const Cell<dim> &cell, const unsigned int f)
  {
    return cell->at_boundary(f) ? cell->periodic_neighbor_face_no(f)
                                : cell->neighbor_of_neighbor(f);
  }

  /// The same over one face of @p cell, behind which the cells are smaller.
  template <class Weight>
  double across_parts(const Cell<dim> &cell, const unsigned int f, const Weight &weight)
  {
    const bool is_periodic = cell->at_boundary(f);
    const unsigned int its_face = face_of_neighbor(cell, f);
    const unsigned int n_parts =
        cell->neighbor_or_periodic_neighbor(f)->face(its_face)->n_children();
    double result = 0.;
    for (unsigned int part = 0; part < n_parts; ++part) {
      const auto child = is_periodic ? cell->periodic_neighbor_child_on_subface(f, part)
                                     : cell->neighbor_child_on_subface(f, part);
      part_here.reinit(cell, f, part);
      there.reinit(child, its_face);
      result += weight(child->face(its_face)->diameter()) *
                across(cell, part_here, child, there, is_periodic);
    }
    return result;
  }

  template <class Neighbor>
  double across(const Cell<dim> &cell, const FEValuesBase<dim> &fe, const Neighbor &neighbor,
                const FEValuesBase<dim> &other, const bool is_periodic)
  {
    sigma_here.reinit(fe, cell->material_id(), u);
    sigma_there.reinit(other, neighbor->material_id(), u);
    if (is_periodic)
      find_partners(fe, other);
    double integral = 0.;
    for (const unsigned int q : fe.quadrature_point_indices()) {
      const Rows<dim> &beyond = sigma_there[is_periodic ? partners[q] : q];
      for (unsigned int c = 0; c < n_components; ++c)
        integral += std::pow((sigma_here[q][c] - beyond[c]) * fe.normal_vector(q), 2) * fe.JxW(q);
    }
    return integral;
  }

  /// Which point of @p other is that of @p fe on the other periodic side: the sides of coarse cells
  /// may be numbered otherwise there.
  void find_partners(const FEValuesBase<dim> &fe, const FEValuesBase<dim> &other)
  {
    const auto &points = fe.get_quadrature_points(), &others = other.get_quadrature_points();
    Tensor<1, dim> shift;
    for (const unsigned int q : fe.quadrature_point_indices())
      shift += (others[q] - points[q]) / static_cast<double>(points.size());
    for (const unsigned int q : fe.quadrature_point_indices()) {
      const Point<dim> moved = points[q] + shift;
      const auto nearest = std::min_element(
          others.begin(), others.end(), [&](const Point<dim> &a, const Point<dim> &b) {
            return a.distance_square(moved) < b.distance_square(moved);
          });
      partners[q] = static_cast<unsigned int>(nearest - others.begin());
    }
  }

  double on_boundary(const Cell<dim> &cell, const unsigned int f)
  {
    const auto id = cell->face(f)->boundary_id();
    if (periodic.count(id) > 0)
      return 0.;
    here.reinit(cell, f);
    sigma_here.reinit(here, cell->material_id(), u);
    here.get_function_values(u, values);
    double integral = 0.;
    for (const unsigned int q : here.quadrature_point_indices()) {
      const Tensor<1, dim> &n = here.normal_vector(q);
      for (unsigned int c = 0; c < n_components; ++c)
        given(c) = sigma_here[q][c] * n;
      problem.boundary_flux({here.quadrature_point(q), cell->material_id()}, id, n, values[q],
                            given);
      for (unsigned int c = 0; c < n_components; ++c)
        integral += std::pow(given(c) - sigma_here[q][c] * n, 2) * here.JxW(q);
    }
    return integral;
  }

  const UpdateFlags flags = update_values | update_gradients | update_quadrature_points |
                            update_JxW_values | update_normal_vectors;
  const Problem<dim> &problem;
  const FeVector &u;
  unsigned int n_components;
  FEFaceValues<dim> here, there;
  FESubfaceValues<dim> part_here, part_there;
  FluxValues<dim> sigma_here, sigma_there;
  std::vector<Vector<double>> values;
  Vector<double> given;
  std::vector<unsigned int> partners;    ///< of the points of a face, on the other periodic side
  std::set<types::boundary_id> periodic; ///< of meshes that know no neighbours there
};

/// The integrals over a cell: of (s + ∇·σ)², and of |σ|².
template <int dim>
class CellResidual
{
public:
  CellResidual(const Problem<dim> &problem, const Discretization<dim> &discretization,
               const FeVector &u)
      : problem(problem), u(u), n_components(problem.n_components()),
        scalar(discretization.element().base_element(0)),
        at_gauss(discretization.mapping(), discretization.element(),
                 discretization.cell_quadrature(), flags | update_values | update_JxW_values),
        at_nodes(discretization.mapping(), discretization.element(),
                 Quadrature<dim>(scalar.get_unit_support_points()), flags),
        shapes(discretization.mapping(), scalar, discretization.cell_quadrature(),
               update_gradients),
        sigma(problem, at_gauss.n_quadrature_points),
        nodal_sigma(problem, at_nodes.n_quadrature_points),
        values(at_gauss.n_quadrature_points, Vector<double>(n_components)), s(n_components)
  {}

  double flux_square(const Cell<dim> &cell)
  {
    at_gauss.reinit(cell);
    sigma.reinit(at_gauss, cell->material_id(), u);
    double integral = 0.;
    for (const unsigned int q : at_gauss.quadrature_point_indices())
      for (unsigned int c = 0; c < n_components; ++c)
        integral += sigma[q][c].norm_square() * at_gauss.JxW(q);
    return integral;
  }

  /// After flux_square() of the same cell.
  double residual_square(const Cell<dim> &cell)
  {
    at_nodes.reinit(cell);
    shapes.reinit(cell);
    nodal_sigma.reinit(at_nodes, cell->material_id(), u);
    at_gauss.get_function_values(u, values);
    double integral = 0.;
    for (const unsigned int q : at_gauss.quadrature_point_indices()) {
      s = 0.;
      problem.source({at_gauss.quadrature_point(q), cell->material_id()}, values[q], s);
      for (unsigned int c = 0; c < n_components; ++c) {
        double residual = s(c);
        for (unsigned int i = 0; i < shapes.dofs_per_cell; ++i)
          residual += nodal_sigma[i][c] * shapes.shape_grad(i, q);
        integral += residual * residual * at_gauss.JxW(q);
      }
    }
    return integral;
  }

private:
  const UpdateFlags flags = update_gradients | update_quadrature_points;
  const Problem<dim> &problem;
  const FeVector &u;
  unsigned int n_components;
  const FiniteElement<dim> &scalar;
  FEValues<dim> at_gauss, at_nodes, shapes;
  FluxValues<dim> sigma, nodal_sigma;
  std::vector<Vector<double>> values;
  Vector<double> s;
};

/// Collective. @p squares_of gives the Squares of a cell of this rank.
template <int dim, class SquaresOf>
ErrorEstimate estimate(const Discretization<dim> &discretization, const SquaresOf &squares_of)
{
  ErrorEstimate result;
  result.indicators.reinit(discretization.mesh().triangulation->n_active_cells());
  Squares sum;
  for (const auto &cell : discretization.dofs().active_cell_iterators())
    if (cell->is_locally_owned()) {
      const Squares squares = squares_of(cell);
      result.indicators(cell->active_cell_index()) =
          static_cast<float>(std::sqrt(squares.indicator));
      sum.indicator += squares.indicator;
      sum.size += squares.size;
    }
  const MPI_Comm comm = discretization.communicator();
  result.error = std::sqrt(Utilities::MPI::sum(sum.indicator, comm));
  result.size = std::sqrt(Utilities::MPI::sum(sum.size, comm));
  return result;
}

/// Kelly's estimate of ∇u by deal.II.
template <int dim>
ErrorEstimate kelly_of_gradients(const Discretization<dim> &discretization, const FeVector &u)
{
  Vector<float> indicators(discretization.mesh().triangulation->n_active_cells());
  KellyErrorEstimator<dim>::estimate(
      discretization.mapping(), discretization.dofs(), QGauss<dim - 1>(discretization.degree() + 1),
      {}, u, indicators, {}, nullptr, numbers::invalid_unsigned_int,
      discretization.mesh().triangulation->locally_owned_subdomain());
  ErrorEstimate result = estimate<dim>(discretization, [&](const Cell<dim> &cell) -> Squares {
    return {std::pow(static_cast<double>(indicators(cell->active_cell_index())), 2), 0.};
  });
  result.size = solution_norms(discretization, u).H1;
  return result;
}
} // namespace

template <int dim>
ErrorEstimate kelly_estimate(const Problem<dim> &problem, const Discretization<dim> &discretization,
                             const FeVector &u)
{
  if (!problem.has_flux())
    return kelly_of_gradients(discretization, u);
  FluxJumps<dim> jumps(problem, discretization, u);
  CellResidual<dim> inside(problem, discretization, u);
  return estimate<dim>(discretization, [&](const Cell<dim> &cell) -> Squares {
    const double factor = cell->diameter() / 24.;
    return {jumps.sum(cell, [&](double) { return factor; }), inside.flux_square(cell)};
  });
}

template <int dim>
ErrorEstimate residual_estimate(const Problem<dim> &problem,
                                const Discretization<dim> &discretization, const FeVector &u)
{
  const double p = discretization.degree();
  FluxJumps<dim> jumps(problem, discretization, u);
  CellResidual<dim> inside(problem, discretization, u);
  return estimate<dim>(discretization, [&](const Cell<dim> &cell) {
    const double h_p = cell->diameter() / p;
    Squares squares;
    squares.size = inside.flux_square(cell);
    squares.indicator = h_p * h_p * inside.residual_square(cell) +
                        jumps.sum(cell, [&](const double h_F) { return h_F / (2. * p); });
    return squares;
  });
}

template <int dim>
double flux_error(const Problem<dim> &problem, const Discretization<dim> &discretization,
                  const FeVector &u)
{
  const Function<dim> &exact = *problem.exact_solution();
  const unsigned int n_components = problem.n_components();
  FEValues<dim> fe(discretization.mapping(), discretization.element(),
                   discretization.cell_quadrature(2),
                   update_gradients | update_quadrature_points | update_JxW_values);
  FluxValues<dim> sigma(problem, fe.n_quadrature_points);
  Rows<dim> gradients(n_components), exact_sigma(n_components);
  std::vector<Rows<dim>> of_components(n_components, Rows<dim>(fe.n_quadrature_points));
  double square = 0.;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    fe.reinit(cell);
    for (unsigned int c = 0; c < n_components; ++c)
      exact.gradient_list(fe.get_quadrature_points(), of_components[c], c);
    sigma.reinit(fe, cell->material_id(), u);
    for (const unsigned int q : fe.quadrature_point_indices()) {
      for (unsigned int c = 0; c < n_components; ++c)
        gradients[c] = of_components[c][q];
      problem.flux({fe.quadrature_point(q), cell->material_id()}, gradients, exact_sigma);
      for (unsigned int c = 0; c < n_components; ++c)
        square += (sigma[q][c] - exact_sigma[c]).norm_square() * fe.JxW(q);
    }
  }
  return std::sqrt(Utilities::MPI::sum(square, discretization.communicator()));
}

template ErrorEstimate kelly_estimate(const Problem<2> &, const Discretization<2> &,
                                      const FeVector &);
template ErrorEstimate kelly_estimate(const Problem<3> &, const Discretization<3> &,
                                      const FeVector &);
template ErrorEstimate residual_estimate(const Problem<2> &, const Discretization<2> &,
                                         const FeVector &);
template ErrorEstimate residual_estimate(const Problem<3> &, const Discretization<3> &,
                                         const FeVector &);
template double flux_error(const Problem<2> &, const Discretization<2> &, const FeVector &);
template double flux_error(const Problem<3> &, const Discretization<3> &, const FeVector &);
} // namespace femgpu
