#include "linalg/sparse/row_product.h"
#include "linalg/sparse/select_entries.h"

#include <utility>

namespace femgpu::linalg
{
namespace
{
/// A selector for select_entries(): selects the entries of the condensed pattern of A, which has
/// one row for each group of rows and one column for each group of columns.
struct GroupEntries
{
  RowPatternView A;
  RowGroupsView rows, columns;

  FEMGPU_HD
  int row(const int group) const
  {
    return rows[group].begin;
  }
  template <class Function>
  FEMGPU_HD
  void visit(const int i, const int k, const Function &f) const
  {
    if (k == A.row_starts[i + 1])
      return;
    const int group = columns.group_of(A.columns[k]);
    if (k == A.row_starts[i] || columns.group_of(A.columns[k - 1]) != group)
      f(group, k);
  }
};

template <class Backend>
RowPattern condense(const PatternRef &A, const RowGroups &rows, const RowGroups &columns,
                    const std::string &what)
{
  return select_entries<Backend>(A, GroupEntries{A.view(), rows.view(), columns.view()}, rows.n(),
                                 what)
      .pattern;
}

/// Computes the row lengths of a pattern from its condensed pattern (see GroupEntries).
struct ExpandRowLengths
{
  RowPatternView condensed;
  RowGroupsView rows, columns;
  int *lengths;

  FEMGPU_HD
  void operator()(const int group) const
  {
    int length = 0;
    for (int k = condensed.row_starts[group]; k < condensed.row_starts[group + 1]; ++k)
      length += columns.size(condensed.columns[k]);
    const RowRange range = rows[group];
    for (int i = range.begin; i < range.end; ++i)
      lengths[i] = length;
  }
};

/// Computes the columns of a pattern from its condensed pattern (see GroupEntries).
struct ExpandColumns
{
  static constexpr int team_size = 8, scratch = team_size / 2; // an int for each thread
  RowPatternView condensed;
  RowGroupsView rows, columns;
  const int *row_starts;
  int *result;

  template <class Team>
  FEMGPU_HD
  void operator()(const Team &team, const int group) const
  {
    const ThreadRange thread_range(team, condensed, group);
    const int last = thread_range.last < condensed.row_starts[group + 1]
                         ? thread_range.last
                         : condensed.row_starts[group + 1];
    const RowRange range = rows[group];
    int at = row_starts[range.begin];
    if (team.size() > 1) {
      int *const counts = reinterpret_cast<int *>(team.scratch());
      int count = 0;
      for (int k = thread_range.first; k < last; ++k)
        count += columns.size(condensed.columns[k]);
      counts[team.rank()] = count;
      team.sync();
      for (int thread = 0; thread < team.rank(); ++thread)
        at += counts[thread];
    }
    const int length = row_starts[range.begin + 1] - row_starts[range.begin];
    for (int k = thread_range.first; k < last; ++k) {
      const RowRange column_range = columns[condensed.columns[k]];
      for (int j = column_range.begin; j < column_range.end; ++j, ++at)
        for (int i = 0; i < range.end - range.begin; ++i)
          result[at + i * length] = j;
    }
  }
};

template <class Backend>
RowPattern expand(const ExecutorPtr &executor, const RowPattern &condensed, const RowGroups &rows,
                  const RowGroups &columns, const std::string &what)
{
  Runner<Backend> runner(*executor);
  Buffer<int> lengths(executor, static_cast<std::size_t>(rows.n_rows));
  runner.run(linalg::rows(
      rows.n(), ExpandRowLengths{condensed.view(), rows.view(), columns.view(), lengths.data()}));
  RowPattern result = make_rows<Backend>(executor, lengths, what);
  runner.run(teams(rows.n(), ExpandColumns{condensed.view(), rows.view(), columns.view(),
                                           result.row_starts.data(), result.columns.data()}));
  return result;
}
} // namespace

template <class Backend>
RowGroups group_rows(const PatternRef &A)
{
  Runner<Backend> runner(*A.executor);
  Buffer<int> is_first(A.executor, static_cast<std::size_t>(A.n));
  runner.run(rows(A.n, [A = A.rows, is_first = is_first.data()] FEMGPU_BODY(const int i) {
    is_first[i] = i % max_rows_per_group != 0 && A.are_equal(i - 1, i) ? 0 : 1;
  }));
  RowGroups groups(A.n);
  RowList first_rows = flagged_rows<Backend>(A.executor, is_first);
  if (first_rows.n == A.n)
    return groups;
  groups.first_rows = std::move(first_rows);
  groups.group_of_row = std::move(is_first);
  runner.run(rows(groups.n(), [view = groups.view(),
                               group_of_row = groups.group_of_row.data()] FEMGPU_BODY(const int g) {
    const RowRange range = view[g];
    for (int i = range.begin; i < range.end; ++i)
      group_of_row[i] = g;
  }));
  return groups;
}

template <class Backend>
RowPattern multiply(const PatternRef &P, const PatternRef &B, const std::string &what,
                    const RowGroups *supplied_columns)
{
  const RowGroups rows = group_rows<Backend>(P);
  if (rows.n() > P.n / 2 || P.n_entries > static_cast<std::size_t>(max_indices))
    return PatternProduct<Backend>(P, B).columns(what);
  const ExecutorPtr &owner = P.executor;
  const RowGroups middle = group_rows<Backend>(B), single_columns(B.n_columns);
  const RowGroups &columns = supplied_columns != nullptr ? *supplied_columns : single_columns;
  const RowPattern small_P = condense<Backend>(P, rows, middle, what);
  const RowPattern small_B = condense<Backend>(B, middle, columns, what);
  const RowPattern small = PatternProduct<Backend>(pattern_of(owner, small_P, middle.n()),
                                                   pattern_of(owner, small_B, columns.n()))
                               .columns(what);
  return expand<Backend>(owner, small, rows, columns, what);
}

template <class Backend>
std::vector<int> product_lengths(const PatternRef &P, const PatternRef &B, const RowList &list)
{
  return PatternProduct<Backend>(P, B).lengths_to_host(list);
}

template RowGroups group_rows<ThisBackend>(const PatternRef &);
template RowPattern multiply<ThisBackend>(const PatternRef &, const PatternRef &,
                                          const std::string &, const RowGroups *);
template std::vector<int> product_lengths<ThisBackend>(const PatternRef &, const PatternRef &,
                                                       const RowList &);
} // namespace femgpu::linalg
