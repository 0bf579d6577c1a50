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
/// What a rank writes of a solution.
struct SolutionFiles
{
  std::vector<std::string> names; ///< of all ranks, without that of the record
  std::function<void()> write;    ///< those of this rank, by a thread; empty: none
  std::string record;             ///< what the first rank writes when all others are there
};

/// Times and names of files.
using OutputSeries = std::vector<std::pair<double, std::string>>;

/// A format of files for ParaView.
struct OutputFormat
{
  bool shares_nodes;            ///< have cells nodes in common?
  const char *extension;        ///< of the file that stands for a solution
  const char *series_extension; ///< of the one that names all with their times
  /// Collective. @param base "solution_003"
  SolutionFiles (*files_of)(const OutputParameters &parameters, NodeFields &&fields,
                            const std::string &base, bool has_converged, MPI_Comm communicator);
  std::string (*series_text)(const OutputSeries &series);
};

/// .vtu files for each solution with a .pvtu that names them, and one .pvd. Cells have nodes of
/// their own, so that what jumps from cell to cell does.
extern const OutputFormat vtu_format;

/// One .vtkhdf file for each solution, and one .vtkhdf.series.
extern const OutputFormat vtkhdf_format;
} // namespace femgpu

#endif
