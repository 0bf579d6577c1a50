#include "app/declared_parameters.h"
#include "app/parameter_file.h"
#include "linalg/base/error.h"
#include "tests/app/example_parameters.h"
#include "tests/message_checks.h"

#include <deal.II/base/parameter_handler.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace femgpu
{
namespace
{
class PrintedParameters : public testing::Test
{
protected:
  PrintedParameters()
  {
    declare(prm);
  }

  dealii::ParameterHandler prm;
};

TEST_F(PrintedParameters, PrintedParameterFileReadsBack)
{
  const std::string text = format_parameters("prm", prm);
  EXPECT_TRUE(contains(text, "# Vectors kept by GMRES."));
  EXPECT_LT(text.find("subsection Solver"), text.find("subsection Newton"));
  const ParameterLocations locations = apply_parameters(prm, {"printed.prm", text}, {});
  EXPECT_TRUE(locations.is_set("Solver/Krylov/Restart"));
}

TEST_F(PrintedParameters, PrintedJsonHasTypedValuesAndReadsBackIntoTheHandler)
{
  std::stringstream out(format_parameters("json", prm));
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["Dimension"]["default_value"], 2);
  EXPECT_EQ(json["Solver"]["Tolerance"]["value"], 1e-8);
  EXPECT_EQ(json["Solver"]["Verbose"]["value"], false);
  EXPECT_EQ(json["Solver"]["Method"]["value"], "cg");
  EXPECT_EQ(json["Solver"]["Krylov"]["Restart"]["documentation"], "Vectors kept by GMRES.");
  EXPECT_EQ(json["Newton"]["Damping"]["valid"], "a real number from 0 to 1");
  prm.parse_input_from_json(out);
  EXPECT_EQ(prm.get({"Solver", "Krylov"}, "Restart"), "30");
}

TEST(DeclaredParameter, NumbersAmongNamesAreNumbersInJson)
{
  const DeclaredParameter degree{"", "Degree", "2", "auto", "", "[Selection auto|1|2 ]"};
  EXPECT_EQ(degree.json_of(degree.value), 2);
  EXPECT_EQ(degree.json_of(degree.default_value), "auto");
}

TEST_F(PrintedParameters, PrintedMarkdownIsOneTableASectionWithPipesEscaped)
{
  const std::string text = format_parameters("md", prm);
  EXPECT_TRUE(contains(text, "## Top level\n\n| key | default | valid values | meaning |\n"));
  EXPECT_TRUE(contains(text, "## Solver/Krylov\n"));
  EXPECT_TRUE(contains(text, "| Method | `cg` | one of: cg, gmres, bicgstab, direct | Krylov "
                             "method \\| or direct. |\n"));
  EXPECT_TRUE(contains(text, "Relative \\*residual\\* &lt;= this."));
}

TEST(DeclaredParameter, SaysInWordsWhatIsValid)
{
  const auto valid_values = [](const Patterns::PatternBase &pattern) {
    return DeclaredParameter{"", "", "", "", "", pattern.description()}.valid_values();
  };
  EXPECT_EQ(valid_values(Patterns::Integer()), "an integer");
  EXPECT_EQ(valid_values(Patterns::Double()), "a real number");
  EXPECT_EQ(valid_values(Patterns::Double(Patterns::Double::min_double_value, 2)),
            "a real number <= 2");
  EXPECT_EQ(valid_values(Patterns::FileName()), "a file name");
  EXPECT_EQ(valid_values(Patterns::DirectoryName()), "a directory name");
  EXPECT_EQ(valid_values(Patterns::Selection("|a")), "one of: (nothing), a");
  EXPECT_EQ(valid_values(Patterns::List(Patterns::Double(), 3, 3, ";")),
            "exactly 3 items separated by ';', each a real number");
  EXPECT_EQ(valid_values(Patterns::List(Patterns::Integer(1), 2, 3)),
            "2 to 3 items separated by ',', each an integer >= 1");
  const DeclaredParameter own{"", "", "", "", "", "[My own pattern]"};
  EXPECT_EQ(own.valid_values(), "[My own pattern]");
  EXPECT_TRUE(own.accepts("anything"));
}
} // namespace
} // namespace femgpu
