#include "physics/refinement.h"

#include "linalg/base/error.h"
#include "physics/base/deal_ii_compat.h"
#include "physics/mesh/quadratic_geometry.h"
#include "physics/parameter_fields.h"

#include <deal.II/base/function.h>
#include <deal.II/base/geometry_info.h>
#include <deal.II/distributed/grid_refinement.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/grid/reference_cell.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/serialization/vector.hpp>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Rounds @p x to 13 binary digits.
float rounded(const float x)
{
  int exponent = 0;
  const float mantissa = std::frexp(x, &exponent);
  return std::ldexp(std::round(std::ldexp(mantissa, 13)), exponent - 13);
}

/// The data of a cell that the owners of its children need.
template <int dim>
struct ParentCell
{
  types::coarse_cell_id number;
  std::vector<Point<dim>> nodes; ///< vertices and midpoints of edges
  std::vector<double> values;    ///< values of the solution at the dofs of the cell

  template <class Archive>
  void serialize(Archive &archive, const unsigned int /* version */)
  {
    archive &number &nodes &values;
  }
};

template <int dim>
std::vector<ParentCell<dim>> collect_parent_cells(const Discretization<dim> &discretization,
                                                  const FeVector &u)
{
  std::vector<ParentCell<dim>> result;
  Vector<double> values(discretization.element().n_dofs_per_cell());
  const CurvedSimplexMapping<dim> mapping;
  for (const auto &cell : discretization.dofs().active_cell_iterators())
    if (cell->is_locally_owned()) {
      cell->get_dof_values(u, values);
      result.push_back({cell->id().get_coarse_cell_id(),
                        mapping.compute_mapping_support_points(cell),
                        {values.begin(), values.end()}});
    }
  return result;
}

/// Collective. Returns the parents of this rank's cells. They are @p parents, unless @p mesh was
/// repartitioned; then each rank sends its @p parents to the owners of their children.
template <int dim>
std::vector<ParentCell<dim>> send_to_owners_of_children(const Mesh<dim> &mesh,
                                                        std::vector<ParentCell<dim>> parents)
{
  constexpr unsigned int n_children = GeometryInfo<dim>::max_children_per_cell;
  if (mesh.serial->n_active_cells() != mesh.triangulation->n_global_active_cells())
    return parents;
  std::vector<types::subdomain_id> owners;
  for (const auto &cell : mesh.serial->active_cell_iterators())
    owners.push_back(cell->subdomain_id());
  std::map<unsigned int, std::vector<ParentCell<dim>>> outgoing;
  for (const ParentCell<dim> &parent : parents) {
    const auto first = owners.begin() + static_cast<std::ptrdiff_t>(parent.number) * n_children;
    for (const auto owner : std::set<types::subdomain_id>(first, first + n_children))
      outgoing[owner].push_back(parent);
  }
  std::vector<ParentCell<dim>> result;
  for (const auto &of_rank :
       Utilities::MPI::some_to_some(compat::communicator(*mesh.triangulation), outgoing))
    result.insert(result.end(), of_rank.second.begin(), of_rank.second.end());
  return result;
}

/// Returns the number of the node of @p parent that is closest to @p vertex, a vertex of a child.
template <int dim>
unsigned int node_at(const ParentCell<dim> &parent, const Point<dim> &vertex)
{
  const auto nearest = std::min_element(
      parent.nodes.begin(), parent.nodes.end(), [&](const Point<dim> &a, const Point<dim> &b) {
        return a.distance_square(vertex) < b.distance_square(vertex);
      });
  return static_cast<unsigned int>(nearest - parent.nodes.begin());
}

/// Returns for each node of @p element, of degree 2 at most, the two vertices whose midpoint it is.
/// A node at a vertex has this vertex twice.
template <int dim>
std::vector<std::array<unsigned int, 2>> ends_of_nodes(const FiniteElement<dim> &element)
{
  const ReferenceCell reference = element.reference_cell();
  std::vector<std::array<unsigned int, 2>> result;
  for (const Point<dim> &node : element.get_unit_support_points())
    for (const unsigned int a : reference.vertex_indices())
      for (unsigned int b = 0; b <= a; ++b)
        if (const Point<dim> middle(
                (reference.template vertex<dim>(a) + reference.template vertex<dim>(b)) / 2.);
            middle.distance(node) < 1e-10)
          result.push_back({{a, b}});
  return result;
}

