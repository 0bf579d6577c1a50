#include "app/measurement_output.h"

#include "app/collective.h"
#include "common/atomic_file.h"
#include "linalg/base/error.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include <boost/algorithm/string/join.hpp>

namespace femgpu
{
using namespace dealii;

namespace
{
std::string header(const SampledValues &values)
{
  return boost::algorithm::join(values.columns, ",") + '\n';
}

/// The rows, each behind @p before and its label.
std::string rows(const SampledValues &values, const std::string &before)
{
  std::ostringstream text;
  text.precision(17);
  for (std::size_t i = 0; i < values.rows.size(); ++i) {
    text << before;
    if (!values.labels.empty())
      text << values.labels[i] << ',';
    const char *separator = "";
    for (const double value : values.rows[i])
      text << std::exchange(separator, ",") << value;
    text << '\n';
  }
  return text.str();
}
} // namespace

void MeasurementOutput::write(const unsigned int cycle, const MeasuredValues &values)
{
  std::vector<std::pair<std::string, std::string>> texts; // by file name
  if (!values.points.rows.empty()) {
    if (points.empty())
      points = "cycle,point," + header(values.points);
    points += rows(values.points, std::to_string(cycle) + ',');
    texts.emplace_back("points.csv", points);
  }
  for (const SampledValues &line : values.lines)
    texts.emplace_back("line_" + line.name + "_" + Utilities::int_to_string(cycle, 3) + ".csv",
                       header(line) + rows(line, ""));
  for (const auto &[name, text] : texts)
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  together<OutputError>(
      [&] {
        if (Utilities::MPI::this_mpi_process(communicator) == 0)
          for (const auto &[name, text] : texts)
            write_file(directory + "/" + name, text);
      },
      communicator);
}

std::vector<Quantity> with_measured(std::vector<Quantity> measured,
                                    const std::vector<Quantity> &of_physics)
{
  std::vector<Quantity> others;
  for (const Quantity &quantity : of_physics) {
    const auto same = std::find_if(measured.begin(), measured.end(), [&](const Quantity &other) {
      return other.name == quantity.name;
    });
    const bool is_extremum =
        quantity.name.rfind("max ", 0) == 0 || quantity.name.rfind("min ", 0) == 0;
    if (same != measured.end() && is_extremum) {
      *same = quantity;
      continue;
    }
    if (same != measured.end())
      same->name += " (measured)";
    others.push_back(quantity);
  }
  measured.insert(measured.end(), others.begin(), others.end());
  return measured;
}
} // namespace femgpu
