#include "linalg/base/error.h"
#include "physics/diffusion_reaction.h"
#include "physics/mean_value.h"
#include "physics/physics.h"

#include <deal.II/base/patterns.h>

#include <sstream>

namespace femgpu
{
using namespace dealii;

namespace
{
/// Section "Poisson": −∇·(k∇u) = f.
class PoissonParameters : public DiffusionReactionParameters
{
public:
  PoissonParameters() : DiffusionReactionParameters("Poisson")
  {
    declare(conductivity, "Coefficient",
            "k > 0 in -div(k grad u) = f: an expression of x, y, z, and u, or one for each "
            "direction, 'k_x, k_y', and k_z in 3D; for materials by id or name 'k; ids: k; ids: "
            "k_x, k_y', where the entry without ids is for all others.",
            "1");
    declare(source, "Right-hand side",
            "f; expression of x, y, z, and u; for materials 'f; ids: f'. Must be given.");
    declare_dirichlet("");
    declare(neumann, "Neumann",
            "k du/dn = g on parts of the boundary, an expression of x, y, z, and u: 'ids: "
            "g; ...'. On boundary ids without a condition, k du/dn = 0.");
    declare(robin, "Robin",
            "k du/dn + a u = g, a >= 0, on parts of the boundary: 'ids: a, g; ...'.");
    declare_periodic();
    add_parameter("Compatibility tolerance", compatibility_tolerance,
                  "Without Dirichlet and Robin data, u is known up to a constant; femgpu computes "
                  "the solution with mean value 0. It exists only if the integrals of f and of the "
                  "Neumann data add up to zero. The defect is their sum. If it is at most this "
                  "tolerance times the sum of the integrals of |f| and |g|, femgpu corrects f by a "
                  "constant; it refuses a larger defect. Small defects come from quadrature on "
                  "coarse meshes, or from data with few digits.",
                  prm, Patterns::Double(0., 1.));
    declare_exact_solution();
  }

  std::vector<RequiredDatum> required() const
  {
    return {{"Poisson/Right-hand side", source.text, "1"}};
  }

  double compatibility_tolerance = 1e-3;
};

template <int dim>
class Poisson final : public DiffusionReaction<dim>
{
public:
  Poisson(const PoissonParameters &p, const MeshRegions &regions)
      : DiffusionReaction<dim>(p, regions), compatibility_tolerance(p.compatibility_tolerance)
  {}

  void check(const Mesh<dim> &mesh, const unsigned int degree) const override
  {
    DiffusionReaction<dim>::check(mesh, degree);
    if (fixes_mean() && this->traits().has_nonlinear_terms)
      throw ParameterError("Poisson's equation with a coefficient that depends on u needs "
                           "Dirichlet data. Name a boundary id in Poisson/Dirichlet.",
                           "Poisson/Dirichlet");
  }

  bool fixes_mean() const override
  {
    const DeterminingRegions determining_regions = this->determining_regions();
    return this->robin.empty() && determining_regions.boundary_ids.empty() &&
           determining_regions.material_ids.empty();
  }

  void check_data(const Discretization<dim> &discretization) const override
  {
    DiffusionReaction<dim>::check_data(discretization);
    if (!fixes_mean())
      return;
    const Compatibility data = compatibility(*this, discretization);
    if (data.relative_defect() <= compatibility_tolerance)
      return;
    std::ostringstream text;
    text << "Poisson's equation without Dirichlet and Robin data has no solution: the integrals of "
            "Poisson/Right-hand side and Poisson/Neumann add up to "
         << data.defect << " instead of 0 (those of their absolute values to " << data.magnitude
         << "), a relative defect of " << data.relative_defect()
         << " above Poisson/Compatibility tolerance = " << compatibility_tolerance
         << ". Fix the data, name a boundary id in Poisson/Dirichlet, or raise the tolerance.";
    throw ParameterError(text.str(), "Poisson/Right-hand side");
  }

private:
  double compatibility_tolerance;
};
} // namespace

template <>
std::unique_ptr<Physics> make_physics<class PoissonEquation>()
{
  return std::make_unique<PhysicsOf<PoissonParameters, Poisson>>();
}
} // namespace femgpu
