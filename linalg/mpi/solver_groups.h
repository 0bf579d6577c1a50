#ifndef femgpu_linalg_mpi_solver_groups_h
#define femgpu_linalg_mpi_solver_groups_h

#include <mpi.h>

#include <sched.h>

#include <memory>
#include <string>
#include <vector>

namespace femgpu::linalg
{
/// @throws ParameterError unless @p devices are such as SolverGroups takes
void check_devices(const std::string &devices);

/**
 * The solver groups of a run. A group is a device, or cores, with ranks beside it on its node; the
 * first of them, its leader, solves, and the others give it their rows. A group's ranks follow each
 * other. Copies of an object are the same groups. From here on n_loop_threads() is the number of
 * cores that the rank has for itself.
 */
class SolverGroups
{
public:
  /// A group for each node. Collective, as the next.
  explicit SolverGroups(MPI_Comm ranks);

  /**
   * @param ranks those of a node one after the other
   * @param backend as make_executor() takes it; of a node that has several devices auto and cuda
   *        mean all of them
   * @param devices auto: a group for each device of a node, or one on the host, but no more than it
   *        has ranks; N: so many groups on each node, the first N devices; cuda:0,2: these devices
   * @param communicator of the leaders, as make_communicator() takes it
   * @throws ParameterError for other words, and for groups without a rank or without a device
   */
  SolverGroups(MPI_Comm ranks, const std::string &backend, const std::string &devices,
               const std::string &communicator);

  /// Of all groups.
  MPI_Comm ranks() const
  {
    return state->all;
  }
  /// Of this rank's group.
  MPI_Comm group() const
  {
    return state->group;
  }
  /// The leader of each group; MPI_COMM_NULL for ranks that are none.
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
  /// Of this rank's group.
  int number() const
  {
    return state->number;
  }
  /// First rank of each group, and the number of ranks.
  const std::vector<int> &first_ranks() const
  {
    return state->first_ranks;
  }
  /// Of this rank's group, as make_executor() takes it.
  const std::string &backend() const
  {
    return state->backend;
  }
  /// Of the leaders, as make_communicator() takes it.
  const std::string &communicator() const
  {
    return state->communicator;
  }
  /// Of the leader's host executor, so that the groups of a node share its cores.
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
   * While it lives the leader runs on every core that a rank of its group may use, and its loops
   * have a thread for each of its share. To be made while the other ranks of the group sleep:
   * before and after, loops of each rank have its own cores.
   */
  class LeadersCores
  {
  public:
    explicit LeadersCores(const SolverGroups &groups);
    LeadersCores(const LeadersCores &) = delete;
    LeadersCores &operator=(const LeadersCores &) = delete;
    ~LeadersCores();

  private:
    std::shared_ptr<const State> state; ///< of a leader
  };
};
} // namespace femgpu::linalg

#endif
