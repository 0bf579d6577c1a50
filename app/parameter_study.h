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
 * A study over parameters, --study: a run for each combination of their values, and what is told of
 * all; docs/summary.md describes the files for machines.
 */
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
 * quotes belongs to the value; quotes around a whole value are removed; "a..b" stands for the
 * integers from a to b.
 * @throws ParameterError for a text without '=' or without a value, for a parameter that comes
 *         twice, for Output/Directory, which each combination has its own, and for ranges of more
 *         than 1000 numbers
 */
std::vector<StudiedParameter> parse_studies(const std::vector<std::string> &texts);

/// A sentence without a full stop: how to write values that contain commas.
std::string comma_cure(const std::string &path);

/// One value for each studied parameter, and what has come out of a run with these.
struct Combination
{
  std::vector<std::string> values;
  std::string directory; ///< for its files: "Preconditioner=jacobi,Degree=1"
  std::string text;      ///< for people: "Preconditioner = jacobi, Degree = 1"

  StudyRecord study;            ///< without cycles if there was no run, or an error has ended it
  std::optional<Error> failure; ///< why there is no result
};

/**
 * All combinations; the last parameter changes fastest. Directories have names of letters, digits
 * and a few signs, at most 120 long, and no two are the same.
 * @throws ParameterError for more than 1000
 */
std::vector<Combination> combinations(const std::vector<StudiedParameter> &parameters);

/// How tables name the parameters: by their keys, or by section and key where two have the same.
std::vector<std::string> short_names(const std::vector<StudiedParameter> &parameters);

/// A study over parameters, as far as it has come.
struct ParameterStudy
{
  std::vector<StudiedParameter> parameters;
  std::vector<Combination> combinations; ///< that have run
  std::size_t n_remaining = 0;           ///< combinations that have not
};

/// The table for people: the last cycle of each combination, or that it has failed.
TableTexts study_table(const ParameterStudy &study);

/// The table for machines: a line for each cycle of each combination.
std::string study_csv(const ParameterStudy &study);

/// The text of study.json.
std::string study_json(const ParameterStudy &study);
} // namespace femgpu

#endif
