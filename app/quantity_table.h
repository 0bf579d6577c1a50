#ifndef femgpu_app_quantity_table_h
#define femgpu_app_quantity_table_h

#include "app/cycle_record.h"
#include "app/table_texts.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace femgpu
{
/// How a quantity converges, without knowing its limit.
struct QuantityChange
{
  std::optional<double> difference; ///< q_k − q_(k−1), from the cycle before
  /// log(|d_(k-1)| / |d_k|) / log(h_(k-1) / h_k) with the differences d and h ~ cells^(-1/dim);
  /// nothing where differences are at the level of rounding.
  std::optional<double> order;
};

/// Of @p quantity in cycle @p cycle; empty if it has no limit.
QuantityChange quantity_change(const StudyRecord &study, std::size_t cycle,
                               const Quantity &quantity);

/// A line for each quantity and cycle; of empty texts if there are no quantities.
TableTexts quantity_table(const StudyRecord &study);

/// The columns of convergence.csv that belong to a quantity: NAME, and if it has a limit
/// NAME_difference and NAME_order.
std::vector<std::string> quantity_columns(const Quantity &quantity);
} // namespace femgpu

#endif
