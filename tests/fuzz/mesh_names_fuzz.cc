// Fuzzes the readers of gmsh and Abaqus files. Any input must either be read or be rejected with an
// InputError.
#include "linalg/base/error.h"
#include "physics/mesh/mesh_readers.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, const std::size_t size)
{
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  for (const int dim : {2, 3})
    for (const auto read : {femgpu::read_gmsh_file, femgpu::read_abaqus_file})
      try {
        femgpu::MeshTable table = read("fuzz", text, dim);
        femgpu::check_mesh_table(table, dim);
      }
      catch (const femgpu::InputError &) {
      }
  return 0;
}
