#ifndef femgpu_app_summary_h
#define femgpu_app_summary_h

#include "app/cycle_record.h"
#include "app/parameters.h"

#include <string>

namespace femgpu
{
/// The text of summary.json, with the parameters as they were read; docs/summary.md describes it.
std::string summary_json(const StudyRecord &study);

/// What `--version` prints: femgpu, git revision, deal.II, CUDA, compiler.
std::string version_text();
} // namespace femgpu

#endif
