#include "common/report_values.h"

namespace femgpu
{
namespace
{
nlohmann::ordered_json transfer_values(const linalg::Transfer &transfer)
{
  return {{"bytes", transfer.bytes},
          {"seconds", transfer.seconds + transfer.overlapped_seconds},
          {"overlapped_seconds", transfer.overlapped_seconds},
          {"gigabytes_per_second", transfer.gigabytes_per_second()}};
}
} // namespace

nlohmann::ordered_json known(const double value)
{
  return value < 0. ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

nlohmann::ordered_json report_values(const linalg::SolveReport &report)
{
  return {{"outcome", linalg::to_string(report.outcome)},
          {"message", report.message},
          {"solver", report.solver},
          {"preconditioner", report.preconditioner},
          {"preconditioner_nonzeros", report.preconditioner_nonzeros},
          {"preconditioner_bytes", report.preconditioner_bytes},
          {"preconditioner_remarks", report.preconditioner_remarks},
          {"solver_remarks", report.solver_remarks},
          {"failed_attempt", report.failed_attempt},
          {"format", report.format},
          {"matrix_stored", report.matrix_stored},
          {"matrix_bytes", report.matrix_bytes},
          {"scaling", report.scaling},
          {"ordering", report.ordering},
          {"backend", report.backend},
          {"execution", report.execution},
          {"restarts", report.restarts},
          {"norm", report.norm},
          {"rhs_norm", report.rhs_norm},
          {"initial_residual", report.initial_residual},
          {"true_residual", report.true_residual},
          {"target", report.target},
          {"backward_error", known(report.backward_error)},
          {"forward_error", known(report.forward_error)},
          {"given_rhs_norm", report.given_rhs_norm},
          {"given_residual", report.given_residual},
          {"bytes_per_iteration", report.bytes_per_iteration},
          {"transfer", transfer_values(report.transfer)}};
}
} // namespace femgpu
