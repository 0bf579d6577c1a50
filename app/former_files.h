#ifndef femgpu_app_former_files_h
#define femgpu_app_former_files_h

#include <string>
#include <vector>

/**
 * @file
 * What former runs have left in an output directory. A file is known as a run's by its name, and by
 * how it begins; no other is touched.
 */
namespace femgpu
{
/// Removes what killed runs with files named by @p name (Output/Name) have left half written. No
/// run may be writing to @p directory.
void remove_partial_files(const std::string &directory, const std::string &name);

/**
 * Removes what would be taken for files of the run that has written @p files, and is of a former
 * one: cycles and pieces that this one has not, lines and points that it has not measured, a branch
 * that it has not followed.
 */
void remove_former_files(const std::string &directory, const std::string &name,
                         const std::vector<std::string> &files);
} // namespace femgpu

#endif
