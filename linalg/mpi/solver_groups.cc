#include "linalg/mpi/solver_groups.h"

#include "linalg/base/error.h"
#include "linalg/base/parallel.h"
#include "linalg/base/text.h"
#include "linalg/execution/make_executor.h"
#include "linalg/mpi/nodes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <sstream>
#include <system_error>

namespace femgpu::linalg
{
namespace
{
/// Returns which of the @p n groups of a node contains rank @p rank of the node.
int group_of(const int rank, const int n_ranks, const int n)
{
  return static_cast<int>(static_cast<long long>(rank) * n / n_ranks);
}

/// Guesses how many GPUs this process can access, without starting the driver: reads the
/// environment and looks for device files.
int guess_device_count()
{
  if (const char *const visible = std::getenv("CUDA_VISIBLE_DEVICES"))
    return *visible == '\0'
               ? 0
               : 1 + static_cast<int>(std::count(visible, visible + std::strlen(visible), ','));
  int n = 0;
  std::error_code error;
  while (std::filesystem::exists("/dev/nvidia" + std::to_string(n), error))
    ++n;
  return n;
}

/// Returns whether rank @p rank of the @p n_ranks of a node leads a group if there is one group for
/// each of @p n devices.
bool leads_one_of(const int n, const int rank, const int n_ranks)
{
  const int groups = std::min(n, n_ranks);
  return groups > 0 &&
         (rank == 0 || group_of(rank, n_ranks, groups) != group_of(rank - 1, n_ranks, groups));
}

constexpr const char *parameter = "devices";

bool is_number(const std::string &text)
{
  return is_digits(text) && text.size() <= 4;
}

[[noreturn]] void throw_invalid_devices(const std::string &devices)
{
  throw ParameterError(
      "Devices is '" + devices +
          "'; use auto, the number of solver groups per node, or a list of GPUs such as cuda:0,2.",
      parameter);
}

bool is_list(const std::string &devices)
{
  return devices.compare(0, 5, "cuda:") == 0;
}

/// Parses the device numbers of a list such as "cuda:0,2".
std::vector<int> listed_devices(const std::string &devices)
{
  std::vector<int> numbers;
  std::istringstream list(devices.substr(5));
  for (std::string number; std::getline(list, number, ',');) {
    if (!is_number(number))
      throw_invalid_devices(devices);
    numbers.push_back(std::stoi(number));
  }
  for (const int number : numbers)
    if (std::count(numbers.begin(), numbers.end(), number) > 1)
      throw ParameterError("Devices is '" + devices + "', which lists GPU " +
                               std::to_string(number) + " more than once. List each GPU once.",
                           parameter);
  if (numbers.empty())
    throw_invalid_devices(devices);
  return numbers;
}

std::vector<std::string> cuda_backends(const std::vector<int> &devices)
{
  std::vector<std::string> backends;
  for (const int device : devices)
    backends.push_back("cuda:" + std::to_string(device));
  return backends;
}

std::vector<std::string> first_devices(const int n)
{
  std::vector<int> devices;
  for (int device = 0; device < n; ++device)
    devices.push_back(device);
  return cuda_backends(devices);
}

bool is_for_devices(const std::string &backend)
{
  return backend == "auto" || backend == "cuda";
}

/// Returns the backend of each group of a node that has @p n_ranks ranks.
std::vector<std::string> backends_of_node(const std::string &backend, const std::string &devices,
                                          const int n_ranks)
{
  if (is_list(devices)) {
    if (!is_for_devices(backend))
      throw ParameterError("Devices is '" + devices + "', but the backend is '" + backend +
                               "'. Use backend auto or cuda.",
                           parameter);
    return cuda_backends(listed_devices(devices));
  }
  const int n_devices = is_for_devices(backend) ? n_cuda_devices() : 0;
  if (devices == "auto")
    return n_devices > 1 && n_ranks > 1 ? first_devices(std::min(n_devices, n_ranks))
                                        : std::vector<std::string>{backend};
  const int n = std::stoi(devices);
  if (n_devices == 0 && backend != "cuda")
    return std::vector<std::string>(static_cast<std::size_t>(n), backend);
  if (n > n_devices)
    throw ParameterError("Devices is " + devices + ", but a node has " + std::to_string(n_devices) +
                             (n_devices == 1 ? " GPU" : " GPUs") +
                             ". Use at most that many groups, or backend host.",
                         parameter);
  return first_devices(n);
}

std::string broadcast(std::string text, MPI_Comm ranks)
{
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, ranks);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, ranks);
  return text;
}

/// Returns the backends of a node's groups. Only the node's first rank determines them, so that
/// other ranks need not start a driver. That rank sends one backend per line, or an error message
/// after '!'.
std::vector<std::string> broadcast_backends(const std::string &backend, const std::string &devices,
                                            MPI_Comm node)
{
  int rank = 0, n_ranks = 1;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &n_ranks);
  std::string text;
  if (rank == 0)
    try {
      check_devices(devices);
      for (const std::string &of_group : backends_of_node(backend, devices, n_ranks))
        text += of_group + '\n';
    }
    catch (const ParameterError &error) {
      text = std::string("!") + error.what();
    }
  else if (is_for_devices(backend) && leads_one_of(guess_device_count(), rank, n_ranks))
    n_cuda_devices(); // starts the driver, which takes 0.1 to 1 s, at the same time as on the first
                      // rank
  text = broadcast(text, node);
  if (text[0] == '!')
    throw ParameterError(text.substr(1), parameter);
  std::istringstream lines(text);
  std::vector<std::string> backends;
  for (std::string line; std::getline(lines, line);)
    backends.push_back(line);
  if (static_cast<int>(backends.size()) > n_ranks)
    throw ParameterError("Devices is '" + devices + "', which makes " +
                             std::to_string(backends.size()) +
                             " solver groups per node, but a node has " + std::to_string(n_ranks) +
                             (n_ranks == 1 ? " rank" : " ranks") +
                             ". Start at least one rank per group, or use fewer groups.",
                         parameter);
  return backends;
}
} // namespace

