#ifndef femgpu_physics_wanted_of_unknowns_h
#define femgpu_physics_wanted_of_unknowns_h

namespace femgpu
{
/// What a preconditioner wants to know of the unknowns, besides which belong to a node.
struct WantedOfUnknowns
{
  bool coordinates = false;
  bool coarser = false; ///< those of lower degrees and coarser meshes
};
} // namespace femgpu

#endif
