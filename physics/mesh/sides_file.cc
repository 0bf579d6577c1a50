#include "physics/mesh/sides_file.h"

#include "common/atomic_file.h"
#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/base/deal_ii_compat.h"
#include "physics/mesh/vtu_cells.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
template <int dim>
std::string sides_text(const Mesh<dim> &mesh)
{
  VtuCells file({"boundary_id"});
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0))
    for (const unsigned int f : cell->face_indices()) {
      const types::boundary_id id = mesh.side_id(cell, f);
      if (id == numbers::internal_face_boundary_id || !InnerSides<dim>::is_integrated_from(cell, f))
        continue;
      std::vector<std::array<double, 3>> corners;
      for (const unsigned int v : cell->face(f)->vertex_indices()) {
        corners.push_back({});
        std::copy_n(cell->face(f)->vertex(v).begin_raw(), dim, corners.back().begin());
      }
      file.add(corners, dim - 1, {static_cast<double>(id)});
    }
  return file.text();
}
} // namespace

template <int dim>
std::string write_sides(const Mesh<dim> &mesh, const std::string &directory)
{
  const std::string file = (std::filesystem::path(directory) / "sides.vtu").string();
  const MPI_Comm communicator = compat::communicator(*mesh.triangulation);
  rethrow_on_all_ranks<OutputError>(communicator, [&] {
    if (Utilities::MPI::this_mpi_process(communicator) != 0)
      return;
    create_output_directory(directory);
    write_file(file, sides_text(mesh));
  });
  return "'" + file + "' has the sides with their boundary ids.";
}

template std::string write_sides(const Mesh<2> &, const std::string &);
template std::string write_sides(const Mesh<3> &, const std::string &);
} // namespace femgpu
