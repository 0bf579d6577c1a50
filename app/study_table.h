#ifndef femgpu_app_study_table_h
#define femgpu_app_study_table_h

#include "app/cycle_record.h"
#include "app/parameter_study.h"
#include "app/table_texts.h"

#include <string>
#include <vector>

namespace femgpu
{
/// What came out of one combination of a study over parameters.
struct CombinationRecord
{
  Combination combination;
  StudyRecord study;
};

/// A study over parameters, as far as it has come.
struct ParameterStudy
{
  std::vector<StudiedParameter> parameters;
  std::vector<CombinationRecord> combinations;
};

/// The table for people: the last cycle of each combination.
TableTexts study_table(const ParameterStudy &study);

/// The table for machines: a line for each cycle of each combination; docs/summary.md describes it.
std::string study_csv(const ParameterStudy &study);
} // namespace femgpu

#endif
