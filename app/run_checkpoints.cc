#include "app/run_checkpoints.h"

#include "app/declared_parameters.h"
#include "app/record_archive.h"
#include "linalg/base/error.h"
#include "physics/base/collective.h"
#include "physics/cell_order.h"
#include "physics/mesh/forest_mesh.h"

#include <deal.II/base/parameter_acceptor.h>

#include <stdexcept>
#include <utility>

#include <boost/archive/archive_exception.hpp>
#include <boost/crc.hpp>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Returns the values of all parameters by path.
std::map<std::string, std::string> parameter_values()
{
  std::map<std::string, std::string> values;
  for (const DeclaredParameter &p : DeclaredParameters(ParameterAcceptor::prm).parameters)
    values[p.path()] = p.value;
  return values;
}

/// Returns whether parameter @p path determines the mesh, the unknowns, the beginning of the run or
/// the names of its files.
bool is_fixed(const std::string &path)
{
  for (const char *const section : {"Mesh/", "Discretization/"})
    if (path.rfind(section, 0) == 0)
      return true;
  for (const char *const fixed : {"Dimension", "Physics", "Analysis", "Study/Refinement",
                                  "Output/Name", "Output/Format", "Output/Write VTU"})
    if (path == fixed)
      return true;
  return path.find("/Initial ") != std::string::npos && path != "Time/Initial step";
}
} // namespace

template <class Archive>
void serialize(Archive &archive, SavedRun &run, const unsigned int /* version */)
{
  auto &[study, output, cycle, driver, has_mesh, parameters, coarse_mesh, levels, n_functions] =
      run;
  archive &parameters &study &output &cycle &driver &has_mesh &coarse_mesh &levels &n_functions;
}

template <int dim>
RunCheckpoints<dim>::RunCheckpoints(const Parameters &parameters, MPI_Comm communicator)
    : parameters(parameters), communicator(communicator),
      schedule(parameters.output.checkpoint_every), files(parameters.output.directory, communicator)
{}

template <int dim>
SavedRun RunCheckpoints<dim>::read(Console &console)
{
  SavedRun run;
  try {
    run = unpacked<SavedRun>(files.read_state(console));
  }
  catch (const boost::archive::archive_exception &) {
    throw InputError("Another version of femgpu has written the checkpoints in '" +
                     parameters.output.directory +
                     "'. Continue with that version, or run without "
                     "--continue.");
  }
  for (const auto &[path, value] : parameter_values()) {
    const std::string &before = run.parameters[path];
    if (value == before || path == "Output/Directory")
      continue;
    const std::string change = path + " is '" + value + "', and was '" + before + "'";
    if (is_fixed(path))
      throw ParameterError("A run cannot continue after this change: " + change +
                               ". Set the former value, or run without --continue.",
                           path);
    console.print("Changed since the checkpoint: " + change + ".");
  }
  if (run.study.cycles.size() + (run.cycle ? 1 : 0) > parameters.study.cycles)
    throw ParameterError("The run that continues has more cycles than Study/Cycles = " +
                             std::to_string(parameters.study.cycles) +
                             ". Set it to the former value or more.",
                         "Study/Cycles");
  return run;
}

template <int dim>
void RunCheckpoints<dim>::begin_mesh(const Mesh<dim> &mesh)
{
  boost::crc_32_type crc;
  for (const Point<dim> &vertex : mesh.coarse().get_vertices())
    crc.process_bytes(&vertex, sizeof(vertex));
  coarse_mesh = crc.checksum();
}

template <int dim>
void RunCheckpoints<dim>::number_cells(Mesh<dim> &mesh)
{
  if (are_enabled() && !parameters.mesh.refinement_where.empty())
    make_anew(mesh, levels_of_cells(mesh));
  has_final_numbers = true; // global refinement gives them, too
}

template <int dim>
void RunCheckpoints<dim>::make_anew(Mesh<dim> &mesh, const std::vector<std::uint8_t> &levels)
{
  dynamic_cast<ForestMesh<dim> &>(*mesh.triangulation).refine_to(levels);
  has_final_numbers = true;
}

template <int dim>
bool RunCheckpoints<dim>::write(SavedRun run, Mesh<dim> &mesh, Discretization<dim> &discretization,
                                std::vector<FeVector> &functions, Vector<float> &indicators)
{
  run.parameters = parameter_values();
  run.coarse_mesh = coarse_mesh;
  run.n_functions = static_cast<std::uint32_t>(functions.size());
  if (!mesh.is_simplex)
    run.levels = levels_of_cells(mesh);
  std::vector<const FeVector *> pointers;
  for (FeVector &function : functions) {
    function.update_ghost_values();
    pointers.push_back(&function);
  }
  files.write(packed(run), CellOrder<dim>(discretization).values(pointers, indicators));
  schedule.restart();
  if (mesh.is_simplex || has_final_numbers || !run.has_mesh)
    return false;
  make_anew(mesh, run.levels);
  discretization.distribute_dofs();
  if (indicators.size() > 0)
    indicators.reinit(mesh.triangulation->n_active_cells());
  functions = read_functions(functions.size(), discretization, indicators);
  return true;
}

template <int dim>
std::vector<FeVector> RunCheckpoints<dim>::restore(const SavedRun &run, Mesh<dim> &mesh,
                                                   Discretization<dim> &discretization,
                                                   Vector<float> &indicators)
{
  if (run.coarse_mesh != coarse_mesh)
    throw InputError("The coarse mesh differs from that of the checkpoint, because the mesh file "
                     "or the program that makes it has changed. Use the former mesh, or run "
                     "without --continue.");
  if (mesh.is_simplex) { // the same refinements as in the former run give the same partition
    refine_globally(mesh, parameters.mesh.initial_refinements);
    if (!parameters.study.is_by_remeshing())
      for (std::size_t k = run.cycle ? 0 : 1; k < run.study.cycles.size(); ++k)
        refine_globally(mesh, 1);
  }
  else
    make_anew(mesh, run.levels);
  discretization.distribute_dofs();
  indicators.reinit(run.cycle ? 0 : mesh.triangulation->n_active_cells());
  return read_functions(run.n_functions, discretization, indicators);
}

template <int dim>
std::vector<FeVector> RunCheckpoints<dim>::read_functions(const std::size_t n,
                                                          const Discretization<dim> &discretization,
                                                          Vector<float> &indicators) const
{
  std::vector<FeVector> functions(n, discretization.make_vector());
  std::vector<FeVector *> pointers;
  for (FeVector &function : functions)
    pointers.push_back(&function);
  const CellOrder<dim> order(discretization);
  rethrow_on_all_ranks<InputError>(communicator, [&] {
    std::size_t n_copied = 0;
    try {
      files.read_values(
          [&](const CellValues &values) { n_copied += order.copy(values, pointers, indicators); });
    }
    catch (const std::length_error &) {
      n_copied = 0;
    }
    if (n_copied != order.size())
      throw InputError("The checkpoint does not match the mesh. Run without --continue.");
  });
  CellOrder<dim>::finish(pointers);
  return functions;
}

template class RunCheckpoints<2>;
template class RunCheckpoints<3>;
} // namespace femgpu
