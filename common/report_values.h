#ifndef femgpu_common_report_values_h
#define femgpu_common_report_values_h

#include "linalg/solvers/report.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <type_traits>
#include <vector>

namespace femgpu
{
template <class Record>
void add_members(nlohmann::ordered_json &values, const Record &record);

/// Converts @p value to JSON; an empty one becomes null.
template <class Value>
nlohmann::ordered_json json_of(const std::optional<Value> &value)
{
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// Converts a member of a report to JSON. A negative double means "unknown" and becomes null.
template <class Member>
nlohmann::ordered_json json_of(const Member &member)
{
  if constexpr (std::is_same_v<Member, std::vector<linalg::LevelReport>>) {
    auto levels = nlohmann::ordered_json::array();
    for (const linalg::LevelReport &level : member)
      add_members(levels.emplace_back(), level);
    return levels;
  }
  else if constexpr (std::is_same_v<Member, linalg::Outcome>)
    return linalg::to_string(member);
  else {
    if constexpr (std::is_same_v<Member, double>)
      if (member < 0.)
        return {};
    return member;
  }
}

/// Adds to @p values the members that @p Record lists in for_each_member(), under their names. Most
/// such structs are in linalg/solvers/report.h.
template <class Record>
void add_members(nlohmann::ordered_json &values, const Record &record)
{
  Record::for_each_member(
      [&](const char *name, const auto &member) { values[name] = json_of(member); }, record);
}

/**
 * Returns the outcome, method, norms, transfer and communication of a solve as JSON;
 * docs/summary.md describes them. The callers add other timings and the history.
 */
nlohmann::ordered_json report_values(const linalg::SolveReport &report);
} // namespace femgpu

#endif
