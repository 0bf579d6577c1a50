#include "physics/mesh/mesh_check.h"

#include "linalg/base/error.h"
#include "physics/expressions.h"
#include "physics/mesh/mesh_mapping.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/quadrature_lib.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_q.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
// Of the determinant, relative to the cell's size to the power of the dimension: far below that of
// the flattest cells that anybody computes on.
constexpr double smallest_determinant = 1e-14;

template <int dim>
std::unique_ptr<FiniteElement<dim>> linear_element(const bool is_simplex)
{
  if (is_simplex)
    return std::make_unique<FE_SimplexP<dim>>(1);
  return std::make_unique<FE_Q<dim>>(1);
}

/// The points of @p quadrature and the vertices.
template <int dim>
Quadrature<dim> with_vertices(const Quadrature<dim> &quadrature, const bool is_simplex)
{
  std::vector<Point<dim>> points = quadrature.get_points();
  const auto element = linear_element<dim>(is_simplex);
  for (const Point<dim> &vertex : element->get_unit_support_points())
    points.push_back(vertex);
  return Quadrature<dim>(points);
}

/// Where the determinant is smallest.
template <int dim>
struct Worst
{
  double determinant;
  Point<dim> point;
};

template <int dim>
Worst<dim> worst_point(const FEValues<dim> &fe)
{
  Worst<dim> worst = {fe.jacobian(0).determinant(), fe.quadrature_point(0)};
  for (const unsigned int q : fe.quadrature_point_indices())
    if (const double det = fe.jacobian(q).determinant(); !(det >= worst.determinant))
      worst = {det, fe.quadrature_point(q)};
  return worst;
}

template <int dim>
std::string text_of(const Worst<dim> &worst)
{
  std::ostringstream text;
  text << "the determinant of its Jacobian is " << worst.determinant << " at (" << worst.point
       << ")";
  return text.str();
}

/// A vector normal to the face, of any length.
template <int dim, class FaceIterator>
Tensor<1, dim> normal_of(const FaceIterator &face)
{
  if constexpr (dim == 2)
    return cross_product_2d(face->vertex(1) - face->vertex(0));
  else if (face->n_vertices() == 3)
    return cross_product_3d(face->vertex(1) - face->vertex(0), face->vertex(2) - face->vertex(0));
  else
    return cross_product_3d(face->vertex(3) - face->vertex(0), face->vertex(2) - face->vertex(1));
}

template <int dim>
void check_neighbours(const Triangulation<dim> &coarse, const std::vector<std::string> &places)
{
  for (const auto &cell : coarse.active_cell_iterators())
    for (const unsigned int f : cell->face_indices()) {
      if (cell->at_boundary(f) || cell->neighbor(f)->index() < cell->index())
        continue;
      const auto neighbor = cell->neighbor(f);
      const Tensor<1, dim> n = normal_of<dim>(cell->face(f));
      const auto side = [&](const Point<dim> &p) { return n * (p - cell->face(f)->center()); };
      if (side(cell->center()) * side(neighbor->center()) > 0.) {
        std::ostringstream text;
        text << places[neighbor->active_cell_index()] << "the cell lies on the same side of the "
             << "face at (" << cell->face(f)->center() << ") as its neighbour ("
             << places[cell->active_cell_index()]
             << "): one of them is inverted. Mend the nodes there, or mesh the model again.";
        throw InputError(text.str());
      }
    }
}
} // namespace

template <int dim>
void check_straight_cells(const Triangulation<dim> &coarse, const std::vector<std::string> &places)
{
  const bool is_simplex = coarse.all_reference_cells_are_simplex();
  const auto element = linear_element<dim>(is_simplex);
  const Mapping<dim> &mapping =
      coarse.get_reference_cells()[0].template get_default_linear_mapping<dim>();
  const Quadrature<dim> quadrature =
      is_simplex ? static_cast<Quadrature<dim>>(QGaussSimplex<dim>(1))
                 : with_vertices(static_cast<Quadrature<dim>>(QGauss<dim>(2)), false);
  FEValues<dim> fe(mapping, *element, quadrature, update_jacobians | update_quadrature_points);
  for (const auto &cell : coarse.active_cell_iterators()) {
    fe.reinit(cell);
    const Worst<dim> worst = worst_point(fe);
    if (!(worst.determinant > smallest_determinant * std::pow(cell->diameter(), dim)))
      throw InputError(places[cell->active_cell_index()] + "the cell is inverted or degenerate: " +
                       text_of(worst) + ". Mend its nodes, or mesh the model again.");
  }
  check_neighbours(coarse, places);
}

