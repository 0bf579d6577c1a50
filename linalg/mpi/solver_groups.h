#ifndef femgpu_linalg_mpi_solver_groups_h
#define femgpu_linalg_mpi_solver_groups_h

#include <mpi.h>

#include <sched.h>

#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/// Checks the syntax of @p devices, a parameter of SolverGroups.
/// @throws ParameterError if it is invalid
void check_devices(const std::string &devices);

/**
 * The solver groups of a run. A group consists of a device, or cores, and consecutive ranks on the
 * same node. The first rank, the leader, solves; the other ranks assemble their rows into memory
 * that the leader can access. Copies of an object denote the same groups. The constructor sets
 * n_loop_threads() to the rank's own share of cores.
 */
class SolverGroups
{
public:
  /// Makes one group for each node. Collective.
  explicit SolverGroups(MPI_Comm ranks);

  /**
   * Makes the groups that @p devices specifies. Collective.
   * @param ranks all ranks; the ranks of a node must be consecutive
   * @param backend see make_executor(); on a node with several devices, auto and cuda denote all
   * these devices
   * @param devices auto: one group for each device of a node, or one on the host, but not more
   *   groups than ranks; N: N groups on each node, on the first N devices; cuda:0,2: these devices
   * @param communicator name of the communicator between leaders, see make_communicator()
   * @throws ParameterError for other values, and for groups without a rank or without a device
   */
  SolverGroups(MPI_Comm ranks, const std::string &backend, const std::string &devices,
               const std::string &communicator);

  /// The ranks of all groups.
  MPI_Comm ranks() const
  {
    return state->all;
  }
  /// The ranks of this rank's group.
  MPI_Comm group() const
  {
    return state->group;
  }
  /// The leaders of all groups; MPI_COMM_NULL on other ranks.
  MPI_Comm leaders() const
  {
    return state->leaders;
  }
  bool is_leader() const
  {
    return state->leaders != MPI_COMM_NULL;
  }
  int n_groups() const
  {
    return static_cast<int>(state->first_ranks.size()) - 1;
  }
  /// The number of this rank's group.
  int number() const
  {
    return state->number;
  }
  /// The first rank of each group, then the number of ranks.
  const std::vector<int> &first_ranks() const
  {
    return state->first_ranks;
  }
  /// The backend of this rank's group, see make_executor().
  const std::string &backend() const
  {
    return state->backend;
  }
  /// The communicator between leaders, see make_communicator().
  const std::string &communicator() const
  {
    return state->communicator;
  }
  /// The number of threads of the leader's host executor; the groups of a node share the cores of
  /// the node.
  unsigned int n_threads() const
  {
    return state->n_threads;
  }

private:
  struct State
  {
    State() = default;
    State(const State &) = delete;
    State &operator=(const State &) = delete;
    ~State();

    MPI_Comm all = MPI_COMM_NULL, group = MPI_COMM_NULL, leaders = MPI_COMM_NULL;
    int number = 0;
    std::vector<int> first_ranks;
    std::string backend, communicator;
    unsigned int n_threads = 1, n_own_threads = 1;
    cpu_set_t cores, own_cores;
  };

  std::shared_ptr<State> state;

public:
  /**
   * While this object exists, the leader may run on every core that a rank of its group may use,
   * and its loops have one thread for each core of the group's share. The other ranks of the group
   * must be asleep meanwhile. Before and after, each rank's loops use its own cores.
   */
  class ScopedLeaderAffinity
  {
  public:
    explicit ScopedLeaderAffinity(const SolverGroups &groups);
    ScopedLeaderAffinity(const ScopedLeaderAffinity &) = delete;
    ScopedLeaderAffinity &operator=(const ScopedLeaderAffinity &) = delete;
    ~ScopedLeaderAffinity();

  private:
    std::shared_ptr<const State> state; ///< nullptr: not a leader
  };
};
} // namespace femgpu::linalg

#endif
