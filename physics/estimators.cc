#include "physics/estimators.h"

#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/cell_points.h"
#include "physics/parameter_fields.h"

#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Evaluates a solution and its flux at the points of a cell or a face.
template <int dim>
class FluxValues
{
public:
  /// @param quadrature for cells or for faces
  template <class Points>
  FluxValues(const Problem<dim> &problem, const Discretization<dim> &discretization,
             const Points &quadrature, const FeVector &u)
      : problem(problem), u(u), n_components(problem.n_components()),
        u_cell(discretization.element().n_dofs_per_cell()), at(discretization, quadrature)
  {}

  /// Moves to @p cell. @param where empty, or a face number, or a face number and a subface number
  template <class... Where>
  void reinit(const ActiveCell<dim> &cell, const Where... where)
  {
    at.reinit(cell, where...);
    if (last != cell->active_cell_index())
      cell->get_dof_values(u, u_cell);
    last = cell->active_cell_index();
    at.set_solution(u_cell);
    sigma.reinit(n_components * dim, n_components, dim, at.size());
    problem.flux(at.batch(), sigma);
  }
  CellPoints<dim> &points()
  {
    return at;
  }
  const PointTerms &terms() const
  {
    return sigma;
  }
  /// Returns σ_c·n at a point.
  double normal_component(const Tensor<1, dim> &n, const unsigned int c, const unsigned int q)
  {
    double sum = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      sum += sigma.value(c * dim + d)[q] * n[d];
    return sum;
  }

private:
  const Problem<dim> &problem;
  const FeVector &u;
  unsigned int n_components;
  Vector<double> u_cell;
  unsigned int last = numbers::invalid_unsigned_int; ///< index of the cell of u_cell
  CellPoints<dim> at;
  PointTerms sigma;
};

/// Adds λ c φ(u), which the equations integrate by nodal quadrature, to @p t at the points @p at.
template <int dim>
void add_reaction(const Problem<dim> &problem, const PointBatch<dim> &at, PointTerms &t)
{
  std::vector<double> c(at.size(), 0.);
  problem.reaction_weight(at, c);
  linalg::visit_term(*problem.nonlinearity(), c.data(), [&](const auto &term) {
    double *const value = t.value(0);
    for (unsigned int q = 0; q < at.size(); ++q)
      if (c[q] != 0.) // elsewhere φ may be undefined
        value[q] += term.value(static_cast<int>(q), at.u[0][q]);
  });
}

/// The directions in which u is free on each boundary, so that the flux is prescribed.
template <int dim>
class FreeDirections
{
public:
  explicit FreeDirections(const Problem<dim> &problem)
      : n_components(problem.n_components()), planes(problem.symmetry_planes())
  {
    for (const auto &condition : problem.dirichlet_conditions())
      for (unsigned int c = 0; c < n_components; ++c)
        if (condition.mask[c])
          prescribed.emplace(condition.id, c);
  }

  /// Returns the squared length of the projection of @p difference, which has one number for each
  /// component, onto the free directions of boundary @p id with the normal @p n.
  double square(const types::boundary_id id, const Tensor<1, dim> &n,
                const std::vector<double> &difference) const
  {
    double sum = 0.;
    for (unsigned int c = 0; c < n_components; ++c)
      if (prescribed.count({id, c}) == 0)
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
  std::set<std::pair<types::boundary_id, unsigned int>> prescribed;
};

/// The integrals of squared jumps of σ·n over faces, summed for each cell. Both estimators use
/// them.
template <int dim>
class FluxJumps
{
public:
  FluxJumps(const Estimator estimator, const Problem<dim> &problem,
            const Discretization<dim> &discretization, const FeVector &u)
      : estimator(estimator), p(discretization.degree()), problem(problem),
        n_components(problem.n_components()),
        own_side(problem, discretization, discretization.face_quadrature(), u),
        other_side(problem, discretization, discretization.face_quadrature(), u),
        difference(n_components), matching(discretization.face_quadrature().size()),
        periodic(ids_of(problem.periodic_sides())), free_directions(problem),
        inner_sides(discretization.inner_sides_of_cells()),
        sums(discretization.n_cell_indices(), 0.)
  {}

