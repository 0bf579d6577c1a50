#include "app/parameter_file.h"
#include "app/parameter_print.h"
#include "app/pattern_text.h"
#include "linalg/base/error.h"

#include <deal.II/base/parameter_handler.h>

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace femgpu
{
namespace
{
namespace Patterns = dealii::Patterns;

class ParameterPrint : public testing::Test
{
protected:
  ParameterPrint()
  {
    prm.declare_entry("Dimension", "2", Patterns::Integer(2, 3), "Space dimension d.");
    prm.enter_subsection("Solver");
    prm.declare_entry("Method", "cg", Patterns::Selection("cg|gmres|bicgstab|direct"),
                      "Krylov method | or direct.");
    prm.declare_alias("Method", "Solver name");
    prm.declare_entry("Tolerance", "1e-8", Patterns::Double(0), "Relative *residual* <= this.");
    prm.declare_entry("Verbose", "false", Patterns::Bool(), "Print more.");
    prm.enter_subsection("Krylov");
    prm.declare_entry("Restart", "30", Patterns::Integer(1), "Vectors kept by GMRES.");
    prm.leave_subsection();
    prm.leave_subsection();
    prm.enter_subsection("Newton");
    prm.declare_entry("Damping", "1", Patterns::Double(0, 1), "First step length.");
    prm.leave_subsection();
  }

  dealii::ParameterHandler prm;
};

bool holds(const std::string &text, const std::string &part)
{
  return text.find(part) != std::string::npos;
}

TEST_F(ParameterPrint, PrintedParameterFileReadsBack)
{
  std::ostringstream out;
  print_parameters(out, prm, ParameterFormat::prm);
  EXPECT_TRUE(holds(out.str(), "# Vectors kept by GMRES."));
  EXPECT_LT(out.str().find("subsection Solver"), out.str().find("subsection Newton"));
  const ParameterPlaces places = apply_parameters(prm, {"printed.prm", out.str()}, {});
  EXPECT_TRUE(places.is_given("Solver/Krylov/Restart"));
}

TEST_F(ParameterPrint, PrintedJsonHasTypedValuesAndReadsBackIntoTheHandler)
{
  std::stringstream out;
  print_parameters(out, prm, ParameterFormat::json);
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

TEST_F(ParameterPrint, PrintedMarkdownIsOneTableASectionWithPipesEscaped)
{
  std::ostringstream out;
  print_parameters(out, prm, ParameterFormat::md);
  EXPECT_TRUE(holds(out.str(), "## Top level\n\n| key | default | valid values | meaning |\n"));
  EXPECT_TRUE(holds(out.str(), "## Solver/Krylov\n"));
  EXPECT_TRUE(holds(out.str(), "| Method | `cg` | one of: cg, gmres, bicgstab, direct | Krylov "
                               "method \\| or direct. |\n"));
  EXPECT_TRUE(holds(out.str(), "Relative \\*residual\\* &lt;= this."));
  EXPECT_FALSE(holds(out.str(), "Solver name"));
}

TEST_F(ParameterPrint, PrintingIntoABrokenStreamIsAnOutputError)
{
  std::ofstream full("/dev/full");
  EXPECT_THROW(print_parameters(full, prm, ParameterFormat::md), OutputError);
  EXPECT_THROW(parameter_format("yaml"), ParameterError);
  EXPECT_EQ(parameter_format("json"), ParameterFormat::json);
}

TEST(PatternText, SaysInWordsWhatIsValid)
{
  EXPECT_EQ(valid_values(Patterns::Integer().description()), "an integer");
  EXPECT_EQ(valid_values(Patterns::Double().description()), "a real number");
  EXPECT_EQ(valid_values(Patterns::Double(Patterns::Double::min_double_value, 2).description()),
            "a real number <= 2");
  EXPECT_EQ(valid_values(Patterns::FileName().description()), "a file name");
  EXPECT_EQ(valid_values(Patterns::DirectoryName().description()), "a directory name");
  EXPECT_EQ(valid_values(Patterns::Selection("|a").description()), "one of: (nothing), a");
  EXPECT_EQ(valid_values(Patterns::MultipleSelection("a|b").description()),
            "any of, separated by ',': a, b");
  EXPECT_EQ(valid_values(Patterns::List(Patterns::Double(), 3, 3, ";").description()),
            "exactly 3 items separated by ';', each a real number");
  EXPECT_EQ(valid_values("[My own pattern]"), "[My own pattern]");
  EXPECT_TRUE(fits_pattern("[My own pattern]", "anything"));
}
} // namespace
} // namespace femgpu
