#include "physics/constraints/cell_constraints.h"

#include <algorithm>
#include <cmath>

namespace femgpu
{
void CellConstraints::resolve(const std::vector<Index> &dofs)
{
  unsorted.clear();
  inhomogeneities.assign(dofs.size(), 0.);
  for (unsigned int i = 0; i < dofs.size(); ++i) {
    if (!constraints.is_constrained(dofs[i]))
      unsorted.push_back({dofs[i], {i, 0, 1.}});
    else {
      inhomogeneities[i] = constraints.get_inhomogeneity(dofs[i]);
      for (const auto &entry : *constraints.get_constraint_entries(dofs[i]))
        unsorted.push_back({entry.first, {i, 0, entry.second}});
    }
  }
  std::sort(unsorted.begin(), unsorted.end(), [](const auto &a, const auto &b) {
    return a.first < b.first || (a.first == b.first && a.second.dof < b.second.dof);
  });
  targets.clear();
  shares.clear();
  for (const auto &[target, share] : unsorted) {
    if (targets.empty() || targets.back() != target)
      targets.push_back(target);
    shares.push_back({share.dof, static_cast<unsigned int>(targets.size()) - 1, share.weight});
  }
}

/// Returns entry @p row of f − K g.
double CellConstraints::reduced_load(const CellTerms &cell, const unsigned int row) const
{
  double load = cell.f(row);
  for (unsigned int j = 0; j < inhomogeneities.size(); ++j)
    if (inhomogeneities[j] != 0.)
      load -= cell.K(row, j) * inhomogeneities[j];
  return load;
}

void CellConstraints::condense(const CellTerms &cell)
{
  const std::size_t n = targets.size();
  rhs.assign(n, 0.);
  weights.assign(n, 0.);
  matrix.assign(n * n, 0.);
  for (const Share &row : shares) {
    rhs[row.target] += row.weight * reduced_load(cell, row.dof);
    if (cell.w.size() > 0)
      weights[row.target] += row.weight * cell.w(row.dof);
    for (const Share &column : shares)
      matrix[row.target * n + column.target] +=
          row.weight * column.weight * cell.K(row.dof, column.dof);
  }
}

void CellConstraints::add_free_cell(const CellTerms &cell, linalg::GroupSystem &system)
{
  const auto n = static_cast<unsigned int>(cell.dofs.size());
  order.resize(n);
  for (unsigned int i = 0; i < n; ++i)
    order[i] = {cell.dofs[i], i};
  std::sort(order.begin(), order.end());
  targets.resize(n);
  for (unsigned int i = 0; i < n; ++i)
    targets[i] = order[i].first;
  matrix.resize(n);
  for (unsigned int row = 0; row < n; ++row) {
    const unsigned int i = order[row].second;
    system.add_rhs(targets[row], cell.f(i));
    if (cell.w.size() > 0)
      system.add_weight(targets[row], cell.w(i));
    for (unsigned int column = 0; column < n; ++column)
      matrix[column] = cell.K(i, order[column].second);
    system.add_row(targets[row], n, targets.data(), matrix.data());
  }
}

void CellConstraints::add_rhs(const CellTerms &cell, linalg::GroupSystem &system)
{
  resolve(cell.dofs);
  rhs.assign(targets.size(), 0.);
  for (const Share &row : shares)
    rhs[row.target] += row.weight * reduced_load(cell, row.dof);
  for (unsigned int row = 0; row < targets.size(); ++row)
    system.add_rhs(targets[row], rhs[row]);
}

void CellConstraints::add(const CellTerms &cell, linalg::GroupSystem &system)
{
  if (std::none_of(cell.dofs.begin(), cell.dofs.end(),
                   [&](const Index dof) { return constraints.is_constrained(dof); })) {
    add_free_cell(cell, system);
    return;
  }
  resolve(cell.dofs);
  condense(cell);
  const auto n = static_cast<unsigned int>(targets.size());
  for (unsigned int row = 0; row < n; ++row) {
    system.add_rhs(targets[row], rhs[row]);
    if (cell.w.size() > 0)
      system.add_weight(targets[row], weights[row]);
    system.add_row(targets[row], n, targets.data(), &matrix[static_cast<std::size_t>(row) * n]);
  }
  for (unsigned int i = 0; i < cell.dofs.size(); ++i)
    if (constraints.is_constrained(cell.dofs[i])) {
      const double diagonal = cell.K(i, i) != 0. ? std::abs(cell.K(i, i)) : 1.;
      system.add_row(cell.dofs[i], 1, &cell.dofs[i], &diagonal);
    }
}
} // namespace femgpu
