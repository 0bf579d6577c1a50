#ifndef femgpu_app_study_table_h
#define femgpu_app_study_table_h

#include "app/cycle_record.h"
#include "app/failure.h"
#include "app/parameter_study.h"
#include "app/table_texts.h"

#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// What came out of one combination of a study over parameters.
struct CombinationRecord
{
  Combination combination;
  StudyRecord study;              ///< without cycles if an error has ended it
  std::optional<Failure> failure; ///< why there is no result
};

/// The outcome, in tables, of a combination that an error has ended.
constexpr char failed[] = "failed";

/// A study over parameters, as far as it has come.
struct ParameterStudy
{
  std::vector<StudiedParameter> parameters;
  std::vector<CombinationRecord> combinations;
};

/// The table for people: the last cycle of each combination, or that it has failed.
TableTexts study_table(const ParameterStudy &study);

/// The table for machines: a line for each cycle of each combination; docs/summary.md describes it.
std::string study_csv(const ParameterStudy &study);
} // namespace femgpu

#endif