void check_devices(const std::string &devices)
{
  if (is_list(devices))
    listed_devices(devices);
  else if (devices != "auto" && (!is_number(devices) || std::stoi(devices) == 0))
    throw_invalid_devices(devices);
}

SolverGroups::State::~State()
{
  int is_finalized = 0;
  MPI_Finalized(&is_finalized);
  // After an error on one rank, the others do not take part in freeing the communicators.
  if (is_finalized != 0 || std::uncaught_exceptions() > 0)
    return;
  for (MPI_Comm *const ranks : {&group, &leaders})
    if (*ranks != MPI_COMM_NULL)
      MPI_Comm_free(ranks);
}

namespace
{
/// Returns the number of threads of a group. The groups of a node that may use the same core share
/// it equally.
/// @param cores the cores that the group may use
/// @param group_number number of the group
unsigned int share_of_cores(const cpu_set_t &cores, const int group_number, MPI_Comm node)
{
  int size = 1;
  MPI_Comm_size(node, &size);
  std::vector<cpu_set_t> all(static_cast<std::size_t>(size));
  std::vector<int> groups(all.size());
  MPI_Allgather(&cores, sizeof(cpu_set_t), MPI_BYTE, all.data(), sizeof(cpu_set_t), MPI_BYTE, node);
  MPI_Allgather(&group_number, 1, MPI_INT, groups.data(), 1, MPI_INT, node);
  double share = 0.;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &cores) == 0)
      continue;
    int n_groups = 0, last = -1;
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      if (groups[rank] != last && CPU_ISSET(core, &all[rank]) != 0) {
        ++n_groups;
        last = groups[rank];
      }
    share += 1. / n_groups;
  }
  return static_cast<unsigned int>(std::max(1., share + 1e-9));
}
} // namespace

SolverGroups::SolverGroups(MPI_Comm ranks) : SolverGroups(ranks, "host", "auto", "auto")
{}

SolverGroups::SolverGroups(MPI_Comm ranks, const std::string &backend, const std::string &devices,
                           const std::string &communicator)
    : state(std::make_shared<State>())
{
  MPI_Comm node = split_by_node(ranks);
  const std::vector<std::string> backends = broadcast_backends(backend, devices, node);
  int rank = 0, rank_of_node = 0, size_of_node = 1, rank_of_group = 0;
  MPI_Comm_rank(ranks, &rank);
  MPI_Comm_rank(node, &rank_of_node);
  MPI_Comm_size(node, &size_of_node);
  const int group_number = group_of(rank_of_node, size_of_node, static_cast<int>(backends.size()));

  state->all = ranks;
  state->communicator = communicator;
  state->backend = backends[static_cast<std::size_t>(group_number)];
  MPI_Comm_split(node, group_number, 0, &state->group);
  MPI_Comm_rank(state->group, &rank_of_group);
  MPI_Comm_split(ranks, rank_of_group == 0 ? 0 : MPI_UNDEFINED, 0, &state->leaders);
  CPU_ZERO(&state->own_cores);
  sched_getaffinity(0, sizeof(state->own_cores), &state->own_cores);
  state->cores = allowed_cores(state->group);
  state->n_threads = share_of_cores(state->cores, group_number, node);
  int size_of_group = 1;
  MPI_Comm_size(state->group, &size_of_group);
  state->n_own_threads = std::max(1U, state->n_threads / static_cast<unsigned int>(size_of_group));
  set_n_loop_threads(static_cast<int>(state->n_own_threads));
  MPI_Comm_free(&node);

  int size = 1;
  MPI_Comm_size(ranks, &size);
  std::vector<int> leads(static_cast<std::size_t>(size));
  const int leads_group = rank_of_group == 0 ? 1 : 0;
  MPI_Allgather(&leads_group, 1, MPI_INT, leads.data(), 1, MPI_INT, ranks);
  for (int other = 0; other < size; ++other)
    if (leads[static_cast<std::size_t>(other)] != 0) {
      state->number += other > 0 && other <= rank ? 1 : 0;
      state->first_ranks.push_back(other);
    }
  state->first_ranks.push_back(size);
}

SolverGroups::ScopedLeaderAffinity::ScopedLeaderAffinity(const SolverGroups &groups)
    : state(groups.is_leader() ? groups.state : nullptr)
{
  if (!state)
    return;
  sched_setaffinity(0, sizeof(state->cores), &state->cores);
  set_n_loop_threads(static_cast<int>(state->n_threads));
}

SolverGroups::ScopedLeaderAffinity::~ScopedLeaderAffinity()
{
  if (!state)
    return;
  sched_setaffinity(0, sizeof(state->own_cores), &state->own_cores);
  set_n_loop_threads(static_cast<int>(state->n_own_threads));
}
} // namespace femgpu::linalg
