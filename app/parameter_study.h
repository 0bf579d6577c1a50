#ifndef femgpu_app_parameter_study_h
#define femgpu_app_parameter_study_h

#include "app/cycle_record.h"
#include "app/table.h"
#include "linalg/base/error.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

/**
 * @file
 * A parameter study (--study): one run for each combination of parameter values, and its reports;
 * docs/summary.md describes the machine-readable files.
 */
namespace femgpu
{
/// A parameter and its values in a study.
struct StudiedParameter
{
  std::string path; ///< "Section/Key"
  std::vector<std::string> values;
};

/**
 * Parses the arguments of --study, each "Section/Key=value,value,...". Commas inside parentheses or
 * quotes do not separate values. Quotes around a whole value are removed. "a..b" stands for the
 * integers from a to b.
 * @throws ParameterError for a text without '=' or without a value, for a repeated parameter, for a
 *         range of more than 1000 numbers, and for Output/Directory, which femgpu sets itself
 */
std::vector<StudiedParameter> parse_studies(const std::vector<std::string> &texts);

/// Returns an explanation, without a full stop, of how to write values that contain commas.
std::string comma_hint(const std::string &path);

/// One value for each studied parameter, and the result of the run with these values.
struct Combination
{
  std::vector<std::string> values;
  std::string directory; ///< directory of its files: "Preconditioner=jacobi,Degree=1"
  std::string text;      ///< name in messages: "Preconditioner = jacobi, Degree = 1"

  StudyRecord study;            ///< has no cycles before the run, or if the run ended with an error
  std::optional<Error> failure; ///< why there is no solution; empty if the run converged
};

/**
 * Returns all combinations; the last parameter varies fastest. The names of directories are unique
 * and have at most 120 characters: letters, digits and a few signs.
 * @throws ParameterError for more than 1000 combinations
 */
std::vector<Combination> combinations(const std::vector<StudiedParameter> &parameters);

/// Returns the names of the parameters in tables: their keys, or section and key if two parameters
/// have the same key.
std::vector<std::string> short_names(const std::vector<StudiedParameter> &parameters);

/// A parameter study, of which some combinations may not have run yet.
struct ParameterStudy
{
  std::vector<StudiedParameter> parameters;
  std::vector<Combination> combinations; ///< the combinations that have run
  std::size_t n_remaining = 0;           ///< number of combinations that have not run
};

/// Returns the formatted table, with the last cycle of each combination or the outcome "failed".
TableTexts study_table(const ParameterStudy &study);

/// Returns the text of study.csv: one line per cycle of each combination.
std::string study_csv(const ParameterStudy &study);

/// Returns the text of study.json.
std::string study_json(const ParameterStudy &study);
} // namespace femgpu

#endif
