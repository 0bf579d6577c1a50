#ifndef femgpu_linalg_operators_row_space_h
#define femgpu_linalg_operators_row_space_h

#include "linalg/execution/memory/buffer.h"

#include <memory>
#include <optional>
#include <vector>

namespace femgpu::linalg
{
/// What a part of a distributed vector sends and gets so that its ghosts have values.
struct GhostPlan
{
  struct Neighbour
  {
    int part;
    std::vector<int> sent_rows; ///< own rows that it has as ghosts
    int n_received;             ///< ghosts that are rows of its own
  };
  std::vector<Neighbour> neighbours; ///< parts ascend; ghosts lie in this order
  std::vector<long long> numbers;    ///< global ones of the ghosts, which ascend

  int n_ghosts() const
  {
    return static_cast<int>(numbers.size());
  }
};

/// The way back: what goes with it from ghosts comes to the rows that they are copies of, those of
/// one neighbour after the other.
GhostPlan reversed(const GhostPlan &plan);

/// The number of the global row @p row, where the ghosts behind @p n own rows have these global
/// numbers; -1 if it is none of them.
int ghost_number(long long row, int n, const std::vector<long long> &ghosts);

/// The same of any row of a part, which has the @p n rows from @p first on.
inline int local_number(const long long row, const long long first, const int n,
                        const std::vector<long long> &ghosts)
{
  return row >= first && row < first + n ? static_cast<int>(row - first)
                                         : ghost_number(row, n, ghosts);
}

/// What parts have told each other.
struct Communication
{
  std::size_t sums = 0;                           ///< of some numbers each, and maxima
  std::size_t exchanges = 0;                      ///< of ghosts, or of rows along the border
  std::size_t exchanged_bytes = 0;                ///< that the part has sent in them
  double sum_seconds = 0., exchange_seconds = 0.; ///< with waiting for the others

  template <class F, class... Self>
  static void for_each_member(const F &f, Self &...communications)
  {
    f("sums", communications.sums...);
    f("exchanges", communications.exchanges...);
    f("exchanged_bytes", communications.exchanged_bytes...);
    f("sum_seconds", communications.sum_seconds...);
    f("exchange_seconds", communications.exchange_seconds...);
  }

  Communication operator-(const Communication &before) const
  {
    Communication result = *this;
    for_each_member([](const char *, auto &now, const auto &then) { now -= then; }, result, before);
    return result;
  }
};

/**
 * How the parts of distributed vectors speak with each other. Each part is the work of a thread or
 * process of its own; all call the same functions in the same order, and wait there for each other.
 */
class Communicator
{
public:
  virtual ~Communicator() = default;

  virtual int n_parts() const = 0;
  virtual int part() const = 0; ///< the caller's number

  /// Replaces @p n numbers in host memory by their sums over the parts, added in the parts' order:
  /// all get the same bits.
  virtual void sum(double *values, int n) const = 0;

  /// The largest of the parts' values.
  virtual double max(double value) const = 0;

  /// Tells the others which of their rows are ghosts here. @param ghosts global numbers, ascending
  /// @param starts first row of each part, and the number of rows
  virtual GhostPlan plan(std::vector<long long> ghosts,
                         const std::vector<long long> &starts) const = 0;

  /// Sends own values to those that have them as ghosts. All memory is the host's.
  /// @param sent those of the plan's sent_rows, one neighbour after the other
  /// @param ghosts gets what the neighbours have sent
  virtual void exchange(const GhostPlan &plan, const double *sent, double *ghosts) const = 0;

  /// Since it was made; nothing where nobody counts.
  virtual Communication communication() const
  {
    return {};
  }
};

using CommunicatorPtr = std::shared_ptr<const Communicator>;

/**
 * The rows of vectors that an executor has: own ones, and behind them ghosts, copies of rows of
 * other parts that products with a matrix need. Where there is one part, all rows are own ones.
 */
class RowSpace
{
public:
  /// All rows are here.
  RowSpace(ExecutorPtr executor, int n_rows);

  /// One part of several, without ghosts. Is called by all parts.
  RowSpace(ExecutorPtr executor, int n_rows, CommunicatorPtr communicator);

  /// Other rows of the same parts, without ghosts. Is called by all parts.
  RowSpace(const RowSpace &parts, int n_rows);

  /// The same rows with the ghosts of @p plan.
  RowSpace(const RowSpace &rows, GhostPlan plan);

  /// The same rows with ghosts that have these global numbers, in any order and perhaps repeated;
  /// without those that are own rows. Is called by all parts.
  RowSpace(const RowSpace &rows, std::vector<long long> ghosts);

  const ExecutorPtr &executor() const
  {
    return owner;
  }
  /// Own rows.
  int n() const
  {
    return n_own;
  }
  /// What a vector needs memory for.
  std::size_t n_with_ghosts() const
  {
    return static_cast<std::size_t>(n_own) +
           static_cast<std::size_t>(ghosts ? ghosts->n_ghosts() : 0);
  }
  /// Rows of all parts.
  long long n_global() const
  {
    return starts.back();
  }
  /// Rows of the parts before this one: the global number of the first own row.
  long long first() const
  {
    return starts[own];
  }
  /// Where the values of ghosts come from; nullptr: there is one part, or there are none.
  const GhostPlan *ghost_plan() const
  {
    return ghosts ? &*ghosts : nullptr;
  }
  /// Of a row, or of a ghost.
  long long global_number(const int i) const
  {
    return i < n_own ? first() + i : ghosts->numbers[static_cast<std::size_t>(i - n_own)];
  }
  /// And back. @param row an own one or a ghost
  int number_here(const long long row) const
  {
    return ghosts ? local_number(row, first(), n_own, ghosts->numbers)
                  : static_cast<int>(row - first());
  }
  /// nullptr: there is one part.
  const Communicator *communicator() const
  {
    return parts.get();
  }

  /// The largest of the parts' values.
  double max(const double value) const
  {
    return parts ? parts->max(value) : value;
  }
  /// Over the parts.
  double sum(double value) const
  {
    if (parts)
      parts->sum(&value, 1);
    return value;
  }

  Buffer<double> make_vector() const
  {
    return {owner, n_with_ghosts()};
  }

  /// Gives the ghosts of @p v, n_with_ghosts() numbers, the values that their owners have. On a
  /// GPU they pass through the host.
  void bring_ghosts(double *v) const
  {
    if (ghosts)
      exchange_ghosts(v);
  }

  /// Adds the ghosts of @p v to the rows of their owners.
  void add_ghosts(double *v) const
  {
    if (ghosts)
      return_ghosts(v);
  }

  /// A copy of n() numbers in the executor's memory, with ghosts behind.
  Buffer<double> with_ghosts(const double *v) const;

private:
  /// What an exchange needs besides the plan.
  struct Exchange
  {
    GhostPlan back;
    Buffer<int> sent_rows;
    Buffer<double> packed;
    std::vector<double> sent, received; ///< in host memory
  };

  void exchange_ghosts(double *v) const;
  void return_ghosts(double *v) const;

  ExecutorPtr owner;
  int n_own;
  CommunicatorPtr parts;
  std::size_t own = 0;           ///< number of this part
  std::vector<long long> starts; ///< first row of each part, and the number of rows
  std::optional<GhostPlan> ghosts;
  std::shared_ptr<Exchange> memory; ///< where there are ghosts; one exchange uses it at a time
};

using RowSpacePtr = std::shared_ptr<const RowSpace>;
} // namespace femgpu::linalg

#endif