/// Refines all triangles or tetrahedra and returns @p u, interpolated to the new space. deal.II's
/// SolutionTransfer does not support these cells; here, the owner of a child evaluates the parent's
/// solution at the child's nodes. The degree is at most 2.
template <int dim>
FeVector refine_simplices_and_transfer(Mesh<dim> &mesh, Discretization<dim> &discretization,
                                       const FeVector &u)
{
  const FiniteElement<dim> &fe = discretization.element();
  const FiniteElement<dim> &scalar = fe.base_element(0);
  const unsigned int n = fe.n_dofs_per_cell();
  std::vector<ParentCell<dim>> parents = collect_parent_cells(discretization, u);
  refine_globally(mesh, 1);
  parents = send_to_owners_of_children(mesh, std::move(parents));
  std::unordered_map<types::coarse_cell_id, const ParentCell<dim> *> by_number;
  for (const ParentCell<dim> &parent : parents)
    by_number[parent.number] = &parent;
  discretization.distribute_dofs();
  const ShapesHalfway<dim> shapes(scalar);
  const auto ends = ends_of_nodes(scalar);
  FeVector result = discretization.make_vector();
  Vector<double> cell_values(n);
  for (const auto &cell : discretization.dofs().active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    const ParentCell<dim> &parent =
        *by_number.at(cell->id().get_coarse_cell_id() / GeometryInfo<dim>::max_children_per_cell);
    std::array<unsigned int, dim + 1> vertices; // node numbers in the parent
    for (const unsigned int v : cell->vertex_indices())
      vertices[v] = node_at(parent, cell->vertex(v));
    cell_values = 0.;
    for (unsigned int node = 0; node < scalar.n_dofs_per_cell(); ++node) {
      const auto [a, b] = ends[node];
      const std::vector<double> &weights = shapes.between(vertices[a], vertices[b]);
      for (unsigned int c = 0; c < fe.n_components(); ++c)
        for (unsigned int j = 0; j < weights.size(); ++j)
          cell_values(fe.component_to_system_index(c, node)) +=
              weights[j] * parent.values[fe.component_to_system_index(c, j)];
    }
    cell->set_dof_values(cell_values, result);
  }
  result.zero_out_ghost_values();
  return result;
}
} // namespace

template <int dim>
void flag_by_indicators(Mesh<dim> &mesh, const Vector<float> &indicators,
                        const RefinementRule &rule)
{
  auto &triangulation =
      dynamic_cast<parallel::distributed::Triangulation<dim> &>(*mesh.triangulation);
  Vector<float> eta(indicators);
  std::transform(eta.begin(), eta.end(), eta.begin(), rounded);
  using namespace parallel::distributed::GridRefinement;
  if (rule.fraction == RefinementRule::Fraction::of_cells)
    refine_and_coarsen_fixed_number(triangulation, eta, rule.refine, rule.coarsen);
  else
    refine_and_coarsen_fixed_fraction(triangulation, eta, rule.refine, rule.coarsen,
                                      VectorTools::NormType::L2_norm);
}

template <int dim>
bool limit_level(Mesh<dim> &mesh, const unsigned int largest)
{
  bool any = false;
  const unsigned int within = mesh.refinements_within_blocks();
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned()) {
      if (static_cast<unsigned int>(cell->level()) + within >= largest)
        cell->clear_refine_flag();
      any = any || cell->refine_flag_set();
    }
  return Utilities::MPI::logical_or(any, compat::communicator(*mesh.triangulation));
}

namespace
{
/// Returns @p expression, the number of local refinements by position, as a function; nullptr if
/// @p expression is empty.
template <int dim>
std::unique_ptr<Function<dim>> initial_refinement(const Mesh<dim> &mesh,
                                                  const std::string &expression)
{
  const std::string path = "Mesh/Initial refinement where";
  auto where = make_optional_field<dim>(path, expression, 1, mesh.regions);
  if (where && mesh.is_simplex)
    throw ParameterError("Triangles and tetrahedra can only be refined globally. Remove '" + path +
                             "', or use quadrilaterals or hexahedra.",
                         path);
  return where;
}
} // namespace

template <int dim>
unsigned int cells_per_block(const Discretization<dim> &discretization, const Problem<dim> &problem,
                             const unsigned int times)
{
  const Mesh<dim> &mesh = discretization.mesh();
  if (mesh.is_simplex || mesh.is_curved || mesh.has_inverted_vertices ||
      !mesh.regions.curves_and_point_sets.empty() || discretization.degree() > 1 ||
      !problem.periodic_sides().empty() || !problem.symmetry_planes().empty())
    return 1;
  constexpr double min_blocks = 4096;
  const auto n_coarse = static_cast<double>(mesh.triangulation->n_global_active_cells());
  unsigned int within = std::min(times, 2U);
  while (within > 0 && n_coarse * std::pow(1 << dim, times - within) < min_blocks)
    --within;
  return 1U << within;
}

