#include "physics/estimators.h"

#include "physics/cell_equation.h"
#include "physics/problem_tools.h"

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_values.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Another object for other cells: deal.II does not copy these.
template <class Values>
Values copy_of(const Values &values)
{
  return Values(values.get_mapping(), values.get_fe(), values.get_quadrature(),
                values.get_update_flags());
}

/// A solution and its flux at the points of a cell or a face.
template <int dim>
class FluxValues
{
public:
  FluxValues(const Problem<dim> &problem, const Discretization<dim> &discretization,
             const FeVector &u)
      : problem(problem), u(u), n_components(problem.n_components()),
        u_cell(discretization.element().n_dofs_per_cell()), at(discretization)
  {}

  /// @param fe of the scalar element, on a face of @p cell, with the boundary @p id
  void reinit(const ActiveCell<dim> &cell, const FEValuesBase<dim> &fe,
              const types::boundary_id id = 0)
  {
    at.load(cell, fe, id);
    evaluate(cell);
  }
  void reinit(const ActiveCell<dim> &cell, FEValues<dim> &fe)
  {
    at.reinit(cell, fe);
    evaluate(cell);
  }
  const CellPoints<dim> &points() const
  {
    return at;
  }
  /// σ_cd at the points.
  const double *operator()(const unsigned int c, const unsigned int d)
  {
    return sigma.value(c * dim + d);
  }
  /// σ_c·n at a point.
  double along(const Tensor<1, dim> &n, const unsigned int c, const unsigned int q)
  {
    double sum = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      sum += sigma.value(c * dim + d)[q] * n[d];
    return sum;
  }
  /// ∫ |σ|²
  double square()
  {
    double integral = 0.;
    for (unsigned int r = 0; r < n_components * dim; ++r)
      for (unsigned int q = 0; q < at.size(); ++q)
        integral += std::pow(sigma.value(r)[q], 2) * at.JxW(q);
    return integral;
  }

private:
  void evaluate(const ActiveCell<dim> &cell)
  {
    cell->get_dof_values(u, u_cell);
    at.set_solution(u_cell);
    sigma.reinit(n_components * dim, n_components, dim, at.size());
    problem.flux(at.batch(), sigma);
  }

  const Problem<dim> &problem;
  const FeVector &u;
  unsigned int n_components;
  Vector<double> u_cell;
  CellPoints<dim> at;
  PointTerms sigma;
};

/// Adds λ c φ(u), which nodal quadrature integrates, to what is given at the same points.
template <int dim>
void add_reaction(const Problem<dim> &problem, const PointBatch<dim> &at,
                  const std::vector<double> &c, PointTerms &t)
{
  linalg::visit_term(*problem.nonlinearity(), c.data(), [&](const auto &term) {
    double *const value = t.value(0);
    for (unsigned int q = 0; q < at.size(); ++q)
      value[q] += term.value(static_cast<int>(q), at.u[0][q]);
  });
}

/// Of which components of u the flux is given on parts of the boundary: those of which u is not.
template <int dim>
class FreeDirections
{
public:
  explicit FreeDirections(const Problem<dim> &problem)
      : n_components(problem.n_components()), planes(problem.symmetry_planes())
  {
    for (const auto &condition : problem.dirichlet_conditions())
      for (const auto id : condition.ids)
        for (unsigned int c = 0; c < n_components; ++c)
          if (condition.mask[c])
            held.emplace(id, c);
  }

  /// What of @p difference, one number for each component, is in free directions.
  double square(const types::boundary_id id, const Tensor<1, dim> &n,
                const std::vector<double> &difference) const
  {
    double sum = 0.;
    for (unsigned int c = 0; c < n_components; ++c)
      if (held.count({id, c}) == 0)
        sum += difference[c] * difference[c];
    if (planes.count(id) == 0)
      return sum;
    double along_normal = 0.;
    for (unsigned int c = 0; c < n_components; ++c)
      along_normal += difference[c] * n[c];
    return std::max(0., sum - along_normal * along_normal);
  }

private:
  unsigned int n_components;
  std::set<types::boundary_id> planes;
  std::set<std::pair<types::boundary_id, unsigned int>> held;
};

/// The squares of an estimate, cell by cell.
struct Squares
{
  double indicator = 0.; ///< η_K²
  double size = 0.;      ///< of the flux
};

