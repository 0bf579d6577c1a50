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
            "k > 0 in -div(k grad u) = f: an expression of x, y, z and u. Values by direction: "
            "'k_x, k_y' in 2D, 'k_x, k_y, k_z' in 3D. Values by material id or name: 'k; ids: k; "
            "ids: k_x, k_y'. The entry without ids applies to all other materials.",
            "1");
    declare(source, "Right-hand side",
            "f: an expression of x, y, z and u. Values by material id or name: 'f; ids: f'. Must "
            "be given.");
    declare_transient("Capacity",
                      "c > 0 in c du/dt - div(k grad u) = f for a transient analysis: an "
                      "expression of x, y, z, u and t. Values by material id or name: 'c; ids: c'.",
                      "1");
    declare_dirichlet("");
    declare(neumann, "Neumann",
            "Flux k du/dn = g into the body, on parts of the boundary: 'ids: g; ...', with "
            "expressions g of x, y, z and u. On boundary ids without a condition, k du/dn = 0.");
    declare(robin, "Robin",
            "k du/dn + a u = g on parts of the boundary: 'ids: a, g; ...', with a >= 0.");
    declare_periodic();
    add_parameter(
        "Compatibility tolerance", compatibility_tolerance,
        "Largest defect that femgpu accepts in a problem without Dirichlet and Robin data. Such a "
        "problem has a solution only if the integrals of f and of the Neumann data g add up to "
        "zero. The defect is the absolute value of this sum, divided by the sum of the integrals "
        "of |f| and |g|. Quadrature on coarse meshes and data with few digits cause small defects. "
        "If the defect is at most this tolerance, femgpu subtracts a constant from f to remove it; "
        "otherwise femgpu refuses the problem. The solution is determined up to a constant; femgpu "
        "computes the one with mean value 0.",
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
