#include "physics/mesh/inverted_cells.h"

#include "common/atomic_file.h"
#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/mesh/vtu_cells.h"

#include <deal.II/fe/fe_nothing.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/reference_cell.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

namespace femgpu
{
using namespace dealii;

namespace
{
// The smallest valid determinant at Gauss points, relative to the cell's size to the power of the
// dimension: far below the determinant of the flattest cells used in practice.
constexpr double smallest_determinant = 1e-14;

template <int dim>
std::array<double, 3> in_3d(const Point<dim> &point)
{
  std::array<double, 3> result = {};
  std::copy_n(point.begin_raw(), dim, result.begin());
  return result;
}

/// Returns the number at the end of @p location, such as 22 for "m.msh:22: "; -1 if it has none.
double number_in(const std::string &location)
{
  constexpr const char *digits = "0123456789";
  const std::size_t last = location.find_last_of(digits);
  if (last == std::string::npos)
    return -1.;
  const std::size_t before = location.find_last_not_of(digits, last);
  return std::stod(location.substr(before + 1, last - before));
}

std::string vtu_text(const std::vector<InvertedCell> &cells,
                     const std::vector<std::string> &locations, const int dim)
{
  VtuCells file({"cell", "location", "determinant"});
  for (const InvertedCell &cell : cells)
    file.add({cell.vertices.begin(), cell.vertices.begin() + cell.n_vertices}, dim,
             {static_cast<double>(cell.number),
              locations.empty() ? -1. : number_in(locations[cell.number]), cell.determinant});
  return file.text();
}

/// Writes the cells. Returns a sentence with the name of the file; why it could not be written if
/// so, because the cells are the error to report.
std::string write_cells(const std::vector<InvertedCell> &cells,
                        const std::vector<std::string> &locations, const std::string &directory,
                        const int dim)
{
  const auto file = std::filesystem::path(directory) / "inverted_cells.vtu";
  try {
    create_output_directory(directory);
    write_file(file, vtu_text(cells, locations, dim));
  }
  catch (const OutputError &error) {
    return std::string(error.what()) + ". ";
  }
  return "'" + file.string() + "' shows " +
         (cells.size() == 1 ? "it" : "all " + std::to_string(cells.size()) + " such cells") + ". ";
}
} // namespace

std::string InvertedCell::determinant_text(const int dim) const
{
  std::ostringstream text;
  text << "the determinant of its Jacobian is " << determinant << " at (";
  for (int d = 0; d < dim; ++d)
    text << (d == 0 ? "" : " ") << point[static_cast<std::size_t>(d)];
  text << ")";
  return text.str();
}

template <int dim>
InvertedCells find_inverted_cells(const Triangulation<dim> &mesh, const Mapping<dim> &mapping,
                                  const Quadrature<dim> &gauss, const double at_vertices)
{
  const ReferenceCell reference = mesh.get_reference_cells()[0];
  std::vector<Point<dim>> points = gauss.get_points();
  for (const unsigned int v : reference.vertex_indices())
    points.push_back(reference.template vertex<dim>(v));
  const FE_Nothing<dim> none(reference);
  FEValues<dim> fe(mapping, none, Quadrature<dim>(points),
                   update_jacobians | update_quadrature_points);
  InvertedCells result;
  for (const auto &cell : mesh.active_cell_iterators()) {
    if (!cell->is_locally_owned())
      continue;
    fe.reinit(cell);
    const double size = std::pow(cell->diameter(), dim);
    InvertedCell found = {};
    bool is_inverted = false, has_any = false;
    for (const unsigned int q : fe.quadrature_point_indices()) {
      const bool is_vertex = q >= gauss.size();
      const double det = fe.jacobian(q).determinant();
      if (det > (is_vertex ? at_vertices : smallest_determinant) * size ||
          (is_vertex && is_inverted) || (has_any && det >= found.determinant))
        continue;
      is_inverted = is_inverted || !is_vertex;
      has_any = true;
      found.determinant = det;
      found.point = in_3d(fe.quadrature_point(q));
    }
    if (!has_any)
      continue;
    found.number = static_cast<unsigned int>(cell->id().get_coarse_cell_id());
    found.n_vertices = cell->n_vertices();
    for (const unsigned int v : cell->vertex_indices())
      found.vertices[v] = in_3d(cell->vertex(v));
    (is_inverted ? result.at_gauss_points : result.only_at_vertices).push_back(found);
  }
  return result;
}

template <int dim>
void refuse_inverted_cells(std::vector<InvertedCell> cells,
                           const std::vector<std::string> &locations, const std::string &directory,
                           const std::function<std::string(const InvertedCell &)> &message,
                           const std::string &advice, const MPI_Comm communicator)
{
  cells = gather(std::move(cells), communicator); // empty on other ranks than the first
  rethrow_on_all_ranks<InputError>(communicator, [&] {
    if (!cells.empty())
      throw InputError(message(cells[0]) + cells[0].determinant_text(dim) + ". " +
                       write_cells(cells, locations, directory, dim) + advice);
  });
}

template InvertedCells find_inverted_cells(const Triangulation<2> &, const Mapping<2> &,
                                           const Quadrature<2> &, double);
template InvertedCells find_inverted_cells(const Triangulation<3> &, const Mapping<3> &,
                                           const Quadrature<3> &, double);
template void refuse_inverted_cells<2>(std::vector<InvertedCell>, const std::vector<std::string> &,
                                       const std::string &,
                                       const std::function<std::string(const InvertedCell &)> &,
                                       const std::string &, MPI_Comm);
template void refuse_inverted_cells<3>(std::vector<InvertedCell>, const std::vector<std::string> &,
                                       const std::string &,
                                       const std::function<std::string(const InvertedCell &)> &,
                                       const std::string &, MPI_Comm);
} // namespace femgpu
