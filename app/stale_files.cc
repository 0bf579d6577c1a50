#include "app/stale_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

namespace femgpu
{
namespace
{
namespace fs = std::filesystem;

/// A kind of output file that an earlier run may have left: it is optional, or the number of files
/// depends on cycles, pieces or lines.
struct Kind
{
  std::regex name;
  std::string begin; ///< text within the first 256 bytes of each file
};

/// Returns a regular expression that matches exactly @p text.
std::string literal(const std::string &text)
{
  return std::regex_replace(text, std::regex(R"([^A-Za-z0-9_ ])"), R"(\$&)");
}

/// Returns a regular expression for the ParaView files of Output/Name @p name.
std::string vtk_files(const std::string &name)
{
  return literal(name) +
         R"((_cycle\d+)?(_\d{3,}(\.\d{3,}\.vtu|\.pvtu|\.vtkhdf)|\.pvd|\.vtkhdf\.series))";
}

std::vector<Kind> kinds(const std::string &name)
{
  return {{std::regex(vtk_files(name) + R"(|inverted_cells\.vtu)"), "<!-- Written by femgpu"},
          {std::regex(vtk_files(name)), "HDF\r\n"},
          {std::regex(vtk_files(name)), "file-series-version"},
          {std::regex(R"(line_.+_\d{3,}\.csv)"), "distance,x,y,"},
          {std::regex(R"(points\.csv)"), "cycle,point,x,y,"},
          {std::regex(R"(points\.csv)"), "cycle,time,point,x,y,"},
          {std::regex(R"(time\.csv)"), "cycle,output,step,time"},
          {std::regex(R"(steps\.csv)"), "cycle,step,time,length,"},
          {std::regex(R"(branch\.csv)"), "index,kind,branch,arclength,"}};
}

bool has_head(const fs::path &file, const std::string &begin)
{
  std::string head(256, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.find(begin) != std::string::npos;
}

/// Removes the regular files in @p directory for which @p is_one(path) is true. Errors are ignored,
/// because this run does not depend on the removed files.
template <class Predicate>
void remove_if(const std::string &directory, const Predicate &is_one)
{
  std::error_code error;
  std::vector<fs::path> found;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, error))
    if (entry.symlink_status(error).type() == fs::file_type::regular && is_one(entry.path()))
      found.push_back(entry.path());
  for (const fs::path &file : found)
    fs::remove(file, error);
}
} // namespace

void remove_partial_files(const std::string &directory, const std::string &name)
{
  const std::regex partial(
      "(" + vtk_files(name) +
      R"(|line_.+_\d{3,}\.csv|(points|branch|history|time|steps)\.csv|summary\.json)" +
      R"(|convergence\.(csv|md|tex)|study\.(csv|md|tex|json))\..+\.\d+\.partial)");
  remove_if(directory, [&](const fs::path &file) {
    return std::regex_match(file.filename().string(), partial);
  });
}

void remove_stale_files(const std::string &directory, const std::string &name,
                        const std::vector<std::string> &files)
{
  const std::vector<Kind> all = kinds(name);
  remove_if(directory, [&](const fs::path &file) {
    const std::string found = file.filename().string();
    return std::find(files.begin(), files.end(), found) == files.end() &&
           std::any_of(all.begin(), all.end(), [&](const Kind &kind) {
             return std::regex_match(found, kind.name) && has_head(file, kind.begin);
           });
  });
}
} // namespace femgpu
