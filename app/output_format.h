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
/// The files of one solution, as one rank sees them.
struct SolutionFiles
{
  std::vector<std::string> names; ///< files of all ranks, except the record
  std::function<void()> write;    ///< writes the files of this rank, in a thread; empty if none
  std::string pvtu_text;          ///< text that the first rank writes after all other files
};

/// Pairs of time and file name.
using OutputSeries = std::vector<std::pair<double, std::string>>;

/// A file format for ParaView.
struct OutputFormat
{
  bool shares_nodes;            ///< do adjacent cells share nodes?
  const char *extension;        ///< of the file that ParaView opens for one solution
  const char *series_extension; ///< of the file that lists all solutions with their times
  /// Collective. Prepares the files of a solution. @param base file name without extension, as
  /// "solution_003"
  SolutionFiles (*prepare_files)(const OutputParameters &parameters, NodeFields &&fields,
                                 const std::string &base, bool has_converged,
                                 MPI_Comm communicator);
  std::string (*series_text)(const OutputSeries &series);
};

/// The VTU format: .vtu files and one .pvtu that lists them for each solution, and one .pvd. Cells
/// do not share nodes, so discontinuous fields stay discontinuous.
extern const OutputFormat vtu_format;

/// The VTKHDF format: one .vtkhdf file for each solution, and one .vtkhdf.series.
extern const OutputFormat vtkhdf_format;
} // namespace femgpu

#endif
