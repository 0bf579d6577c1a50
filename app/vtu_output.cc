#include "app/vtu_output.h"

#include "common/atomic_file.h"
#include "linalg/base/error.h"
#include "linalg/io/partial_name.h"
#include "physics/deal_ii_compat.h"
#include "physics/mean_value.h"

#include <deal.II/base/mpi.h>
#include <deal.II/distributed/tria_base.h>
#include <deal.II/numerics/data_out.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
using Interpretation = DataComponentInterpretation::DataComponentInterpretation;

template <int dim>
void add_field(const std::vector<std::string> &names, const FeVector &values, DataOut<dim> &out)
{
  const Interpretation kind = names.size() == 1
                                  ? DataComponentInterpretation::component_is_scalar
                                  : DataComponentInterpretation::component_is_part_of_vector;
  out.add_data_vector(values, names, DataOut<dim>::type_dof_data,
                      std::vector<Interpretation>(names.size(), kind));
}

std::vector<std::string> with_prefix(const std::string &prefix, std::vector<std::string> names)
{
  for (std::string &name : names)
    name = prefix + name;
  return names;
}

/// The exact solution at the nodes, and what @p u differs from it.
template <int dim>
std::pair<FeVector, FeVector> exact_and_error(const Discretization<dim> &discretization,
                                              const FeVector &u, const Function<dim> &function)
{
  FeVector exact = discretization.make_vector(), error = discretization.make_vector();
  VectorTools::interpolate(discretization.mapping(), discretization.dofs(), function, exact);
  error = u;
  error.zero_out_ghost_values();
  error -= exact;
  exact.update_ghost_values();
  error.update_ghost_values();
  return {std::move(exact), std::move(error)};
}

/// Did everything reach the disk? MPI's parallel files do not tell when it is full.
bool ends_with(const std::string &name, const std::string &end)
{
  std::ifstream file(name, std::ios::binary | std::ios::ate);
  const auto n = static_cast<std::streamoff>(end.size());
  if (!file || file.tellg() < n)
    return false;
  std::string tail(end.size(), ' ');
  file.seekg(-n, std::ios::end);
  file.read(tail.data(), n);
  return tail == end;
}

/// One file, written beside and renamed; @p write gets the stream.
template <class Write>
void write_file(const std::string &name, const Write &write)
{
  AtomicFile file(name);
  try {
    write(file.stream());
  }
  catch (const ExceptionBase &) { // deal.II saw that the stream failed; commit() says why
    file.stream().setstate(std::ios::failbit);
  }
  file.commit();
}

/// Field data of a solution that its solver has not found; deal.II writes none but times.
std::string marked_as_unconverged(std::string vtu)
{
  const std::string grid = "<UnstructuredGrid>\n";
  if (const std::size_t begin = vtu.find(grid); begin != std::string::npos)
    vtu.insert(begin + grid.size(),
               "<FieldData>\n<DataArray type=\"Int32\" Name=\"converged\" NumberOfTuples=\"1\" "
               "format=\"ascii\">0</DataArray>\n</FieldData>\n");
  return vtu;
}

/// The same for a file; false if it could not be written.
bool mark_as_unconverged(const std::string &name)
{
  std::ostringstream text;
  text << std::ifstream(name, std::ios::binary).rdbuf();
  std::ofstream file(name, std::ios::binary | std::ios::trunc);
  file << marked_as_unconverged(text.str());
  return file.flush().good();
}

/// Collective over @p group: one file for all its ranks, written beside and renamed.
template <int dim>
void write_group(const DataOut<dim> &out, const std::string &name, const bool has_converged,
                 MPI_Comm group)
{
  if (Utilities::MPI::n_mpi_processes(group) == 1) {
    write_file(name, [&](std::ostream &stream) {
      if (has_converged)
        return out.write_vtu(stream);
      std::ostringstream vtu;
      out.write_vtu(vtu);
      stream << marked_as_unconverged(vtu.str());
    });
    return;
  }
  const std::string partial = Utilities::MPI::broadcast(group, partial_name(name), 0);
  const PartialFile registered(partial);
  bool failed = false;
  try {
    out.write_vtu_in_parallel(partial, group);
  }
  catch (const ExceptionBase &) {
    failed = true;
  }
  MPI_Barrier(group);
  failed = Utilities::MPI::logical_or(failed, group);
  if (Utilities::MPI::this_mpi_process(group) == 0) {
    std::error_code error;
    failed = failed || !ends_with(partial, "</VTKFile>\n") ||
             (!has_converged && !mark_as_unconverged(partial));
    if (!failed)
      std::filesystem::rename(partial, name, error);
    failed = failed || error;
    if (failed)
      std::filesystem::remove(partial, error);
  }
  if (Utilities::MPI::logical_or(failed, group))
    throw OutputError("The file '" + name +
                      "' could not be written. Check the permissions and the free space of its "
                      "directory.");
}
} // namespace

