#ifndef femgpu_app_output_format_h
#define femgpu_app_output_format_h

#include "app/node_fields.h"
#include "app/parameters.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace femgpu
{
/// The files of one solution, and the part of them that one rank writes.
struct SolutionFiles
{
  std::vector<std::string> names; ///< the files of all ranks, without the .pvtu file
  std::function<void()> write;    ///< writes the files of this rank; empty if it has none
  std::string pvtu_text;          ///< text of the .pvtu file, which the first rank writes last
};

/// Pairs of time and file name.
using OutputSeries = std::vector<std::pair<double, std::string>>;

/// A file format for ParaView.
struct OutputFormat
{
  bool shares_nodes;            ///< do adjacent cells share nodes?
  const char *extension;        ///< extension of the file that ParaView opens for one solution
  const char *series_extension; ///< extension of the file that lists all solutions with their times
  /// Collective. Prepares the files of a solution.
  /// @param base file name without extension, such as "solution_003"
  SolutionFiles (*prepare_files)(const OutputParameters &parameters, NodeFields &&fields,
                                 const std::string &base, bool has_converged,
                                 MPI_Comm communicator);
  std::string (*series_text)(const OutputSeries &series);
};

/// The VTU format: for each solution, .vtu files and a .pvtu file that lists them; one .pvd file
/// lists all solutions. Cells do not share nodes, so discontinuous fields stay discontinuous.
extern const OutputFormat vtu_format;

/// The VTKHDF format: a .vtkhdf file per solution, and one .vtkhdf.series file that lists them.
extern const OutputFormat vtkhdf_format;
} // namespace femgpu

#endif