template <int dim>
void refine_initially(Mesh<dim> &mesh, const unsigned int times, const std::string &expression,
                      const unsigned int per_block)
{
  const auto where = initial_refinement(mesh, expression);
  mesh.cells_per_block = per_block;
  refine_globally(mesh, times - mesh.refinements_within_blocks());
  for (unsigned int step = 0; where && step < max_local_refinements; ++step) {
    flag_if(mesh,
            [&](const auto &cell) { return cell->level() < times + where->value(cell->center()); });
    if (!limit_level(mesh, times + max_local_refinements))
      return;
    mesh.triangulation->execute_coarsening_and_refinement();
  }
}

template <int dim>
void refine_and_transfer(Mesh<dim> &mesh, Discretization<dim> &discretization,
                         const std::vector<FeVector *> &functions)
{
  if (mesh.is_simplex) {
    FeVector none = discretization.make_vector();
    FeVector &u = functions.empty() ? none : *functions[0];
    u = refine_simplices_and_transfer(mesh, discretization, u);
    return;
  }
  compat::SolutionTransfer<dim, FeVector> transfer(discretization.dofs());
  if (!functions.empty())
    transfer.prepare_for_coarsening_and_refinement(
        std::vector<const FeVector *>(functions.begin(), functions.end()));
  mesh.triangulation->execute_coarsening_and_refinement();
  discretization.distribute_dofs();
  // These vectors have ghost entries because interpolate() writes all dofs of a rank's own cells,
  // also those that belong to other ranks.
  std::vector<FeVector> transferred(functions.size(), discretization.make_vector());
  std::vector<FeVector *> to;
  for (FeVector &function : transferred)
    to.push_back(&function);
  if (!functions.empty())
    transfer.interpolate(to);
  for (std::size_t k = 0; k < functions.size(); ++k)
    functions[k]->swap(transferred[k]); // operator= may keep the ghosts of the former mesh
}

namespace
{
/// Counts the active cells within one descendant of a coarse cell: the cell of level @p level whose
/// lowest corner is @p corner in the unit cell. A cell is refined if is_refined(centre, level).
/// Counts depth first, without storing cells, and stops at about @p max_cells.
template <int dim, class Predicate>
double count_cells(const Predicate &is_refined, const double max_cells, const Point<dim> &corner,
                   const unsigned int level)
{
  const double size = std::ldexp(1., -static_cast<int>(level));
  Point<dim> centre = corner;
  for (unsigned int d = 0; d < dim; ++d)
    centre[d] += size / 2.;
  if (!is_refined(centre, level))
    return 1.;
  double n = 0.;
  for (const unsigned int child : GeometryInfo<dim>::vertex_indices()) {
    const Point<dim> first = corner + size / 2. * GeometryInfo<dim>::unit_cell_vertex(child);
    n += count_cells(is_refined, max_cells, first, level + 1);
    if (n > max_cells)
      break;
  }
  return n;
}
} // namespace

template <int dim>
double predict_n_cells(const Mesh<dim> &mesh, const unsigned int times,
                       const std::string &expression, const double max_cells)
{
  const auto where = initial_refinement(mesh, expression);
  if (!where)
    return static_cast<double>(mesh.triangulation->n_global_active_cells()) *
           std::pow(1 << dim, times);
  double n = 0.;
  for (const auto &cell : mesh.triangulation->active_cell_iterators()) {
    const auto is_refined = [&](const Point<dim> &unit, const unsigned int level) {
      if (level < times || level >= times + max_local_refinements)
        return level < times;
      Point<dim> centre;
      for (const unsigned int v : GeometryInfo<dim>::vertex_indices())
        centre += GeometryInfo<dim>::d_linear_shape_function(unit, v) * cell->vertex(v);
      return level < times + where->value(centre);
    };
    if (cell->is_locally_owned() && n <= max_cells)
      n += count_cells(is_refined, max_cells, Point<dim>(), 0);
  }
  return Utilities::MPI::sum(n, compat::communicator(*mesh.triangulation));
}