/// What both estimators share: the jumps of σ·n over the faces of a cell.
template <int dim>
class FluxJumps
{
public:
  FluxJumps(const Problem<dim> &problem, const Discretization<dim> &discretization,
            const FeVector &u)
      : problem(problem), n_components(problem.n_components()),
        here(discretization.mapping(), discretization.element().base_element(0),
             discretization.face_quadrature(), flags),
        there(copy_of(here)),
        part_here(discretization.mapping(), discretization.element().base_element(0),
                  discretization.face_quadrature(), flags),
        part_there(copy_of(part_here)), sigma_here(problem, discretization, u),
        sigma_there(problem, discretization, u), difference(n_components),
        partners(here.get_quadrature().size()), periodic(ids_of(problem.periodic_sides())),
        free_directions(problem)
  {}

  /// Σ_F weight(h_F) ∫_F [σ·n]² over the faces of @p cell, those to cells beyond a periodic side
  /// too; twice for those of the boundary.
  template <class Weight>
  double sum(const ActiveCell<dim> &cell, const Weight &weight)
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
        here.reinit(cell_of(cell), f);
        part_there.reinit(cell_of(neighbor), its_face, part);
        result += weight(face->diameter()) * across(cell, here, neighbor, part_there, is_periodic);
      }
      else {
        here.reinit(cell_of(cell), f);
        there.reinit(cell_of(neighbor), face_of_neighbor(cell, f));
        result += weight(face->diameter()) * across(cell, here, neighbor, there, is_periodic);
      }
    }
    return result;
  }

private:
  static unsigned int face_of_neighbor(const ActiveCell<dim> &cell, const unsigned int f)
  {
    return cell->at_boundary(f) ? cell->periodic_neighbor_face_no(f)
                                : cell->neighbor_of_neighbor(f);
  }

  /// The same over one face of @p cell, behind which the cells are smaller.
  template <class Weight>
  double across_parts(const ActiveCell<dim> &cell, const unsigned int f, const Weight &weight)
  {
    const bool is_periodic = cell->at_boundary(f);
    const unsigned int its_face = face_of_neighbor(cell, f);
    const unsigned int n_parts =
        cell->neighbor_or_periodic_neighbor(f)->face(its_face)->n_children();
    double result = 0.;
    for (unsigned int part = 0; part < n_parts; ++part) {
      const auto child = is_periodic ? cell->periodic_neighbor_child_on_subface(f, part)
                                     : cell->neighbor_child_on_subface(f, part);
      part_here.reinit(cell_of(cell), f, part);
      there.reinit(cell_of(child), its_face);
      result += weight(child->face(its_face)->diameter()) *
                across(cell, part_here, child, there, is_periodic);
    }
    return result;
  }

  double across(const ActiveCell<dim> &cell, const FEValuesBase<dim> &fe,
                const ActiveCell<dim> &neighbor, const FEValuesBase<dim> &other,
                const bool is_periodic)
  {
    sigma_here.reinit(cell, fe);
    sigma_there.reinit(neighbor, other);
    if (is_periodic)
      find_partners(fe, other);
    double integral = 0.;
    for (const unsigned int q : fe.quadrature_point_indices()) {
      const Tensor<1, dim> &n = fe.normal_vector(q);
      const unsigned int beyond = is_periodic ? partners[q] : q;
      for (unsigned int c = 0; c < n_components; ++c)
        integral +=
            std::pow(sigma_here.along(n, c, q) - sigma_there.along(n, c, beyond), 2) * fe.JxW(q);
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

  double on_boundary(const ActiveCell<dim> &cell, const unsigned int f)
  {
    const auto id = cell->face(f)->boundary_id();
    if (periodic.count(id) > 0)
      return 0.;
    here.reinit(cell_of(cell), f);
    sigma_here.reinit(cell, here, id);
    const PointBatch<dim> &at = sigma_here.points().batch();
    given.reinit(n_components, n_components, dim, at.size());
    if (problem.has_boundary_flux(id))
      problem.boundary_flux(at, given);
    if (problem.has_boundary_reaction(id)) {
      std::vector<double> c(at.size(), 0.);
      problem.boundary_reaction_weight(at, c);
      add_reaction(problem, at, c, given);
    }
    double integral = 0.;
    for (unsigned int q = 0; q < at.size(); ++q) {
      const Tensor<1, dim> &n = here.normal_vector(q);
      for (unsigned int c = 0; c < n_components; ++c)
        difference[c] = given.value(c)[q] - sigma_here.along(n, c, q);
      integral += free_directions.square(id, n, difference) * here.JxW(q);
    }
    return integral;
  }

  const UpdateFlags flags = update_values | update_gradients | update_quadrature_points |
                            update_JxW_values | update_normal_vectors;
  const Problem<dim> &problem;
  unsigned int n_components;
  FEFaceValues<dim> here, there;
  FESubfaceValues<dim> part_here, part_there;
  FluxValues<dim> sigma_here, sigma_there;
  PointTerms given;
  std::vector<double> difference;        ///< of each component, at a point
  std::vector<unsigned int> partners;    ///< of the points of a face, on the other periodic side
  std::set<types::boundary_id> periodic; ///< of meshes that know no neighbours there
  FreeDirections<dim> free_directions;
};

/// The integrals over a cell: of (s + ∇·σ)², and of |σ|².
template <int dim>
class CellResidual
{
public:
  CellResidual(const Problem<dim> &problem, const Discretization<dim> &discretization,
               const FeVector &u)
      : problem(problem), n_components(problem.n_components()),
        scalar(discretization.element().base_element(0)),
        at_gauss(discretization.mapping(), scalar, discretization.cell_quadrature(),
                 update_values | update_gradients | update_quadrature_points | update_JxW_values),
        at_nodes(discretization.mapping(), scalar,
                 Quadrature<dim>(scalar.get_unit_support_points()),
                 update_values | update_gradients | update_quadrature_points),
        sigma(problem, discretization, u), nodal_sigma(problem, discretization, u)
  {}

  double flux_square(const ActiveCell<dim> &cell)
  {
    sigma.reinit(cell, at_gauss);
    return sigma.square();
  }

  /// After flux_square() of the same cell.
  double residual_square(const ActiveCell<dim> &cell)
  {
    nodal_sigma.reinit(cell, at_nodes);
    const CellPoints<dim> &points = sigma.points();
    const PointBatch<dim> &at = points.batch();
    s.reinit(n_components, n_components, dim, at.size());
    problem.source(at, s);
    if (problem.nonlinearity()) {
      std::vector<double> c(at.size(), 0.);
      problem.reaction_weight(at, c);
      add_reaction(problem, at, c, s);
    }
    double integral = 0.;
    for (unsigned int q = 0; q < at.size(); ++q)
      for (unsigned int c = 0; c < n_components; ++c) {
        double residual = s.value(c)[q];
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int i = 0; i < scalar.n_dofs_per_cell(); ++i)
            residual += nodal_sigma(c, d)[i] * points.gradients(q, d)[i];
        integral += residual * residual * points.JxW(q);
      }
    return integral;
  }

private:
  const Problem<dim> &problem;
  unsigned int n_components;
  const FiniteElement<dim> &scalar;
  FEValues<dim> at_gauss, at_nodes;
  FluxValues<dim> sigma, nodal_sigma;
  PointTerms s;
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

} // namespace

