#ifndef femgpu_physics_vtu_arrays_h
#define femgpu_physics_vtu_arrays_h

#include <boost/property_tree/ptree.hpp>

#include <string>
#include <vector>

namespace femgpu
{
/**
 * A VTK file in XML with its numbers, whichever way they are written: as text, in base64, or
 * appended in base64 or raw bytes; plain or compressed by zlib.
 */
class VtuArrays
{
public:
  /// @throws InputError for what is no such file, or written in a way that is not supported
  VtuArrays(const std::string &name, const std::string &text);

  /// The element "VTKFile".
  const boost::property_tree::ptree &root() const
  {
    return tree.get_child("VTKFile");
  }

  /// The numbers of a "DataArray"; @p n of them. Integers beyond 2^53 are rounded.
  std::vector<double> numbers(const boost::property_tree::ptree &array, std::size_t n) const;

  [[noreturn]] void fail(const std::string &message) const;

private:
  class Bytes;

  std::vector<double> text_numbers(const std::string &array_name, const std::string &text,
                                   std::size_t n) const;
  std::string decoded(const std::string &array_name, Bytes bytes) const;
  std::string decompressed(const std::string &array_name, Bytes bytes) const;

  std::string name;
  boost::property_tree::ptree tree;
  std::string appended; ///< what follows the '_' of AppendedData
  bool appended_is_raw = false;
  bool is_compressed = false;
  std::size_t header_size = 4; ///< bytes of the integers before data
};
} // namespace femgpu

#endif
