#ifndef femgpu_app_stale_files_h
#define femgpu_app_stale_files_h

#include <string>
#include <vector>

/**
 * @file
 * Removal of files that previous runs left in an output directory. Partial files are recognised by
 * their names, complete files by their names and their first bytes; no other file is touched.
 */
namespace femgpu
{
/// Removes the partial files left by killed runs. @p name is Output/Name.
/// @pre no other run is writing to @p directory
void remove_partial_files(const std::string &directory, const std::string &name);

/**
 * Removes output files of previous runs that could be mistaken for output of this run, such as
 * files of cycles that this run does not have, of lines that it does not measure or of inverted
 * cells.
 * @param files the files that this run has written, which are kept
 */
void remove_stale_files(const std::string &directory, const std::string &name,
                        const std::vector<std::string> &files);
} // namespace femgpu

#endif