template <int dim>
double cells_after_flags(const Mesh<dim> &mesh)
{
  constexpr double children = 1 << dim;
  double n = 0.;
  for (const auto &cell : mesh.triangulation->active_cell_iterators())
    if (cell->is_locally_owned())
      n += cell->refine_flag_set() ? children : cell->coarsen_flag_set() ? 1. / children : 1.;
  return Utilities::MPI::sum(n, compat::communicator(*mesh.triangulation)) *
         std::pow(mesh.cells_per_block, dim);
}

namespace
{
// The following functions bound the change in the number of dofs of one component by refinement and
// coarsening. Inside a cell, face or line of degree p lie (p − 1)^dimension nodes.

double dofs_inside(const double p, const int dimension)
{
  return std::pow(p - 1., dimension);
}

double dofs_of_children(const double p, const int dimension)
{
  return std::pow(2. * p - 1., dimension);
}

template <class Cell>
bool may_share_children(const Cell &cell, const unsigned int f)
{
  if (cell->at_boundary(f) || cell->neighbor_is_coarser(f))
    return false;
  return cell->neighbor(f)->is_ghost() || cell->neighbor(f)->refine_flag_set();
}

/// Returns a lower bound of the number of dofs that the refinement of @p cell adds, whether or not
/// the cells around it are refined, too.
template <int dim, class Cell>
double min_gain(const Cell &cell, const double p)
{
  double gain = dofs_of_children(p, dim) - dofs_inside(p, dim);
  for (const unsigned int f : cell->face_indices())
    if (cell->face(f)->has_children()) // its own dofs vanish; those of its children exist already
      gain -= dofs_inside(p, dim - 1);
    else
      gain += (dofs_of_children(p, dim - 1) - dofs_inside(p, dim - 1)) /
              (may_share_children(cell, f) ? 2. : 1.);
  for (unsigned int line = 0; dim == 3 && line < cell->n_lines(); ++line)
    if (cell->line(line)->has_children())
      gain -= dofs_inside(p, 1);
  return gain;
}

/// Returns an upper bound of the number of dofs lost, per merged cell, when 2^dim cells are merged
/// into one, whose corners are kept.
template <int dim>
double largest_loss(const double p)
{
  constexpr double n_children = 1 << dim;
  return (std::pow(2. * p + 1., dim) - dofs_inside(p, dim) - n_children) / n_children;
}
} // namespace

template <int dim>
std::size_t min_dofs_after_flags(const Discretization<dim> &discretization)
{
  const DoFHandler<dim> &dofs = discretization.dofs();
  if (discretization.mesh().is_simplex)
    return dofs.n_dofs();
  const double n_components = dofs.get_fe().n_components();
  const double p = 1. + dofs.get_fe().n_dofs_per_line() / n_components;
  double change = 0.;
  for (const auto &cell : dofs.active_cell_iterators())
    if (cell->is_locally_owned()) {
      if (cell->refine_flag_set())
        change += min_gain<dim>(cell, p);
      else if (cell->coarsen_flag_set())
        change -= largest_loss<dim>(p);
    }
  change = n_components * Utilities::MPI::sum(change, discretization.communicator());
  return static_cast<std::size_t>(
      std::max(0., static_cast<double>(dofs.n_dofs()) + std::floor(change)));
}

template void flag_by_indicators(Mesh<2> &, const Vector<float> &, const RefinementRule &);
template bool limit_level(Mesh<2> &, unsigned int);
template unsigned int cells_per_block(const Discretization<2> &, const Problem<2> &, unsigned int);
template void refine_initially(Mesh<2> &, unsigned int, const std::string &, unsigned int);
template void refine_and_transfer(Mesh<2> &, Discretization<2> &, const std::vector<FeVector *> &);
template double predict_n_cells(const Mesh<2> &, unsigned int, const std::string &, double);
template double cells_after_flags(const Mesh<2> &);
template std::size_t min_dofs_after_flags(const Discretization<2> &);
template void flag_by_indicators(Mesh<3> &, const Vector<float> &, const RefinementRule &);
template bool limit_level(Mesh<3> &, unsigned int);
template unsigned int cells_per_block(const Discretization<3> &, const Problem<3> &, unsigned int);
template void refine_initially(Mesh<3> &, unsigned int, const std::string &, unsigned int);
template void refine_and_transfer(Mesh<3> &, Discretization<3> &, const std::vector<FeVector *> &);
template double predict_n_cells(const Mesh<3> &, unsigned int, const std::string &, double);
template double cells_after_flags(const Mesh<3> &);
template std::size_t min_dofs_after_flags(const Discretization<3> &);
} // namespace femgpu
