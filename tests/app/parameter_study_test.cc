#include "app/parameter_study.h"
#include "tests/message_checks.h"

#include <gtest/gtest.h>

namespace femgpu
{
namespace
{
using Texts = std::vector<std::string>;

Texts values_of(const std::string &list)
{
  return parse_studies({"A/B=" + list}).at(0).values;
}

std::string study_error(const Texts &texts)
{
  return text_of_error<ParameterError>(ExitCode::parameter, [&] { parse_studies(texts); });
}

TEST(ParameterStudy, SplitsAtCommasAndTrims)
{
  const auto parameters = parse_studies({"Solver/Preconditioner = jacobi, fsai power=2 ,none"});
  ASSERT_EQ(parameters.size(), 1U);
  EXPECT_EQ(parameters[0].path, "Solver/Preconditioner");
  EXPECT_EQ(parameters[0].values, (Texts{"jacobi", "fsai power=2", "none"}));
}

TEST(ParameterStudy, KeepsCommasInParenthesesAndQuotes)
{
  EXPECT_EQ(values_of("atan2(x, y), if(x<0, (1), 2)"), (Texts{"atan2(x, y)", "if(x<0, (1), 2)"}));
  EXPECT_EQ(values_of("'0: x, y', \"0, 1: it's\""), (Texts{"0: x, y", "0, 1: it's"}));
  EXPECT_EQ(values_of("'',1"), (Texts{"", "1"}));
  EXPECT_EQ(values_of("'a' + 'b'"), (Texts{"'a' + 'b'"})); // quotes around parts only
}

TEST(ParameterStudy, RangesAreIntegersUpOrDown)
{
  EXPECT_EQ(values_of("1..4"), (Texts{"1", "2", "3", "4"}));
  EXPECT_EQ(values_of("1, 3..2, 7"), (Texts{"1", "3", "2", "7"}));
  EXPECT_EQ(values_of("-1..1"), (Texts{"-1", "0", "1"}));
  EXPECT_EQ(values_of("5..5"), (Texts{"5"}));
  EXPECT_EQ(values_of("1.5..2"), (Texts{"1.5..2"})); // not integers, so it is an ordinary value
  EXPECT_EQ(values_of("'1..2'"), (Texts{"1..2"}));
}

TEST(ParameterStudy, RefusesWhatItCannotRead)
{
  EXPECT_TRUE(contains(study_error({"Solver/Solver"}), "has no '='"));
  EXPECT_TRUE(contains(study_error({"A/B="}), "empty value"));
  EXPECT_TRUE(contains(study_error({"A/B=1,,2"}), "empty value"));
  EXPECT_TRUE(contains(study_error({"A/B=(1"}), "a '(' without a ')'"));
  EXPECT_TRUE(contains(study_error({"A/B=1)"}), "a ')' without a '('"));
  EXPECT_TRUE(contains(study_error({"A/B='1"}), "quotation mark without a closing one"));
  EXPECT_TRUE(contains(study_error({"A/B=1", "A/B=2"}), "repeats a parameter"));
  EXPECT_TRUE(contains(study_error({"A/B=1,2,1"}), "'1' twice"));
  EXPECT_TRUE(
      contains(study_error({"A/B=load: 0,0,1,load: 0,0,2"}),
               "put each value that contains commas in quotes: --study \"A/B='...','...'\""));
  EXPECT_TRUE(contains(study_error({"A/B=1..100000"}), "more than 1000"));
  EXPECT_TRUE(contains(study_error({"Output/Directory=a,b"}), "its own subdirectory"));
}

TEST(ParameterStudy, CombinesAllValuesTheLastParameterFastest)
{
  const auto all = combinations(
      parse_studies({"Solver/Preconditioner=jacobi,fsai", "Discretization/Degree=1..3"}));
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0].values, (Texts{"jacobi", "1"}));
  EXPECT_EQ(all[1].values, (Texts{"jacobi", "2"}));
  EXPECT_EQ(all[5].values, (Texts{"fsai", "3"}));
  EXPECT_EQ(all[5].directory, "Preconditioner=fsai,Degree=3");
  EXPECT_THROW(combinations(parse_studies({"A/B=1..100", "A/C=1..100"})), ParameterError);
}

TEST(ParameterStudy, DirectoriesAreSafeAndDistinct)
{
  const auto all =
      combinations(parse_studies({"A/B='../x','..|x','" + std::string(300, 'a') + "'"}));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].directory, "B=.._x");
  EXPECT_EQ(all[1].directory, "B=.._x,2");
  EXPECT_LE(all[2].directory.size(), 120U);
}

TEST(ParameterStudy, NamesAreKeysUnlessTwoHaveTheSame)
{
  EXPECT_EQ(short_names(parse_studies({"Solver/Solver=a", "Dimension=2"})),
            (Texts{"Solver", "Dimension"}));
  EXPECT_EQ(short_names(parse_studies({"Solver/Relative tolerance=1", "Nonlinear/Relative "
                                                                      "tolerance=1"})),
            (Texts{"Solver/Relative tolerance", "Nonlinear/Relative tolerance"}));
}
} // namespace
} // namespace femgpu
