#include "app/key_hints.h"

#include "app/declared_parameters.h"
#include "app/parameters.h"
#include "tests/message_checks.h"

#include <deal.II/base/parameter_acceptor.h>

#include <gtest/gtest.h>
#include <string>

namespace femgpu
{
namespace
{
TEST(KeyHints, NameKeysThatExist)
{
  const Parameters parameters;
  const DeclaredParameters declared(dealii::ParameterAcceptor::prm);
  for (const std::string &path : keys_of_hints()) {
    const std::size_t slash = path.find('/');
    ASSERT_NE(slash, std::string::npos) << path;
    EXPECT_NE(declared.find(path.substr(0, slash), path.substr(slash + 1)), nullptr) << path;
  }
}

TEST(KeyHints, DependOnTheSection)
{
  EXPECT_TRUE(contains(key_hint("Elasticity", "Temperature"), "use 'Elasticity/Temperature rise'"));
  EXPECT_TRUE(contains(key_hint("Heat", "Temperature"), "use 'Heat/Dirichlet'"));
  EXPECT_TRUE(contains(key_hint("Elasticity", "Spring"), "elasticity has no springs"));
  EXPECT_EQ(key_hint("Poisson", "Spring"), "use 'Poisson/Robin'");
  EXPECT_TRUE(contains(key_hint("Heat", "Density"), "use 'Heat/Heat capacity'"));
  EXPECT_TRUE(contains(key_hint("Poisson", "Initial condition"), "use 'Poisson/Initial value'"));
}

TEST(KeyHints, NameAlternativesToWhatFemgpuDoesNotDo)
{
  EXPECT_TRUE(contains(key_hint("Elasticity", "Weight"), "use 'Elasticity/Gravity'"));
  EXPECT_TRUE(contains(key_hint("Elasticity", "Mass"), "use 'Elasticity/Density'"));
  for (const char *term : {"Contact", "Contacts", "Eigenvalues", "Viscosity"})
    EXPECT_TRUE(contains(key_hint("", term), "docs/limits.md")) << term;
  EXPECT_TRUE(contains(key_hint("", "Transient"), "set 'Analysis = transient'"));
  EXPECT_TRUE(contains(key_hint("Heat", "time_step"), "use 'Time/Step'"));
}

TEST(KeyHints, IgnoreCaseHyphensAndPlurals)
{
  for (const char *name : {"Young modulus", "YOUNGS_MODULUS", "young-modulus", "E"})
    EXPECT_EQ(key_hint("Material", name), "use 'Elasticity/Young's modulus'") << name;
  EXPECT_EQ(key_hint("Elasticity", "Zyx"), "");
}
} // namespace
} // namespace femgpu