  /**
   * Adds weight(F) ∫_F [σ·n]² to the sums of the cells on both sides of F, for each face F of
   * @p cell, including periodic faces, unless another cell of this rank adds it. Boundary faces
   * count twice. If cells are smaller on one side, F is a face of the smaller cells.
   */
  void add(const ActiveCell<dim> &cell)
  {
    double &sum = sums[cell->active_cell_index()];
    for (const unsigned int f : cell->face_indices()) {
      const auto face = cell->face(f);
      const bool is_periodic = face->at_boundary();
      if (is_periodic && !cell->block()->has_periodic_neighbor(f)) {
        sum += 2. * weight(face) * integrate_boundary_jump(cell, f);
        continue;
      }
      if (cell->is_deal_ii_cell() &&
          cell->block()->neighbor_or_periodic_neighbor(f)->has_children()) {
        add_subface_jumps(cell->block(), f);
        continue;
      }
      const bool is_coarser = cell->is_deal_ii_cell() && is_neighbor_coarser(cell->block(), f);
      const auto [neighbor, neighbor_face] =
          cell->is_deal_ii_cell()
              ? std::make_pair(deal_ii_cell(cell->block()->neighbor_or_periodic_neighbor(f)),
                               face_of_neighbor(cell->block(), f, is_coarser))
              : cell->neighbor(f);
      const auto other = std::make_pair(neighbor->active_cell_index(), neighbor_face);
      if (!is_coarser && neighbor->is_locally_owned() &&
          other < std::make_pair(cell->active_cell_index(), f))
        continue;
      const double jump =
          weight(face) * integrate_jump(cell, f, neighbor, neighbor_face, is_coarser);
      sum += jump;
      if (neighbor->is_locally_owned())
        sums[neighbor->active_cell_index()] += jump;
    }
  }
  /// Returns the sum of a cell. @pre all cells were added
  double sum(const ActiveCell<dim> &cell) const
  {
    return sums[cell->active_cell_index()];
  }

private:
  using Block = typename ActiveCell<dim>::Block;

  double weight(const typename ActiveCell<dim>::Face &face) const
  {
    return estimator == Estimator::kelly ? 1. : face.diameter() / (2. * p);
  }
  ActiveCell<dim> deal_ii_cell(const Block &block) const
  {
    return {block, nullptr, 0, inner_sides};
  }
  static bool is_neighbor_coarser(const Block &cell, const unsigned int f)
  {
    return cell->at_boundary(f) ? cell->periodic_neighbor_is_coarser(f)
                                : cell->neighbor_is_coarser(f);
  }
  static unsigned int face_of_neighbor(const Block &cell, const unsigned int f,
                                       const bool is_coarser)
  {
    if (cell->at_boundary(f))
      return is_coarser ? cell->periodic_neighbor_of_coarser_periodic_neighbor(f).first
                        : cell->periodic_neighbor_face_no(f);
    return is_coarser ? cell->neighbor_of_coarser_neighbor(f).first : cell->neighbor_of_neighbor(f);
  }

  /// Adds the jumps between @p cell and the smaller cells behind face @p f that other ranks own.
  void add_subface_jumps(const Block &cell, const unsigned int f)
  {
    const unsigned int neighbor_face = face_of_neighbor(cell, f, /* coarser */ false);
    const auto parent = cell->neighbor_or_periodic_neighbor(f);
    for (unsigned int subface = 0; subface < parent->face(neighbor_face)->n_children(); ++subface) {
      const ActiveCell<dim> child =
          deal_ii_cell(cell->at_boundary(f) ? cell->periodic_neighbor_child_on_subface(f, subface)
                                            : cell->neighbor_child_on_subface(f, subface));
      if (!child->is_locally_owned())
        sums[cell->active_cell_index()] +=
            weight(child->face(neighbor_face)) *
            integrate_jump(child, neighbor_face, deal_ii_cell(cell), f, /* coarser */ true);
    }
  }

