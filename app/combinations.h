#ifndef femgpu_app_combinations_h
#define femgpu_app_combinations_h

#include "app/command_line.h"
#include "app/parameter_study.h"
#include "app/parameters.h"

#include <string>
#include <vector>

namespace femgpu
{
/// The combinations of --study as changes of the parameters.
class Combinations
{
public:
  /// @throws ParameterError for a --study that cannot be read
  Combinations(const CommandLine &command_line, Parameters &parameters);

  std::size_t size() const
  {
    return all.size();
  }
  const std::vector<StudiedParameter> &studied() const
  {
    return studied_parameters;
  }
  const Combination &operator[](const std::size_t i) const
  {
    return all[i];
  }

  /// Sets the parameters to combination @p i; its files go below @p directory if that is given.
  void apply(std::size_t i, const std::string &directory) const;

  /// "Preconditioner = jacobi, Degree = 1"
  std::string text(std::size_t i) const;

  /// @p message as one about combination @p i, whose values were given by --study.
  std::string named(std::size_t i, std::string message) const;

private:
  /// Those that runs of the study choose; none if all have the same.
  std::vector<std::string> studied_physics() const;

  std::vector<StudiedParameter> studied_parameters;
  std::vector<Combination> all;
  ParameterSource source;
  std::vector<std::string> common;
  Parameters &parameters;
};
} // namespace femgpu

#endif