namespace
{
/// Where the determinant is too small, if it is: at a vertex between two smooth sides, which come
/// last, it may be zero, but for rounding and the mapping.
template <int dim>
std::optional<Worst<dim>> inverted_point(const FEValues<dim> &fe, const unsigned int n_gauss)
{
  const double size = std::pow(fe.get_cell()->diameter(), dim);
  for (const unsigned int q : fe.quadrature_point_indices())
    if (const double det = fe.jacobian(q).determinant();
        !(det > (q < n_gauss ? smallest_determinant : -1e-3) * size))
      return Worst<dim>{det, fe.quadrature_point(q)};
  return {};
}
} // namespace

template <int dim>
void check_quadratic_cells(const Triangulation<dim> &coarse, const std::vector<std::string> &places)
{
  const bool is_simplex = coarse.all_reference_cells_are_simplex();
  const auto element = linear_element<dim>(is_simplex);
  const auto mapping = make_mapping<dim>(coarse, /* is curved */ true, 2);
  const Quadrature<dim> gauss = is_simplex ? static_cast<Quadrature<dim>>(QGaussSimplex<dim>(3))
                                           : static_cast<Quadrature<dim>>(QGauss<dim>(3));
  FEValues<dim> fe(*mapping, *element, with_vertices(gauss, is_simplex),
                   update_jacobians | update_quadrature_points);
  for (const auto &cell : coarse.active_cell_iterators()) {
    fe.reinit(cell);
    if (const auto worst = inverted_point(fe, gauss.size()))
      throw InputError(
          places[cell->active_cell_index()] +
          "the cell is inverted or degenerate with its nodes of second order: " + text_of(*worst) +
          ". Mesh finer there, or mend its nodes (in gmsh, Mesh.HighOrderOptimize = "
          "2), or mesh with `gmsh -order 1` and name curved sides in Mesh/Manifolds.");
  }
}

template <int dim>
void check_curved_cells(const Discretization<dim> &discretization)
{
  const Mesh<dim> &mesh = discretization.mesh();
  if (!mesh.is_curved)
    return;
  const auto element = linear_element<dim>(mesh.is_simplex);
  const Quadrature<dim> gauss = discretization.cell_quadrature();
  FEValues<dim> fe(discretization.mapping(), *element, with_vertices(gauss, mesh.is_simplex),
                   update_jacobians | update_quadrature_points);
  std::string message;
  for (const auto &cell : mesh.triangulation->active_cell_iterators()) {
    if (!cell->is_locally_owned() || !message.empty())
      continue;
    fe.reinit(cell);
    if (const auto worst = inverted_point(fe, gauss.size())) {
      std::ostringstream text;
      text << "The cell at (" << cell->center() << ") is inverted or degenerate with its curved "
           << "sides: " << text_of(*worst) << ", with a mapping of degree "
           << discretization.degree()
           << ". Set Discretization/Degree lower, use a finer coarse mesh at the curved sides, or "
           << "set Mesh/Initial refinements higher.";
      message = text.str();
    }
  }
  const std::vector<std::string> messages =
      Utilities::MPI::all_gather(discretization.communicator(), message);
  for (const std::string &text : messages)
    if (!text.empty())
      throw InputError(text);
}

template <int dim>
void check_named_boundaries(const MeshParameters &parameters, const Mesh<dim> &mesh,
                            const Problem<dim> &problem)
{
  const std::string path = "Mesh/Natural boundaries";
  std::set<types::boundary_id> named;
  bool all = false;
  for (const std::string &word : split_expressions(parameters.natural_boundaries, ','))
    if (word == "all")
      all = true;
    else if (!word.empty())
      named.insert(mesh.regions.boundary(path, word));
  if (parameters.file.empty() || all)
    return;
  for (const auto &entry : problem.named_boundaries())
    named.insert(entry.second.begin(), entry.second.end());
  MeshRegions left = mesh.regions;
  for (const auto id : mesh.regions.boundary_ids)
    if (id == 0 || named.count(id) > 0)
      left.boundary_ids.erase(id);
  if (left.boundary_ids.empty())
    return;
  throw ParameterError("No condition names " + left.boundary_list() + " of the boundary ids of '" +
                           parameters.file + "', which has " + mesh.regions.boundary_list() +
                           ". Name them in a condition, or in " + path +
                           " if they are to have the natural one, without load or flux; 'all' "
                           "there is for all that are not named.",
                       path);
}

template void check_straight_cells(const Triangulation<2> &, const std::vector<std::string> &);
template void check_straight_cells(const Triangulation<3> &, const std::vector<std::string> &);
template void check_quadratic_cells(const Triangulation<2> &, const std::vector<std::string> &);
template void check_quadratic_cells(const Triangulation<3> &, const std::vector<std::string> &);
template void check_curved_cells(const Discretization<2> &);
template void check_curved_cells(const Discretization<3> &);
template void check_named_boundaries(const MeshParameters &, const Mesh<2> &, const Problem<2> &);
template void check_named_boundaries(const MeshParameters &, const Mesh<3> &, const Problem<3> &);
} // namespace femgpu
