#ifndef femgpu_app_record_archive_h
#define femgpu_app_record_archive_h

#include "app/cycle_record.h"
#include "app/solution_output.h"
#include "physics/time/time_state.h"

#include <deal.II/base/utilities.h>

#include <optional>
#include <string>
#include <vector>

#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>

/**
 * @file
 * Serialisation of records for checkpoints, for archives in the style of Boost. Each function names
 * all members of its struct in a structured binding, so that it does not compile after a member has
 * been added. Then also raise the number of the format in app/checkpoint.cc.
 */
namespace boost::serialization
{
template <class Archive, class T>
void serialize(Archive &archive, std::optional<T> &value, const unsigned int /* version */)
{
  bool has_value = value.has_value();
  archive &has_value;
  if (has_value && !value)
    value.emplace();
  if (has_value)
    archive &*value;
  else
    value.reset();
}
} // namespace boost::serialization

namespace femgpu::linalg
{
template <class Archive>
void serialize(Archive &archive, BranchRecord &record, const unsigned int /* version */)
{
  auto &[kind, index, folds, arclength, lambda, lambda_dot, largest_u, norm, corrections,
         linear_iterations, residual, residual_target] = record;
  archive &kind &index &folds &arclength &lambda &lambda_dot &largest_u &norm;
  archive &corrections &linear_iterations &residual &residual_target;
}
} // namespace femgpu::linalg

namespace femgpu
{
/// Returns @p value as bytes.
template <class T>
std::string packed(const T &value)
{
  const std::vector<char> bytes = dealii::Utilities::pack(value, /* compresses */ false);
  return {bytes.begin(), bytes.end()};
}

/// Returns the value that packed() has turned into @p bytes.
template <class T>
T unpacked(const std::string &bytes)
{
  return dealii::Utilities::unpack<T>({bytes.begin(), bytes.end()}, /* was compressed */ false);
}

template <class Archive>
void serialize(Archive &archive, SolutionNorms &norms, const unsigned int /* version */)
{
  auto &[L2, H1] = norms;
  archive &L2 &H1;
}

template <class Archive>
void serialize(Archive &archive, ErrorNorms &errors, const unsigned int /* version */)
{
  auto &[L2, H1, Linf, exact_L2, exact_H1] = errors;
  archive &L2 &H1 &Linf &exact_L2 &exact_H1;
}

template <class Archive>
void serialize(Archive &archive, ErrorEstimate &estimate, const unsigned int /* version */)
{
  auto &[error, size, effectivity] = estimate;
  archive &error &size &effectivity;
}

template <class Archive>
void serialize(Archive &archive, Quantity &quantity, const unsigned int /* version */)
{
  auto &[name, value, has_limit, is_nonnegative] = quantity;
  archive &name &value &has_limit &is_nonnegative;
}

template <class Archive>
void serialize(Archive &archive, Accuracy &accuracy, const unsigned int /* version */)
{
  auto &[energy, internal_forces, residual, rounding] = accuracy;
  archive &energy &internal_forces &residual &rounding;
}

template <class Archive>
void serialize(Archive &archive, SolveSummary &summary, const unsigned int /* version */)
{
  auto &[report, nonlinear_iterations, linear_iterations, accuracy] = summary;
  archive &report &report.history &nonlinear_iterations &linear_iterations &accuracy;
}

template <class Archive>
void serialize(Archive &archive, PredictedError &predicted, const unsigned int /* version */)
{
  auto &[error, tolerance, source] = predicted;
  archive &error &tolerance &source;
}

template <class Archive>
void serialize(Archive &archive, EnergyBalance &energy, const unsigned int /* version */)
{
  auto &[kinetic, strain, dissipated, work, initial] = energy;
  archive &kinetic &strain &dissipated &work &initial;
}

template <class Archive>
void serialize(Archive &archive, StepRecord &record, const unsigned int /* version */)
{
  auto &[step, t, length, is_accepted, error, nonlinear, linear, set_ups, seconds, energy, remark] =
      record;
  archive &step &t &length &is_accepted &error &nonlinear &linear &set_ups &seconds &energy &remark;
}

template <class Archive>
void serialize(Archive &archive, TimePoint &point, const unsigned int /* version */)
{
  auto &[output, step, t, quantities, errors] = point;
  archive &output &step &t &quantities &errors;
}

template <class Archive>
void serialize(Archive &archive, TimeHistory &history, const unsigned int /* version */)
{
  auto &[steps, points] = history;
  archive &steps &points;
}

template <class Archive>
void serialize(Archive &archive, CycleRecord &record, const unsigned int /* version */)
{
  auto &[cycle, cells, dofs, nonzeros, h, solve, errors, norms, estimate, energy, predicted,
         quantities, history, seconds, total_seconds] = record;
  archive &cycle &cells &dofs &nonzeros &h &solve &errors &norms &estimate &energy &predicted;
  archive &quantities &history &seconds &total_seconds;
}

template <class Archive>
void serialize(Archive &archive, StudyRecord &record, const unsigned int /* version */)
{
  auto &[dimension, physics, hypothesis, element, boundary_ids, material_ids, mesh_origin,
         is_adaptive, degree, n_ranks, groups, rows_of_groups, cycles, is_finished, stop_reason,
         branch, peak_host_bytes, peak_device_bytes, warnings, units, files, total_seconds] =
      record;
  groups.clear(); // a later run may have others
  archive &dimension &physics &hypothesis &element &boundary_ids &material_ids &mesh_origin;
  archive &is_adaptive &degree &n_ranks &rows_of_groups &cycles &is_finished &stop_reason;
  archive &branch &peak_host_bytes &peak_device_bytes &warnings &units &files &total_seconds;
  if (branch)
    archive & branch->records;
}

/// Serialises all members except the functions.
template <class Archive>
void serialize(Archive &archive, TimeState &state, const unsigned int /* version */)
{
  auto &[t, step, earlier_step, u, rate, earlier_rate, has_rates, lowest, highest, n_steps,
         acceleration, forces, stage, stage_inertia, stage_time, energy] = state;
  archive &t &step &earlier_step &has_rates &lowest &highest &n_steps &stage_time &energy;
}

template <class Archive>
void serialize(Archive &archive, OutputState &state, const unsigned int /* version */)
{
  auto &[name, names, measurement_files, series, points] = state;
  archive &name &names &measurement_files &series &points;
}
} // namespace femgpu

#endif
