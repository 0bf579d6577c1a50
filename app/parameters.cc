#include "app/parameters.h"

#include "linalg/base/error.h"

#include <deal.II/base/mpi.h>

#include <boost/serialization/string.hpp>

namespace femgpu
{
using namespace dealii;

RunParameters::RunParameters() : ParameterAcceptor("/")
{
  std::string names, meanings;
  for (const Choice &choice : physics_choices()) {
    names += (names.empty() ? "" : "|") + choice.name;
    meanings += (meanings.empty() ? "" : "; ") + choice.name + ": " + choice.meaning;
  }
  add_parameter("Dimension", dimension, "2 or 3.", prm, Patterns::Integer(2, 3));
  add_parameter("Physics", physics, meanings + ". Its data are in the section of this name.", prm,
                Patterns::Selection(names));
}

StudyParameters::StudyParameters() : ParameterAcceptor("/Study")
{
  add_parameter("Cycles", cycles,
                "The problem is solved this often, on a mesh that is refined from cycle to cycle.",
                prm, Patterns::Integer(1, 100));
  add_parameter(
      "Refinement", refinement,
      "global: all cells; adaptive: those with the largest error indicators of Kelly (jumps of the "
      "gradient across faces, without coefficients and boundary data).",
      prm, Patterns::Selection("global|adaptive"));
  add_parameter("Refine fraction", refine_fraction,
                "Part of the cells that an adaptive step refines.", prm, Patterns::Double(0., 1.));
  add_parameter("Coarsen fraction", coarsen_fraction,
                "Part of the cells that an adaptive step coarsens.", prm, Patterns::Double(0., 1.));
}

OutputParameters::OutputParameters() : ParameterAcceptor("/Output")
{
  add_parameter("Directory", directory,
                "Where all files go; made if it does not exist. Files of an earlier run with the "
                "same names are replaced.");
  add_parameter("Name", name, "Begin of the names of the files for ParaView.", prm,
                Patterns::FileName());
  add_parameter("Write VTU", write_vtu, "Write the files for ParaView.");
  add_parameter("Error indicator", error_indicator,
                "Compute Kelly's error indicator for the files for ParaView also where the "
                "refinement does not need it; on quadrilaterals and hexahedra.");
  add_parameter("Files per cycle", files_per_cycle,
                "Number of .vtu files of a cycle that the ranks share; 0 for one per rank, at most "
                "16.",
                prm, Patterns::Integer(0, 4096));
}

Parameters::Parameters() : physics(make_all_physics())
{
  ParameterAcceptor::declare_all_parameters();
}

namespace
{
/// The first rank reads, because it alone has the standard input; all get the text, or the error.
ParameterSource read_on_first_rank(const std::string &file)
{
  ParameterSource source;
  std::string error;
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0) {
    try {
      source = read_parameter_source(file);
    }
    catch (const InputError &e) {
      error = e.what();
    }
  }
  error = Utilities::MPI::broadcast(MPI_COMM_WORLD, error, 0);
  if (!error.empty())
    throw InputError(error);
  source.name = Utilities::MPI::broadcast(MPI_COMM_WORLD, source.name, 0);
  source.text = Utilities::MPI::broadcast(MPI_COMM_WORLD, source.text, 0);
  return source;
}
} // namespace

void Parameters::read(const CommandLine &command_line)
{
  const ParameterSource source = read_on_first_rank(command_line.parameter_file);
  places = apply_parameters(ParameterAcceptor::prm, source, as_overrides(command_line));
  ParameterAcceptor::parse_all_parameters();
}
} // namespace femgpu
