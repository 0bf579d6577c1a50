#include "app/checkpoint.h"

#include "common/atomic_file.h"
#include "linalg/base/error.h"
#include "linalg/base/text.h"
#include "physics/base/collective.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include <boost/crc.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>

namespace femgpu
{
using namespace dealii;
namespace fs = std::filesystem;

namespace
{
/// The beginning of the file "state"; the number is that of the format.
const std::string magic = "femgpu checkpoint 1\n";

using Checksum = std::uint32_t;

Checksum checksum_of(const std::string &bytes)
{
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

template <class T>
void append(std::string &bytes, const std::vector<T> &numbers)
{
  const std::uint64_t n = numbers.size();
  bytes.append(reinterpret_cast<const char *>(&n), sizeof(n));
  bytes.append(reinterpret_cast<const char *>(numbers.data()), n * sizeof(T));
}

template <class T>
void extract(const char *&bytes, std::vector<T> &numbers)
{
  std::uint64_t n = 0;
  std::copy_n(bytes, sizeof(n), reinterpret_cast<char *>(&n));
  numbers.resize(n);
  std::copy_n(bytes + sizeof(n), n * sizeof(T), reinterpret_cast<char *>(numbers.data()));
  bytes += sizeof(n) + n * sizeof(T);
}

std::string bytes_of(const CellValues &values)
{
  std::string bytes;
  bytes.reserve(values.positions.size() * 12 + values.values.size() * sizeof(double) + 24);
  append(bytes, values.positions);
  append(bytes, values.n_dofs);
  append(bytes, values.values);
  return bytes;
}

CellValues values_of(const std::string &bytes)
{
  CellValues values;
  const char *next = bytes.data();
  extract(next, values.positions);
  extract(next, values.n_dofs);
  extract(next, values.values);
  return values;
}

/// Returns the bytes of @p file; an empty string if it cannot be read.
std::string read_file(const std::string &file)
{
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string values_file(const std::string &checkpoint, const std::size_t rank)
{
  return checkpoint + "/values_" + std::to_string(rank);
}

/// Returns the numbers of the checkpoints in @p directory, complete or not.
std::set<std::size_t> checkpoints_in(const std::string &directory)
{
  static const std::regex name(R"(checkpoint_(\d{1,15}))");
  std::set<std::size_t> numbers;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, error)) {
    std::smatch match;
    const std::string text = entry.path().filename().string();
    if (std::regex_match(text, match, name))
      numbers.insert(std::stoull(match[1]));
  }
  return numbers;
}

bool is_first_rank(MPI_Comm communicator)
{
  return Utilities::MPI::this_mpi_process(communicator) == 0;
}
} // namespace

CheckpointFiles::CheckpointFiles(std::string directory_, MPI_Comm communicator)
    : directory(std::move(directory_)), communicator(communicator)
{
  std::set<std::size_t> numbers;
  if (is_first_rank(communicator))
    numbers = checkpoints_in(directory);
  newest = Utilities::MPI::broadcast(communicator, numbers.empty() ? 0 : *numbers.rbegin(), 0);
}

std::string CheckpointFiles::path_of(const std::size_t number) const
{
  return directory + "/checkpoint_" + std::to_string(number);
}

void CheckpointFiles::write(const std::string &state, const CellValues &values)
{
  const std::string path = path_of(++newest);
  rethrow_on_all_ranks<OutputError>(communicator, [&] {
    if (is_first_rank(communicator))
      create_output_directory(path);
  });
  Checksum checksum = 0;
  rethrow_on_all_ranks<OutputError>(communicator, [&] {
    const std::string bytes = bytes_of(values);
    checksum = checksum_of(bytes);
    write_file(values_file(path, Utilities::MPI::this_mpi_process(communicator)), bytes);
  });
  checksums = Utilities::MPI::all_gather(communicator, checksum);
  const std::size_t previous = std::exchange(current, newest);
  rethrow_on_all_ranks<OutputError>(communicator, [&] {
    if (!is_first_rank(communicator))
      return;
    const std::vector<char> body = Utilities::pack(std::make_pair(checksums, state), false);
    const std::string bytes(body.begin(), body.end());
    std::ostringstream text;
    text << magic << checksum_of(bytes) << '\n' << bytes;
    write_file(path + "/state", text.str());
    for (const std::size_t number : checkpoints_in(directory))
      if (number != current && number != previous) {
        std::error_code error; // what cannot be removed does no harm
        fs::remove_all(path_of(number), error);
      }
  });
}

/// Collective. Returns the state of a checkpoint, or nullopt with the reason in @p damage.
std::optional<std::string> CheckpointFiles::undamaged_state(const std::size_t number,
                                                            std::string &damage)
{
  const std::string path = path_of(number);
  std::pair<std::vector<Checksum>, std::string> content;
  if (is_first_rank(communicator)) {
    const std::string bytes = read_file(path + "/state");
    std::istringstream text(bytes);
    std::string line;
    Checksum checksum = 0;
    const bool is_state = bytes.rfind("femgpu checkpoint ", 0) == 0;
    if (is_state && bytes.rfind(magic, 0) != 0)
      damage = "another version of femgpu has written it";
    else if (is_state && std::getline(text, line) && text >> checksum && text.get() == '\n' &&
             checksum == checksum_of(bytes.substr(static_cast<std::size_t>(text.tellg())))) {
      const auto body = static_cast<std::ptrdiff_t>(text.tellg());
      content = Utilities::unpack<decltype(content)>(
          std::vector<char>(bytes.begin() + body, bytes.end()), false);
    }
    else
      damage = fs::exists(path + "/state") ? "the file 'state' has a wrong checksum"
                                           : "it is incomplete";
  }
  content = Utilities::MPI::broadcast(communicator, content, 0);
  checksums = content.first;
  const std::size_t rank = Utilities::MPI::this_mpi_process(communicator);
  for (std::size_t k = rank; k < checksums.size();
       k += Utilities::MPI::n_mpi_processes(communicator))
    if (checksum_of(read_file(values_file(path, k))) != checksums[k])
      damage = "the file 'values_" + std::to_string(k) + "' is missing or has a wrong checksum";
  for (const std::string &of_rank : Utilities::MPI::all_gather(communicator, damage))
    if (damage.empty())
      damage = of_rank;
  if (!damage.empty() || checksums.empty())
    return {};
  current = number;
  return content.second;
}

std::string CheckpointFiles::read_state(Console &console)
{
  std::set<std::size_t> numbers;
  if (is_first_rank(communicator))
    numbers = checkpoints_in(directory);
  const std::vector<std::size_t> all = Utilities::MPI::broadcast(
      communicator, std::vector<std::size_t>(numbers.rbegin(), numbers.rend()), 0);
  std::string damages;
  for (const std::size_t number : all) {
    std::string damage;
    if (std::optional<std::string> state = undamaged_state(number, damage)) {
      if (!damages.empty())
        console.warn(damages + "The one before is used.");
      console.print("Continuing from " + path_of(number) + ".");
      return *state;
    }
    damages += "The checkpoint " + path_of(number) + " cannot be used: " + damage + ". ";
  }
  throw InputError(damages + "There is no checkpoint in '" + directory +
                   "' from which the run can continue. Run without --continue, with "
                   "Output/Checkpoint every set.");
}

void CheckpointFiles::read_values(const std::function<void(const CellValues &)> &use) const
{
  for (std::size_t k = 0; k < checksums.size(); ++k) {
    const std::string file = values_file(path_of(current), k), bytes = read_file(file);
    if (checksum_of(bytes) != checksums[k])
      throw InputError("The file '" + file +
                       "' has changed while femgpu was running. Keep other "
                       "programs from writing to it, and run again.");
    use(values_of(bytes));
  }
}

CheckpointSchedule::CheckpointSchedule(const std::string &every)
{
  const std::string text = trimmed(every);
  const std::size_t space = text.find(' ');
  const std::string unit = space == std::string::npos ? "" : trimmed(text.substr(space));
  const double number = finite_number(text.substr(0, space)).value_or(0.);
  if ((unit == "steps" || unit == "step") && number >= 1. && number == std::floor(number) &&
      number < 1e15)
    steps = static_cast<std::size_t>(number);
  else if ((unit == "seconds" || unit == "second") && number > 0.)
    seconds = number;
  else if (text != "none")
    throw ParameterError("'" + every +
                             "' of Output/Checkpoint every is neither none nor a number of steps "
                             "or seconds. Write, for example, 100 steps or 600 seconds.",
                         "Output/Checkpoint every");
}

bool CheckpointSchedule::is_due_after_step(MPI_Comm communicator)
{
  return steps > 0 ? ++n_steps == steps
                   : seconds > 0. && Utilities::MPI::broadcast(communicator,
                                                               since_last.elapsed() >= seconds, 0);
}
} // namespace femgpu
