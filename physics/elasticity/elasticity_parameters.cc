#include "physics/elasticity/elasticity_parameters.h"

#include "physics/base/fields.h"

namespace femgpu
{
using namespace dealii;

ElasticityParameters::ElasticityParameters() : ParameterAcceptor("/Elasticity")
{
  declare_materials();
  declare_supports();
  declare_loads();
  add_parameter("Reactions", reports_reactions,
                "Report the forces, in N, and moments, in N m, of all loads together and of each "
                "support, and the defect of their balance. In 2D they are per 1 m of length or "
                "thickness.");
  add_parameter(
      "Moment point", moment_point,
      "The point to which the moments of reactions and loads refer: its coordinates in m, "
      "separated by ','. Empty: the origin.");
  add_parameter(
      "Exact solution", exact_solution,
      "Exact displacement, one expression for each direction, separated by ','. If given, femgpu "
      "computes the errors in L2, H1 and Linf.");
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
                "and others for material ids or names, for example '210e9; aluminium: 70e9'. Must "
                "be given unless lambda and mu are.");
  add_parameter("Poisson's ratio", poisson,
                "nu, with -1 < nu < 0.5 and without unit; values by material as for Young's "
                "modulus. Must be given unless lambda and mu are.");
  add_parameter(
      "Lame's lambda", lambda,
      "lambda = E nu/((1 + nu)(1 - 2 nu)) > -2/3 mu, in Pa; values by material as for Young's "
      "modulus. lambda and mu replace E and nu.");
  add_parameter("Lame's mu", mu,
                "mu = E/(2 (1 + nu)) > 0, the shear modulus, in Pa; values by material as for "
                "Young's modulus. lambda and mu replace E and nu.");
  add_parameter(
      "2D hypothesis", hypothesis,
      "Hypothesis of two-dimensional problems; ignored in 3D. plane strain: a long body that "
      "cannot extend (eps_zz = 0). plane stress: a thin plate (sigma_zz = 0). auto: plane stress "
      "for an .inp file with CPS, S or M3D elements, otherwise plane strain. Forces are per 1 m of "
      "length or thickness.",
      prm, Patterns::Selection("auto|plane strain|plane stress"));
  add_parameter("Thermal expansion", thermal_expansion,
                "alpha, in 1/K; values by material as for Young's modulus. The thermal strain is "
                "alpha dT I, with dT = Temperature rise.");
  add_parameter("Temperature rise", temperature_rise,
                "dT, in K, relative to the strain-free temperature: an expression of x, y, z.");
  add_parameter(
      "Yield stress", yield_stress,
      "Yield stress in Pa; values by material as for Young's modulus. If given, the output "
      "includes the safety factor, the yield stress divided by the von Mises stress.");
}

void ElasticityParameters::declare_supports()
{
  add_parameter(
      "Displacement", displacement,
      "Prescribed displacement on parts of the boundary, in m: 'ids: u_x, u_y, u_z; ...', for "
      "example '0: 0, 0, 0; 1: free, 0.1, free'. Each component is an expression, or the word free "
      "if it is not prescribed. The ids may also be names of points, or in 3D of curves, of a mesh "
      "file.");
  add_parameter(
      "Rotation", rotation,
      "Prescribed rigid rotation of parts of the boundary: 'ids: c_x, c_y, angle' in 2D, 'ids: "
      "c_x, c_y, c_z, a_x, a_y, a_z, angle' in 3D. The constants c, in m, and a are a point and "
      "the direction of the axis. The angle, in radians, is an expression of x, y, z; it is "
      "positive by the right-hand rule. The displacement is (R - I)(x - c) with the full rotation "
      "matrix R, not its linear part. Keep angles small, because strains are linear in u.");
  add_parameter(
      "Symmetry planes", symmetry_planes,
      "Boundary ids or names, separated by ',', of planes on which the body slides freely (u.n = "
      "0). The planes may be oblique.");
}

void ElasticityParameters::declare_loads()
{
  add_parameter("Body force", body_force,
                "Force per volume, in N/m^3: one expression of x, y, z for each direction, "
                "separated by ','. Empty: none.");
  add_parameter("Traction", traction,
                "Force per area on parts of the boundary, in Pa: 'ids: t_x, t_y, t_z; ...'. "
                "Boundary ids without a condition are free of traction. If the mesh file names "
                "points, 'name: F_x, F_y, F_z' is the force at each of them, in N (in 2D in N per "
                "1 m of length or thickness). If a 3D mesh file names curves, the value is a force "
                "per length, in N/m.");
  add_parameter("Pressure", pressure,
                "Pressure p on parts of the boundary, in Pa: 'ids: p; ...'. It adds -p n to the "
                "traction, with the outer normal n.");
}
} // namespace femgpu