  /// Returns ∫_F [σ·n]², where F is face @p f of @p cell.
  double integrate_jump(const ActiveCell<dim> &cell, const unsigned int f,
                        const ActiveCell<dim> &neighbor, const unsigned int neighbor_face,
                        const bool is_coarser)
  {
    own_side.reinit(cell, f);
    other_side.reinit(neighbor, neighbor_face,
                      is_coarser
                          ? subface_of(neighbor->block()->face(neighbor_face), cell->block(), f)
                          : CellPoints<dim>::entire);
    const bool has_same_points = !is_coarser && !cell->at_boundary(f);
    if (!has_same_points)
      match_points();
    return integrate_difference(
        [&](const Tensor<1, dim> &n, const unsigned int c, const unsigned int q) {
          return own_side.normal_component(n, c, q) -
                 other_side.normal_component(n, c, has_same_points ? q : matching[q]);
        });
  }

  /// Returns the number of the child of @p face, of a larger cell, that matches face @p f of
  /// @p cell.
  template <class Face>
  static unsigned int subface_of(const Face &face, const Block &cell, const unsigned int f)
  {
    const Point<dim> middle = face->center(),
                     own_side =
                         middle + (cell->face(f)->center() - cell->parent()->face(f)->center());
    unsigned int nearest = 0;
    double smallest = std::numeric_limits<double>::max();
    for (unsigned int v = 0; v < face->n_vertices(); ++v) {
      const double distance = own_side.distance(middle + (face->vertex(v) - middle) / 2.);
      if (distance < smallest) {
        smallest = distance;
        nearest = v;
      }
    }
    return nearest;
  }

  /// Matches the points of the two sides: sides of coarse cells may be numbered differently, and
  /// periodic sides have different locations.
  void match_points()
  {
    const auto &points = own_side.points().batch().points(),
               &others = other_side.points().batch().points();
    Tensor<1, dim> shift;
    for (std::size_t q = 0; q < points.size(); ++q)
      shift += (others[q] - points[q]) / static_cast<double>(points.size());
    for (std::size_t q = 0; q < points.size(); ++q) {
      const Point<dim> moved = points[q] + shift;
      const auto nearest = std::min_element(
          others.begin(), others.end(), [&](const Point<dim> &a, const Point<dim> &b) {
            return a.distance_square(moved) < b.distance_square(moved);
          });
      matching[q] = static_cast<unsigned int>(nearest - others.begin());
    }
  }

  double integrate_boundary_jump(const ActiveCell<dim> &cell, const unsigned int f)
  {
    if (periodic.count(cell->side_id(f)) > 0)
      return 0.;
    own_side.reinit(cell, f);
    return integrate_difference(
        [&](const Tensor<1, dim> &n, const unsigned int c, const unsigned int q) {
          return own_side.normal_component(n, c, q);
        });
  }

  /// Returns ∫ |flux − g|² over the face at `own_side`. On boundary faces and inner sides, g is the
  /// prescribed flux, and only the directions count in which u is free; elsewhere g is 0.
  /// @param flux flux(normal, component, point): the flux out of the body, or the jump between
  /// cells
  template <class Flux>
  double integrate_difference(const Flux &flux)
  {
    const CellPoints<dim> &points = own_side.points();
    const PointBatch<dim> &at = points.batch();
    if (!at.is_on_side()) {
      double integral = 0.;
      for (unsigned int q = 0; q < at.size(); ++q)
        for (unsigned int c = 0; c < n_components; ++c) {
          const double jump = flux((*at.normals)[q], c, q);
          integral += jump * jump * points.JxW(q);
        }
      return integral;
    }
    const auto id = at.boundary;
    prescribed_flux.reinit(n_components, n_components, dim, at.size());
    if (problem.has_boundary_flux(id))
      problem.boundary_flux(at, prescribed_flux);
    if (problem.has_boundary_flux(id) && problem.nonlinearity())
      add_reaction(problem, at, prescribed_flux);
    double integral = 0.;
    for (unsigned int q = 0; q < at.size(); ++q) {
      const Tensor<1, dim> &n = (*at.normals)[q];
      for (unsigned int c = 0; c < n_components; ++c)
        difference[c] = flux(n, c, q) - prescribed_flux.value(c)[q];
      integral += free_directions.square(id, n, difference) * points.JxW(q);
    }
    return integral;
  }

