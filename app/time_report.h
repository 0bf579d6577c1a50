#ifndef femgpu_app_time_report_h
#define femgpu_app_time_report_h

#include "app/cycle_record.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/**
 * @file
 * Reports of transient analyses; docs/summary.md describes the files.
 */
namespace femgpu
{
/// Digits of times in files: fewer than those of a double, so that rounding is not visible.
constexpr int digits_of_time = 12;

/// Describes a step: "step 12 to t = 0.5 with length 0.05: accepted, error 0.4 of the tolerance,
/// 12 linear iterations".
std::string to_string(const StepRecord &step);

/// Returns the number of accepted steps.
std::size_t n_accepted(const TimeHistory &history);

/// Returns the quantities that are reported for each output.
std::vector<Quantity> quantities_of(const EnergyBalance &energy);

/// Returns the text of steps.csv: one line for each step that was tried.
std::string steps_csv(const StudyRecord &study);

/// Returns the text of time.csv: one line with all quantities for each output.
std::string time_csv(const StudyRecord &study);

/// Returns the counts of steps, and the quantities as functions of time, for summary.json.
nlohmann::ordered_json time_values(const TimeHistory &history);
} // namespace femgpu

#endif