template <int dim>
ErrorEstimate kelly_estimate(const Problem<dim> &problem, const Discretization<dim> &discretization,
                             const FeVector &u)
{
  FluxJumps<dim> jumps(problem, discretization, u);
  CellResidual<dim> inside(problem, discretization, u);
  return estimate<dim>(discretization, [&](const ActiveCell<dim> &cell) -> Squares {
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
  return estimate<dim>(discretization, [&](const ActiveCell<dim> &cell) {
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
  const Field<dim> &exact = *problem.exact_solution();
  const unsigned int n_components = problem.n_components();
  FEValues<dim> fe(discretization.mapping(), discretization.element().base_element(0),
                   discretization.cell_quadrature(2),
                   update_values | update_gradients | update_quadrature_points | update_JxW_values);
  FluxValues<dim> sigma(problem, discretization, u);
  const unsigned int n_points = fe.n_quadrature_points;
  std::vector<double> rows;
  PointTerms exact_sigma;
  double square = 0.;
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    sigma.reinit(cell, fe);
    PointBatch<dim> at;
    at.places = sigma.points().batch().places;
    at.material = cell->material_id();
    at.u.reinit(n_components, n_points);
    at.gradients.reinit(n_components * dim, n_points);
    for (unsigned int c = 0; c < n_components; ++c) {
      exact.value_and_gradient_rows(at.points(), n_points, rows, c);
      std::copy_n(rows.data(), n_points, at.u[c]);
      for (unsigned int d = 0; d < dim; ++d)
        std::copy_n(rows.data() + std::size_t(1 + d) * n_points, n_points,
                    at.gradients[c * dim + d]);
    }
    exact_sigma.reinit(n_components * dim, n_components, dim, n_points);
    problem.flux(at, exact_sigma);
    for (unsigned int c = 0; c < n_components; ++c)
      for (unsigned int d = 0; d < dim; ++d)
        for (unsigned int q = 0; q < n_points; ++q)
          square += std::pow(sigma(c, d)[q] - exact_sigma.value(c * dim + d)[q], 2) *
                    sigma.points().JxW(q);
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
