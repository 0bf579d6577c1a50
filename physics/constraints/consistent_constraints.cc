#include "physics/constraints/consistent_constraints.h"

#include "physics/deal_ii_compat.h"

#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace femgpu
{
using namespace dealii;

namespace
{
using Index = types::global_dof_index;

using Line = AffineConstraints<double>::ConstraintLine;
using Lines = std::map<Index, Line>;

Lines owned_lines(const IndexSet &owned, const AffineConstraints<double> &constraints)
{
  Lines lines;
  for (const auto &line : constraints.get_lines())
    if (owned.is_element(line.index))
      lines[line.index] = line;
  return lines;
}

/// Collective. The lines that the owners of @p dofs have for them; free dofs have none.
std::vector<Line> ask_owners(const IndexSet &owned, const IndexSet &dofs, const Lines &mine,
                             MPI_Comm communicator)
{
  const auto owners = Utilities::MPI::compute_index_owner(owned, dofs, communicator);
  std::map<unsigned int, std::vector<Index>> questions;
  auto owner = owners.begin();
  for (const Index dof : dofs)
    questions[*owner++].push_back(dof);
  std::map<unsigned int, std::vector<Line>> answers;
  for (const auto &[rank, asked] : Utilities::MPI::some_to_some(communicator, questions)) {
    std::vector<Line> &answer = answers[rank];
    for (const Index dof : asked)
      if (const auto line = mine.find(dof); line != mine.end())
        answer.push_back(line->second);
  }
  std::vector<Line> lines;
  for (const auto &[rank, answer] : Utilities::MPI::some_to_some(communicator, answers))
    lines.insert(lines.end(), answer.begin(), answer.end());
  return lines;
}

/// The dofs that @p lines depend on.
IndexSet masters_of(const Lines &lines, const IndexSet::size_type size)
{
  std::vector<Index> masters;
  for (const auto &[dof, line] : lines)
    for (const auto &entry : line.entries)
      masters.push_back(entry.first);
  std::sort(masters.begin(), masters.end());
  IndexSet set(size);
  set.add_indices(masters.begin(), masters.end());
  set.compress();
  return set;
}
} // namespace

void take_lines_of_owners(const IndexSet &owned, const IndexSet &relevant, MPI_Comm communicator,
                          AffineConstraints<double> &constraints)
{
  if (Utilities::MPI::n_mpi_processes(communicator) == 1)
    return; // it owns all dofs
  const Lines mine = owned_lines(owned, constraints);
  Lines all = mine;
  IndexSet known = owned, unknown = relevant;
  unknown.subtract_set(known);
  while (Utilities::MPI::max(unknown.n_elements(), communicator) > 0) {
    for (Line &line : ask_owners(owned, unknown, mine, communicator))
      all[line.index] = std::move(line);
    known.add_indices(unknown);
    unknown = masters_of(all, owned.size());
    unknown.subtract_set(known);
  }
  known.compress();

  constraints.clear();
  compat::reinit(constraints, owned, known);
  for (const auto &[dof, line] : all) {
    constraints.add_line(dof);
    constraints.add_entries(dof, line.entries);
    constraints.set_inhomogeneity(dof, line.inhomogeneity);
  }
}
} // namespace femgpu
