#ifndef femgpu_app_summary_h
#define femgpu_app_summary_h

#include "app/cycle_record.h"
#include "app/parameters.h"
#include "app/study_table.h"

#include <string>

namespace femgpu
{
/// The text of summary.json, with the parameters as they were read; docs/summary.md describes it.
std::string summary_json(const StudyRecord &study);

/// The text of study.json; docs/summary.md describes it.
std::string parameter_study_json(const ParameterStudy &study);

/// What `--version` prints: femgpu, git revision, deal.II, CUDA, compiler.
std::string version_text();
} // namespace femgpu

#endif
