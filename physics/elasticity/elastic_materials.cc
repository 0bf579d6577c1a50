#include "physics/elasticity/elastic_materials.h"

#include "linalg/base/error.h"
#include "physics/base/fields.h"

#include <deal.II/base/quadrature_lib.h>
#include <deal.II/fe/mapping.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace femgpu
{
using namespace dealii;

namespace
{
const std::string section = "Elasticity/";

/// Checks which constants are given. @throws ParameterError if E or ν is given together with λ or
/// μ, or if only one of λ and μ or of α and ΔT is given
void check_pairs(const ElasticityParameters &p)
{
  const bool by_young = !is_blank(p.young) || !is_blank(p.poisson);
  const bool by_lame = !is_blank(p.lambda) || !is_blank(p.mu);
  if (by_young && by_lame)
    throw ParameterError(
        "Both Young's modulus or Poisson's ratio and Lame's lambda or mu are given. Keep Young's "
        "modulus and Poisson's ratio, or Lame's lambda and Lame's mu.",
        section + (is_blank(p.lambda) ? "Lame's mu" : "Lame's lambda"));
  if (is_blank(p.lambda) != is_blank(p.mu))
    throw ParameterError("Only one of Lame's lambda and Lame's mu is given. Add the other, or use "
                         "Young's modulus and Poisson's ratio.",
                         section + (is_blank(p.lambda) ? "Lame's mu" : "Lame's lambda"));
  if (is_blank(p.thermal_expansion) != is_blank(p.temperature_rise))
    throw ParameterError(
        "Thermal strain needs both Thermal expansion and Temperature rise, but only one of them is "
        "given. Add the other, or remove it.",
        section + (is_blank(p.temperature_rise) ? "Thermal expansion" : "Temperature rise"));
}

/// Returns the points of a coarse cell at which ElasticMaterials::check() evaluates constants; they
/// are few enough to take no noticeable time.
template <int dim>
Quadrature<dim> sample(const bool is_simplex, const std::size_t n_cells)
{
  if (is_simplex)
    return QGaussSimplex<dim>(4);
  const double n_intervals = std::pow(5e4 / static_cast<double>(n_cells), 1. / dim);
  return QIterated<dim>(QTrapezoid<1>(),
                        static_cast<unsigned int>(std::clamp(n_intervals, 2., 32.)));
}

/// Returns the hypothesis that an Abaqus element type implies: "plane stress", "plane strain",
/// "generalised plane strain", or "" if the type does not imply one.
std::string hypothesis_of(const std::string &element_type)
{
  static const std::vector<std::pair<std::string, std::string>> of_prefixes = {
      {"CPEG", "generalised plane strain"},
      {"CPE", "plane strain"},
      {"CPS", "plane stress"},
      {"M3D", "plane stress"},
      {"SFM3D", ""},
      {"S", "plane stress"}};
  for (const auto &[prefix, hypothesis] : of_prefixes)
    if (element_type.rfind(prefix, 0) == 0)
      return hypothesis;
  return "";
}

/**
 * Returns the hypothesis of a 2D problem: "plane strain" or "plane stress".
 * @param requested Elasticity/2D hypothesis
 * @param types the element types in the mesh file, which decide if @p requested is auto
 * @throws ParameterError if the types contradict each other or @p requested
 */
std::string plane_hypothesis(const std::string &requested, const ElementTypes &types)
{
  const std::string path = section + "2D hypothesis";
  const auto text = [](const auto &type, const std::string &hypothesis) {
    return type.first + " elements of " + type.second + " are for " + hypothesis;
  };
  std::string result = requested == "auto" ? "" : requested;
  for (auto type = types.begin(); type != types.end(); ++type) {
    const std::string hypothesis = hypothesis_of(type->first);
    if (hypothesis.empty())
      continue;
    if (hypothesis == "generalised plane strain")
      throw ParameterError("The " + text(*type, hypothesis) +
                               ", which is not supported. Use CPE elements for plane strain or CPS "
                               "elements for plane stress.",
                           path);
    for (auto other = types.begin(); other != type; ++other)
      if (const std::string first = hypothesis_of(other->first);
          !first.empty() && first != hypothesis)
        throw ParameterError("The " + text(*other, first) + ", but " + text(*type, hypothesis) +
                                 ". Use elements of one hypothesis in a mesh.",
                             path);
    if (!result.empty() && result != hypothesis)
      throw ParameterError(path + " is " + requested + ", but the " + text(*type, hypothesis) +
                               ". Set it to auto, or change the type of the elements.",
                           path);
    result = hypothesis;
  }
  return result.empty() ? "plane strain" : result;
}
} // namespace

double von_mises(const SymmetricTensor<2, 3> &stress)
{
  return std::sqrt(1.5) * deviator(stress).norm();
}

double safety_factor(const double yield_stress, const double von_mises_stress)
{
  // compares without a division, because the stress may be zero
  return yield_stress >= largest_safety_factor * von_mises_stress ? largest_safety_factor
                                                                  : yield_stress / von_mises_stress;
}

/**
 * Computes the eigenvalues m + 2 √(J2/3) cos(θ + 2πk/3) with the mean stress m and the Lode angle θ
 * (Lode 1926): cos 3θ = √27/2 det s, where s is the deviator divided by √J2. If two eigenvalues are
 * close, θ is ill-conditioned as a function of cos 3θ, so sin 3θ is computed as well. The
 * discriminant is the Gram determinant of I, s and s², a sum of squares (Cauchy, Binet) without
 * cancellation. eigenvalues() of deal.II loses half of the digits if two eigenvalues are equal.
 * deal.II's Jacobi method is as accurate as this one but takes four times as long, which would
 * make the output of elasticity 50 % slower.
 */
std::array<double, 3> principal_stresses(const SymmetricTensor<2, 3> &stress)
{
  const double mean = trace(stress) / 3.;
  const double J2 = 0.5 * (deviator(stress) * deviator(stress));
  if (!(J2 > 0.))
    return {mean, mean, mean};
  const SymmetricTensor<2, 3> s = deviator(stress) / std::sqrt(J2);
  const double S[6] = {s[0][0], s[1][1], s[2][2], s[1][2], s[0][2], s[0][1]};
  const double T[6] = {
      S[0] * S[0] + S[5] * S[5] + S[4] * S[4], S[5] * S[5] + S[1] * S[1] + S[3] * S[3],
      S[4] * S[4] + S[3] * S[3] + S[2] * S[2], S[5] * S[4] + S[1] * S[3] + S[3] * S[2],
      S[0] * S[4] + S[5] * S[3] + S[4] * S[2], S[0] * S[5] + S[5] * S[1] + S[4] * S[3]}; // s²
  const double D = (S[1] - S[0]) * (T[2] - T[0]) - (S[2] - S[0]) * (T[1] - T[0]);
  double discriminant = D * D;
  for (unsigned int a = 0; a < 3; ++a)
    for (unsigned int k = 3; k < 6; ++k) {
      const unsigned int b = (a + 1) % 3, l = k == 5 ? 3 : k + 1;
      const double one = (S[b] - S[a]) * T[k] - S[k] * (T[b] - T[a]);
      const double two = S[k] * T[l] - S[l] * T[k];
      discriminant += 2. * one * one + 4. * two * two;
    }
  const double theta = std::atan2(std::sqrt(discriminant), std::sqrt(27.) * determinant(s)) / 3.;
  const double r = 2. * std::sqrt(J2 / 3.), third = 2. * numbers::PI / 3.;
  return {mean + r * std::cos(theta), mean + r * std::cos(theta - third),
          mean + r * std::cos(theta + third)};
}

template <int dim>
ElasticMaterials<dim>::ElasticMaterials(const ElasticityParameters &p, const MeshRegions &regions)
    : is_plane_stress(dim == 2 &&
                      plane_hypothesis(p.hypothesis, regions.cell_types) == "plane stress"),
      temperature_rise(
          make_optional_field<dim>(section + "Temperature rise", p.temperature_rise, 1, regions))
{
  check_pairs(p);
  uses_young_modulus = is_blank(p.lambda);
  const MeshRegions steady = regions.without_time();
  const auto fields = [&](const std::string &key, const std::string &text) {
    return make_material_fields<dim>(section + key, text, 1, steady);
  };
  const auto first =
      uses_young_modulus ? fields("Young's modulus", p.young) : fields("Lame's lambda", p.lambda);
  const auto second =
      uses_young_modulus ? fields("Poisson's ratio", p.poisson) : fields("Lame's mu", p.mu);
  MaterialFields<dim> expansion;
  if (!is_blank(p.thermal_expansion))
    expansion = fields("Thermal expansion", p.thermal_expansion);
  for (const auto &[id, field] : first) {
    Material material;
    material.first = field;
    material.second = second.at(id);
    if (!expansion.empty())
      material.expansion = expansion.at(id);
    material.is_uniform = material.first->is_constant() && material.second->is_constant();
    material.name = "material id " + regions.materials.list({id});
    if (material.is_uniform) {
      reject_invalid_constants(material, Point<dim>());
      material.uniform =
          moduli(material.first->value(Point<dim>()), material.second->value(Point<dim>()), 0.);
    }
    materials[id] = material;
  }
  if (!is_blank(p.yield_stress))
    yield = fields("Yield stress", p.yield_stress);
  for (const auto &[id, field] : yield)
    if (field->is_constant() && !(field->value(Point<dim>()) > 0.))
      throw ParameterError("The yield stress of " + materials.at(id).name +
                               " is not positive. Set it in the unit of stress, for example 250e6, "
                               "or remove the parameter.",
                           section + "Yield stress");
}

template <int dim>
void ElasticMaterials<dim>::reject_invalid_constants(const Material &material,
                                                     const Point<dim> &point) const
{
  const double first = material.first->value(point), second = material.second->value(point);
  const auto reject = [&](const std::string &key, const double value, const std::string &advice) {
    std::ostringstream text;
    text << key << " of " << material.name;
    if (!material.is_uniform)
      text << " at (" << point << ")";
    text << " is " << value << ", but " << advice;
    throw ParameterError(text.str(), section + key);
  };
  if (uses_young_modulus && !(first > 0. && std::isfinite(first)))
    reject("Young's modulus", first,
           "must be positive. Set E in the unit of stress, for example 210e9.");
  if (uses_young_modulus && !(second < 0.5))
    reject("Poisson's ratio", second,
           "must be less than 0.5, because displacements do not determine the pressure of an "
           "incompressible material. For nearly incompressible materials, use 0.49 and "
           "Discretization/Degree 2 or more.");
  if (uses_young_modulus && !(second > -1.))
    reject("Poisson's ratio", second,
           "must be greater than -1, where the shear modulus is infinite.");
  if (!uses_young_modulus && !(second > 0. && std::isfinite(second)))
    reject("Lame's mu", second, "must be positive: it is the shear modulus.");
  if (!uses_young_modulus && !(first > -2. / 3. * second && std::isfinite(first)))
    reject("Lame's lambda", first,
           "must be finite and greater than -2/3 mu, where the bulk modulus is zero.");
}

template <int dim>
void ElasticMaterials<dim>::check(const Mesh<dim> &mesh) const
{
  if (std::all_of(materials.begin(), materials.end(),
                  [](const auto &entry) { return entry.second.is_uniform; }))
    return;
  const Mapping<dim> &mapping =
      mesh.coarse().get_reference_cells()[0].template get_default_linear_mapping<dim>();
  const Quadrature<dim> points = sample<dim>(mesh.is_simplex, mesh.coarse().n_cells(0));
  // The coarse mesh is replicated, so all ranks get the same result.
  for (const auto &cell : mesh.coarse().cell_iterators_on_level(0)) {
    const Material &material = materials.at(cell->material_id());
    if (!material.is_uniform)
      for (const Point<dim> &p : points.get_points())
        reject_invalid_constants(material, mapping.transform_unit_to_real_cell(cell, p));
  }
}

template <int dim>
ElasticModuli ElasticMaterials<dim>::moduli(const double first, const double second,
                                            const double thermal_strain) const
{
  ElasticModuli m;
  m.lambda = uses_young_modulus ? first * second / ((1. + second) * (1. - 2. * second)) : first;
  m.mu = uses_young_modulus ? first / (2. * (1. + second)) : second;
  m.thermal_strain = thermal_strain;
  m.effective_lambda = m.lambda;
  m.thermal_pressure = (3. * m.lambda + 2. * m.mu) * thermal_strain;
  if (is_plane_stress) {
    // For the elastic strains, σ_zz = 0 = λ (tr ε + ε_zz) + 2μ ε_zz determines ε_zz.
    m.effective_lambda = 2. * m.lambda * m.mu / (m.lambda + 2. * m.mu);
    m.thermal_pressure = 2. * (m.effective_lambda + m.mu) * thermal_strain;
  }
  return m;
}

template <int dim>
std::vector<ElasticModuli> ElasticMaterials<dim>::moduli(const std::vector<Point<dim>> &points,
                                                         const types::material_id id) const
{
  const Material &material = materials.at(id);
  if (material.is_uniform && !temperature_rise)
    return std::vector<ElasticModuli>(points.size(), material.uniform);
  std::vector<double> first, second, expansion, rise;
  material.first->value_list(points, first);
  material.second->value_list(points, second);
  if (temperature_rise) {
    material.expansion->value_list(points, expansion);
    temperature_rise->value_list(points, rise);
  }
  std::vector<ElasticModuli> result;
  for (std::size_t q = 0; q < points.size(); ++q)
    result.push_back(moduli(first[q], second[q], temperature_rise ? expansion[q] * rise[q] : 0.));
  return result;
}

template <int dim>
ElasticState ElasticMaterials<dim>::state(const ElasticModuli &m, const PointBatch<dim> &at,
                                          const unsigned int q) const
{
  const double thermal = m.thermal_strain;
  ElasticState state;
  for (unsigned int a = 0; a < dim; ++a)
    for (unsigned int b = 0; b <= a; ++b)
      state.strain[a][b] = (at.gradient(a, b)[q] + at.gradient(b, a)[q]) / 2.;
  if (is_plane_stress)
    state.strain[2][2] =
        thermal - m.lambda / (m.lambda + 2. * m.mu) * (trace(state.strain) - 2. * thermal);
  const SymmetricTensor<2, 3> elastic = state.strain - thermal * unit_symmetric_tensor<3>();
  state.stress = m.lambda * trace(elastic) * unit_symmetric_tensor<3>() + 2. * m.mu * elastic;
  if (is_plane_stress)
    state.stress[2][2] = 0.; // removes rounding errors
  state.energy_density = 0.5 * (state.stress * elastic);
  return state;
}

template class ElasticMaterials<2>;
template class ElasticMaterials<3>;
} // namespace femgpu