  Estimator estimator;
  double p;
  const Problem<dim> &problem;
  unsigned int n_components;
  FluxValues<dim> own_side, other_side;
  PointTerms prescribed_flux;
  std::vector<double> difference;     ///< workspace: one number for each component
  std::vector<unsigned int> matching; ///< for each point of a face: its match on the other side
  /// The ids of periodic sides; used on meshes that do not store neighbours across these sides.
  std::set<types::boundary_id> periodic;
  FreeDirections<dim> free_directions;
  const InnerSidesOfCells<dim> *inner_sides;
  std::vector<double> sums; ///< by active cell index
};

/// Returns ∫ (s + ∇·σ)² over the cell, with ∇·σ from the nodal values @p nodal_sigma.
/// @param s workspace
template <int dim>
double residual_square(const Problem<dim> &problem, FluxValues<dim> &sigma,
                       const FluxValues<dim> &nodal_sigma, PointTerms &s)
{
  CellPoints<dim> &points = sigma.points();
  const PointBatch<dim> &at = points.batch();
  s.reinit(problem.n_components(), problem.n_components(), dim, at.size());
  problem.source(at, s);
  if (problem.nonlinearity())
    add_reaction(problem, at, s);
  points.add_divergence(nodal_sigma.terms(), s);
  return points.integral_of_square(s.values);
}
} // namespace

template <int dim>
ErrorEstimate estimate_error(const Estimator estimator, const Problem<dim> &problem,
                             const Discretization<dim> &discretization, const FeVector &u,
                             Vector<float> &indicators)
{
  FluxJumps<dim> jumps(estimator, problem, discretization, u);
  FluxValues<dim> sigma(problem, discretization, discretization.cell_quadrature(), u),
      nodal_sigma(problem, discretization, discretization.nodal_quadrature(), u);
  PointTerms s;
  indicators.reinit(discretization.n_cell_indices());
  const double p = discretization.degree();
  double sum = 0., size = 0.;
  const MPI_Comm comm = discretization.communicator();
  // evaluation of coefficients may fail at a node
  rethrow_on_all_ranks<ParameterError>(comm, [&] {
    for (const auto &cell : discretization.owned_cells())
      jumps.add(cell);
    for (const auto &cell : discretization.owned_cells()) {
      sigma.reinit(cell);
      size += sigma.points().integral_of_square(sigma.terms().values);
      double of_cell = jumps.sum(cell);
      if (estimator == Estimator::kelly)
        of_cell = cell->diameter() / 24. * of_cell;
      else {
        nodal_sigma.reinit(cell);
        const double h_p = cell->diameter() / p;
        of_cell += h_p * h_p * residual_square(problem, sigma, nodal_sigma, s);
      }
      indicators(cell->active_cell_index()) = static_cast<float>(std::sqrt(of_cell));
      sum += of_cell;
    }
  });
  return {
      std::sqrt(Utilities::MPI::sum(sum, comm)), std::sqrt(Utilities::MPI::sum(size, comm)), {}};
}

template ErrorEstimate estimate_error(Estimator, const Problem<2> &, const Discretization<2> &,
                                      const FeVector &, Vector<float> &);
template ErrorEstimate estimate_error(Estimator, const Problem<3> &, const Discretization<3> &,
                                      const FeVector &, Vector<float> &);
} // namespace femgpu