template <int dim>
void VtuOutput<dim>::write_pieces(const DataOut<dim> &out, const std::vector<std::string> &pieces,
                                  const bool has_converged, MPI_Comm comm) const
{
  const std::size_t n_ranks = Utilities::MPI::n_mpi_processes(comm);
  const std::size_t rank = Utilities::MPI::this_mpi_process(comm);
  const std::size_t mine = rank * pieces.size() / n_ranks;
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_split(comm, static_cast<int>(mine), static_cast<int>(rank), &group);
  std::string error;
  try {
    write_group(out, this->parameters.directory + "/" + pieces[mine], has_converged, group);
  }
  catch (const OutputError &e) {
    error = e.what();
  }
  MPI_Comm_free(&group);
  throw_together(error, comm);
}

template <int dim>
void VtuOutput<dim>::write_records(const DataOut<dim> &out, const std::vector<std::string> &pieces,
                                   MPI_Comm comm) const
{
  std::string error;
  if (Utilities::MPI::this_mpi_process(comm) == 0) {
    try {
      write_file(this->parameters.directory + "/" + series.back().second,
                 [&](std::ostream &stream) { out.write_pvtu_record(stream, pieces); });
      write_file(this->parameters.directory + "/" + this->name + ".pvd",
                 [&](std::ostream &stream) { DataOutBase::write_pvd_record(stream, series); });
    }
    catch (const OutputError &e) {
      error = e.what();
    }
  }
  throw_together(error, comm);
}

template <int dim>
void VtuOutput<dim>::write(const unsigned int index, const double time,
                           DiscreteSolution<dim> &solution, const Vector<float> &indicators,
                           const bool has_converged)
{
  const Discretization<dim> &discretization = solution.discretization();
  const FeVector &u = solution.u();
  const auto &triangulation = *discretization.mesh().triangulation;
  const MPI_Comm comm = discretization.communicator();
  DataOut<dim> out;
  // Quadratic tetrahedra are what deal.II writes anyway; with this flag VTK cannot read them.
  const bool are_tetrahedra = dim == 3 && discretization.mesh().is_simplex;
  out.set_flags(
      compat::vtk_flags(/* higher order cells */ discretization.degree() > 1 && !are_tetrahedra));
  out.attach_dof_handler(discretization.dofs());
  const std::vector<std::string> component_names = this->problem.component_names();
  add_field(component_names, u, out);
  std::pair<FeVector, FeVector> exact;
  if (this->problem.exact_solution() != nullptr) {
    exact =
        exact_and_error(discretization, u, ComparableSolution<dim>(this->problem, discretization));
    add_field(with_prefix("exact_", component_names), exact.first, out);
    add_field(with_prefix("error_", component_names), exact.second, out);
  }
  std::vector<NodalField> fields;
  if (this->has_nodal_fields)
    fields = this->problem.nodal_fields(solution);
  for (const NodalField &field : fields)
    add_field(std::vector<std::string>(this->problem.n_components(), field.name), field.values,
              out);
  const auto postprocessors = this->problem.postprocessors();
  for (const auto &postprocessor : postprocessors)
    out.add_data_vector(u, *postprocessor);

  Vector<float> material(triangulation.n_active_cells()), subdomain(triangulation.n_active_cells());
  subdomain = static_cast<float>(Utilities::MPI::this_mpi_process(comm));
  for (const auto &cell : triangulation.active_cell_iterators())
    material(cell->active_cell_index()) = static_cast<float>(cell->material_id());
  out.add_data_vector(material, "material_id", DataOut<dim>::type_cell_data);
  out.add_data_vector(subdomain, "subdomain", DataOut<dim>::type_cell_data);
  if (indicators.size() > 0)
    out.add_data_vector(indicators, "error_indicator", DataOut<dim>::type_cell_data);
  out.build_patches(discretization.mapping(), discretization.degree());

  constexpr unsigned int most_files = 16;
  const unsigned int n_files = std::min(
      Utilities::MPI::n_mpi_processes(comm),
      this->parameters.files_per_cycle > 0 ? this->parameters.files_per_cycle : most_files);
  std::vector<std::string> pieces;
  for (unsigned int piece = 0; piece < n_files; ++piece) {
    std::ostringstream file;
    file << this->base_name(index) << '.' << std::setw(3) << std::setfill('0') << piece << ".vtu";
    pieces.push_back(file.str());
  }
  series.emplace_back(time, this->base_name(index) + ".pvtu");
  this->names.insert(this->names.end(), pieces.begin(), pieces.end());
  this->names.push_back(series.back().second);
  if (series.size() == 1)
    this->names.push_back(this->name + ".pvd");
  write_pieces(out, pieces, has_converged, comm);
  write_records(out, pieces, comm);
}

template class VtuOutput<2>;
template class VtuOutput<3>;
} // namespace femgpu
