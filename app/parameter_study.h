#ifndef femgpu_app_parameter_study_h
#define femgpu_app_parameter_study_h

#include <string>
#include <vector>

namespace femgpu
{
/// A parameter and the values that a study gives it.
struct StudiedParameter
{
  std::string path; ///< "Section/Key"
  std::vector<std::string> values;
};

/**
 * Reads the texts of --study, each "Section/Key=value,value,...". A comma inside of parentheses or
 * quotes belongs to the value; quotes around a whole value are taken away; "a..b" stands for the
 * integers from a to b.
 * @throws ParameterError for a text without '=' or without a value, for a parameter that comes
 *         twice, for Output/Directory, which each combination has its own, and for ranges of more
 *         than 1000 numbers
 */
std::vector<StudiedParameter> parse_studies(const std::vector<std::string> &texts);

/// One value for each studied parameter.
struct Combination
{
  std::vector<std::string> values;
  std::string directory; ///< for its files: "Preconditioner=jacobi,Degree=1"
};

/**
 * All combinations; the last parameter changes fastest. Directories have names of letters, digits
 * and a few signs, at most 120 long, and no two are the same.
 * @throws ParameterError for more than 1000
 */
std::vector<Combination> combinations(const std::vector<StudiedParameter> &parameters);

/// How tables name the parameters: by their keys, or by section and key where two have the same.
std::vector<std::string> short_names(const std::vector<StudiedParameter> &parameters);
} // namespace femgpu

#endif
