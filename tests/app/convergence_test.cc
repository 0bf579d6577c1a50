#include "app/convergence.h"
#include "app/parameter_study.h"
#include "app/study_report.h"

#include <gtest/gtest.h>

#include <cmath>

namespace femgpu
{
namespace
{
/// Returns a 2D study with global refinement that has converged in every cycle.
StudyRecord study_of(const std::vector<double> &values)
{
  StudyRecord study;
  for (std::size_t i = 0; i < values.size(); ++i) {
    CycleRecord cycle;
    cycle.cycle = static_cast<unsigned int>(i);
    cycle.cells = std::size_t(1) << (2 * i);
    cycle.dofs = cycle.cells;
    cycle.solve.report.outcome = linalg::Outcome::converged;
    cycle.quantities = {{"u", values[i]}};
    study.cycles.push_back(cycle);
  }
  return study;
}

Extrapolation extrapolation_of(const std::vector<double> &values)
{
  return extrapolations(study_of(values)).at(0);
}

TEST(Extrapolation, FindsLimitAndOrderOfPowers)
{
  // 1 + h^2/4 with h = 1, 1/2, 1/4
  const Extrapolation e = extrapolation_of({1.25, 1.0625, 1.015625});
  ASSERT_TRUE(e.value && e.order && e.relative_error);
  EXPECT_NEAR(*e.value, 1., 1e-14);
  EXPECT_NEAR(*e.order, 2., 1e-13);
  EXPECT_NEAR(*e.relative_error, 0.015625, 1e-14);
}

/// Returns the @p n values 3 + h^order for h = 1, 1/2, 1/4, ...
std::vector<double> power(const double order, const unsigned int n)
{
  std::vector<double> values;
  for (unsigned int k = 0; k < n; ++k)
    values.push_back(3. + std::exp2(-order * k));
  return values;
}

TEST(Extrapolation, OfFourValuesNeedsOneLawOfAnyOrder)
{
  for (const double order : {0.54, 1., 4. / 3., 2., 3.3}) {
    const Extrapolation e = extrapolation_of(power(order, 4));
    ASSERT_TRUE(e.value && e.order) << e.obstacle;
    EXPECT_NEAR(*e.value, 3., 1e-13);
    EXPECT_NEAR(*e.order, order, 1e-12);
  }
  // the last three values alone would have the order 2
  const Extrapolation e = extrapolation_of({7., 1.25, 1.0625, 1.015625});
  EXPECT_FALSE(e.value || e.order);
  EXPECT_NE(e.obstacle.find("orders, 4.94 and 2"), std::string::npos) << e.obstacle;
  EXPECT_NEAR(*extrapolation_of({9., 7., 1.25, 1.0625, 1.015625, 1.00390625}).value, 1., 1e-14);
}

TEST(Extrapolation, OfThreeValuesNeedsAnOrderOfTheory)
{
  EXPECT_TRUE(extrapolation_of(power(2., 3)).value);
  EXPECT_TRUE(extrapolation_of(power(1.95, 3)).value);
  const Extrapolation e = extrapolation_of(power(4. / 3., 3));
  EXPECT_FALSE(e.value || e.order);
  EXPECT_NE(e.obstacle.find("order 1.33"), std::string::npos) << e.obstacle;
  EXPECT_NE(e.obstacle.find("fourth cycle"), std::string::npos) << e.obstacle;
}

TEST(Extrapolation, NeverEndsBelowZeroForWhatCannotBeNegative)
{
  std::vector<double> values; // roughly a safety factor at a corner: 0.001 + 40 h^0.45
  for (const double h : {1., 0.5, 0.25, 0.125})
    values.push_back(0.001 + 40. * std::pow(h, 0.45) - 0.1 * h);
  StudyRecord study = study_of(values);
  ASSERT_TRUE(extrapolations(study).at(0).value);
  for (CycleRecord &cycle : study.cycles)
    cycle.quantities[0].is_nonnegative = true;
  const Extrapolation e = extrapolations(study).at(0);
  EXPECT_FALSE(e.value || e.order);
  EXPECT_NE(e.obstacle.find("cannot be negative"), std::string::npos) << e.obstacle;
  EXPECT_FALSE(quantity_in(study, 3, study.cycles[3].quantities[0]).order);

  study = study_of({1., 1., 1.});
  for (std::size_t k = 0; k < 3; ++k)
    study.cycles[k].norms = SolutionNorms{std::exp2(-2. * k) - 0.01, 1.};
  EXPECT_FALSE(extrapolations(study).at(1).value);
}

TEST(Extrapolation, OfAStressAtACornerIsRefused)
{
  const Extrapolation e = extrapolation_of(power(-0.45, 4));
  EXPECT_FALSE(e.value || e.order);
  EXPECT_NE(e.obstacle.find("do not decrease"), std::string::npos) << e.obstacle;
}

TEST(Extrapolation, TakesTheOrdersOfFunctionalsAndOfQuadrature)
{
  for (unsigned int degree = 1; degree <= 4; ++degree)
    for (const unsigned int order : {degree, 2 * degree, 2 * degree + 2}) {
      const double e = std::exp2(-static_cast<double>(order));
      StudyRecord study = study_of({8. + 1e-3, 8. + 1e-3 * e, 8. + 1e-3 * e * e});
      study.degree = degree;
      const Extrapolation found = extrapolations(study).at(0);
      ASSERT_TRUE(found.value && found.order) << found.obstacle;
      EXPECT_NEAR(*found.value, 8., 1e-8);
      EXPECT_NEAR(*found.order, order, 1e-3);
    }
}

TEST(Extrapolation, SaysWhyThereIsNone)
{
  EXPECT_NE(extrapolation_of({1., 2., 1.5}).obstacle.find("monotone"), std::string::npos);
  EXPECT_NE(extrapolation_of({1., 2., 3.}).obstacle.find("do not decrease"), std::string::npos);
  EXPECT_NE(extrapolation_of({1., 2., 2.0001}).obstacle.find("plausible"), std::string::npos);
  EXPECT_FALSE(extrapolation_of({1., 2., 3.}).value);
  EXPECT_NE(to_string(extrapolation_of({1., 2., 1.5})).find("not extrapolated"), std::string::npos);
}

TEST(Extrapolation, TakesWhatNoLongerChanges)
{
  const Extrapolation e = extrapolation_of({2., 2., 2. + 1e-15});
  EXPECT_EQ(*e.value, 2. + 1e-15);
  EXPECT_FALSE(e.order);
}

TEST(Extrapolation, NeedsThreeGlobalCyclesThatConverged)
{
  EXPECT_TRUE(extrapolations(study_of({1., 2.})).empty());
  StudyRecord study = study_of({1.25, 1.0625, 1.015625});
  study.is_adaptive = true;
  EXPECT_TRUE(extrapolations(study).empty());
  EXPECT_FALSE(quantity_in(study, 2, study.cycles[2].quantities[0]).order);
  study.is_adaptive = false;
  EXPECT_TRUE(quantity_in(study, 2, study.cycles[2].quantities[0]).order);
  study.cycles.back().cells -= 3; // some cells were not refined, as with Study/Maximum level
  EXPECT_TRUE(extrapolations(study).empty());
  study = study_of({1.25, 1.0625, 1.015625});
  study.cycles.back().solve.report.outcome = linalg::Outcome::iteration_limit;
  EXPECT_TRUE(extrapolations(study).empty());
}

/// Returns an adaptive study with an H1 error of dofs^-s.
StudyRecord adaptive_study(const double s)
{
  StudyRecord study = study_of({1., 1., 1., 1., 1., 1.});
  study.is_adaptive = true;
  for (CycleRecord &cycle : study.cycles) {
    cycle.dofs = 10 + 7 * cycle.cells;
    ErrorNorms errors;
    errors.H1 = std::pow(cycle.dofs, -s);
    errors.exact_H1 = 1.;
    cycle.errors = errors;
    cycle.estimate = ErrorEstimate{2. * errors.H1, 1., 2.};
  }
  return study;
}

TEST(Convergence, OrdersAfterAdaptiveRefinementAreByDofs)
{
  const StudyRecord study = adaptive_study(0.5);
  EXPECT_NEAR(*observed_order(study, 5, &ErrorNorms::H1), 1., 1e-12);
  EXPECT_NEAR(*estimated_order(study, 5), 1., 1e-12);
  ASSERT_EQ(verdicts(study).size(), 1U);
  EXPECT_TRUE(verdicts(study)[0].is_met && verdicts(study)[0].is_rate_in_dofs);
  EXPECT_NEAR(verdicts(study)[0].observed, 0.5, 1e-12);
  EXPECT_FALSE(verdicts(adaptive_study(1. / 3.))[0].is_met);
}

TEST(Convergence, TablesHaveALineForEachCycleInEveryForm)
{
  const TableTexts table = convergence_table(adaptive_study(0.5));
  EXPECT_NE(table.plain.find("H1 error"), std::string::npos);
  EXPECT_EQ(table.markdown.find("| cycle"), 0U) << table.markdown;
  EXPECT_NE(table.markdown.find("\n|---|"), std::string::npos) << table.markdown;
  EXPECT_EQ(table.latex.find("\\begin{tabular}"), 0U) << table.latex;
  EXPECT_NE(table.latex.find("\\end{tabular}"), std::string::npos);
  EXPECT_EQ(table.plain.find("\"\""), std::string::npos);
  EXPECT_NE(table.plain.find("dofs^-0.50"), std::string::npos);
}

TEST(StudyTable, HasAllQuantitiesAndEmptyPlaces)
{
  ParameterStudy study;
  study.parameters = parse_studies({"Solver/Preconditioner=a_b,'c, d'"});
  study.combinations = combinations(study.parameters);
  study.combinations[0].study = study_of({1., 2.});
  study.combinations[1].study = study_of({3.});
  study.combinations[1].study.cycles[0].quantities[0].name = "w|w";
  const std::string csv = study_csv(study);
  EXPECT_EQ(csv.find("Solver/Preconditioner,cycle,cells,dofs,"), 0U) << csv;
  EXPECT_NE(csv.find(",true_residual,u,u_difference,u_order,w|w,w|w_difference,w|w_order,"),
            std::string::npos)
      << csv;
  EXPECT_NE(csv.find("\na_b,1,4,4,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\n\"c, d\",0,1,1,"), std::string::npos) << csv;
  const TableTexts table = study_table(study);
  EXPECT_NE(table.latex.find("a\\_b"), std::string::npos) << table.latex;
  EXPECT_NE(table.markdown.find("w\\|w"), std::string::npos) << table.markdown;
  EXPECT_NE(table.plain.find("c, d"), std::string::npos) << table.plain;
}

TEST(StudyTable, SaysWhichCombinationHasFailedAndHasNoNumbersOfIt)
{
  ParameterStudy study;
  study.parameters = parse_studies({"A/B=x,y"});
  study.combinations = combinations(study.parameters);
  study.combinations[0].failure = Error(ExitCode::device, "why");
  study.combinations[1].study = study_of({3.});
  const std::string csv = study_csv(study), markdown = study_table(study).markdown;
  EXPECT_NE(csv.find("\nx,,,,,,failed,,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\ny,0,1,1,"), std::string::npos) << csv;
  const std::size_t line = markdown.find("| x ");
  ASSERT_NE(line, std::string::npos) << markdown;
  const std::string numbers = markdown.substr(line, markdown.find('\n', line) - line);
  EXPECT_NE(numbers.find("failed"), std::string::npos) << markdown;
  EXPECT_EQ(numbers.find('0'), std::string::npos) << markdown;
}

TEST(QuantityTable, HasDifferencesOfWhatConvergesAlone)
{
  StudyRecord study = study_of({1., 2.});
  for (CycleRecord &cycle : study.cycles)
    cycle.quantities.push_back({"place", 0.5, false});
  const std::string csv = convergence_csv(study);
  EXPECT_NE(csv.find(",u,u_difference,u_order,place,"), std::string::npos) << csv;
  EXPECT_EQ(csv.find("place_difference"), std::string::npos) << csv;
}

TEST(Csv, QuotesByTheStandard)
{
  EXPECT_EQ(csv_of({{{"a", "1"}, {"b,c", "say \"x\""}, {"d", ""}}}),
            "a,\"b,c\",d\n1,\"say \"\"x\"\"\",\n");
}
} // namespace
} // namespace femgpu
