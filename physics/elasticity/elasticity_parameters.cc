#include "physics/elasticity/elasticity_parameters.h"

#include "physics/base/expressions.h"

namespace femgpu
{
using namespace dealii;

ElasticityParameters::ElasticityParameters() : ParameterAcceptor("/Elasticity")
{
  declare_materials();
  declare_supports();
  declare_loads();
  add_parameter("Reactions", reports_reactions,
                "Report forces and moments of all loads and of the supports by boundary id, in N "
                "and N m, in 2D for 1 m of length or thickness, and how far from zero their sum "
                "is.");
  add_parameter("Moment point", moment_point,
                "The point about which moments of reactions and loads are reported, in m: its "
                "coordinates, separated by ','; empty for the origin.");
  add_parameter("Exact solution", exact_solution,
                "If given, errors in L2, H1 and Linf are computed: the displacement, one "
                "expression for each direction, separated by ','.");
}

std::vector<RequiredDatum> ElasticityParameters::required() const
{
  if (!is_blank(lambda) || !is_blank(mu))
    return {};
  return {{"Elasticity/Young's modulus", young, "210e9"},
          {"Elasticity/Poisson's ratio", poisson, "0.3"}};
}

void ElasticityParameters::declare_materials()
{
  add_parameter("Young's modulus", young,
                "E > 0, in Pa (or any unit of stress): an expression of x, y, z for all materials, "
                "or by material id or name, as '210e9; aluminium: 70e9'. Must be given, unless "
                "lambda and mu are.");
  add_parameter("Poisson's ratio", poisson,
                "nu, -1 < nu < 0.5, without unit; by material, as Young's modulus. Must be given, "
                "unless lambda and mu are.");
  add_parameter(
      "Lame's lambda", lambda,
      "lambda = E nu/((1 + nu)(1 - 2 nu)), in Pa, lambda > -2/3 mu; by material. Together "
      "with mu, in place of E and nu.");
  add_parameter("Lame's mu", mu,
                "mu = E/(2 (1 + nu)) > 0, the shear modulus, in Pa; by material. Together with "
                "lambda, in place of E and nu.");
  add_parameter(
      "2D hypothesis", hypothesis,
      "What a two-dimensional problem is a section of: plane strain, of a long body that "
      "cannot extend (eps_zz = 0), or plane stress, of a thin plate (sigma_zz = 0). auto: "
      "as the elements of an .inp file say, plane stress of CPS, S and M3D elements and "
      "plane strain of CPE elements; plane strain where no names say it. Forces are "
      "those on 1 m of length or thickness. Without meaning in 3D.",
      prm, Patterns::Selection("auto|plane strain|plane stress"));
  add_parameter("Thermal expansion", thermal_expansion,
                "alpha, in 1/K; by material. The temperature strains the body by alpha dT I.");
  add_parameter("Temperature rise", temperature_rise,
                "dT, in K, above the temperature without strain; expression of x, y, z.");
  add_parameter("Yield stress", yield_stress,
                "In Pa, by material. If given, the safety factor, yield stress over von Mises "
                "stress, is in the output.");
}

void ElasticityParameters::declare_supports()
{
  add_parameter("Displacement", displacement,
                "Prescribed displacement on parts of the boundary, in m: 'ids: u_x, u_y, u_z; "
                "...', one expression for each direction or the word free, as '0: 0, 0, 0; 1: "
                "free, 0.1, free'. Curves (in 3D) and points of a mesh file may be named, too.");
  add_parameter(
      "Rotation", rotation,
      "Parts of the boundary that are turned as rigid ones: 'ids: c_x, c_y, angle' in 2D, "
      "'ids: c_x, c_y, c_z, a_x, a_y, a_z, angle' in 3D, with a point c of the axis in "
      "m, the direction a of the axis, both constant, and the angle in radians, an "
      "expression of x, y, z, counterclockwise if a points to the eye. u = (R - I)(x - "
      "c) with the full rotation matrix R, not its linear part; strains are linear in u, "
      "so keep angles small.");
  add_parameter("Symmetry planes", symmetry_planes,
                "Ids or names of plane parts of the boundary, separated by ',', that stay in their "
                "plane and slide freely: u.n = 0. They may be oblique.");
}

void ElasticityParameters::declare_loads()
{
  add_parameter("Body force", body_force,
                "Force per volume, in N/m^3: one expression of x, y, z for each direction, "
                "separated by ','; empty for none.");
  add_parameter("Traction", traction,
                "Force per area on parts of the boundary, in Pa: 'ids: t_x, t_y, t_z; ...'. Parts "
                "that are not named anywhere are free of traction. Of a mesh file also, by name, "
                "force per length on curves (in 3D), in N/m, and the force at each of named "
                "points, in N (in 2D for 1 m of length or thickness).");
  add_parameter("Pressure", pressure,
                "Pressure p on parts of the boundary, in Pa: 'ids: p; ...'; the traction -p n with "
                "the outer normal n, besides that of Traction.");
}
} // namespace femgpu
