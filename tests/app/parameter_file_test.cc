#include "app/parameter_file.h"
#include "tests/app/example_parameters.h"
#include "tests/message_checks.h"

#include <deal.II/base/parameter_handler.h>

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace femgpu
{
namespace
{
std::string get(dealii::ParameterHandler &prm, const std::vector<std::string> &path,
                const std::string &key)
{
  return prm.get(path, key);
}

class ParameterFile : public testing::Test
{
protected:
  ParameterFile()
  {
    declare(prm);
  }

  ParameterLocations apply(const std::string &text, const std::vector<std::string> &overrides = {})
  {
    return apply_parameters(prm, {"run.prm", text}, overrides);
  }

  /// Returns the message of the error that @p text must cause.
  std::string error_of(const std::string &text, const std::vector<std::string> &overrides = {})
  {
    SCOPED_TRACE(text);
    std::string error =
        text_of_error<ParameterError>(ExitCode::parameter, [&] { apply(text, overrides); });
    EXPECT_EQ(error.find("deal.II"), std::string::npos) << error;
    EXPECT_EQ(error.find("ParameterHandler"), std::string::npos);
    return error;
  }

  dealii::ParameterHandler prm;
};

std::size_t lines_of(const std::string &text)
{
  return 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(ParameterFile, SetsValuesAtEveryDepth)
{
  apply("set Dimension = 3\n"
        "subsection Solver\n  set Method = gmres\n  subsection Krylov\n    set Restart=50\n  end\n"
        "end\n");
  EXPECT_EQ(prm.get("Dimension"), "3");
  EXPECT_EQ(get(prm, {"Solver"}, "Method"), "gmres");
  EXPECT_EQ(get(prm, {"Solver", "Krylov"}, "Restart"), "50");
  EXPECT_EQ(get(prm, {"Newton"}, "Steps"), "20");
}

TEST_F(ParameterFile, AcceptsCommentsContinuationsBlanksCapitalsAndForeignLineEnds)
{
  apply("\xEF\xBB\xBF# comment = 1\r\n"
        "\r\n"
        "\tSET  Dimension\t=  3   # three\r\n"
        "SUBSECTION Output\r\n"
        "  set Directory = a \\\r\n"
        "                  b\r\n"
        "END # Output\r\n"
        "subsection Output\n end\n"
        "subsection Newton\n set Steps = 4\n end");
  EXPECT_EQ(prm.get("Dimension"), "3");
  EXPECT_EQ(get(prm, {"Output"}, "Directory"), "a b");
  EXPECT_EQ(get(prm, {"Newton"}, "Steps"), "4");
}

TEST_F(ParameterFile, AcceptsAnEmptyFileAndAnEmptyHandler)
{
  apply("");
  apply("\\");
  dealii::ParameterHandler nothing;
  EXPECT_NO_THROW(apply_parameters(nothing, {"run.prm", "# nothing\n"}, {}));
  EXPECT_THROW(apply_parameters(nothing, {"run.prm", "set A = 1\n"}, {}), ParameterError);
}

TEST_F(ParameterFile, KeepsEqualsSignsAndQuotesInValues)
{
  apply("subsection Output\n set Directory = a=\"b\"\n set Boundary = 0: x==y; 3: 1\nend");
  EXPECT_EQ(get(prm, {"Output"}, "Directory"), "a=\"b\"");
  EXPECT_EQ(get(prm, {"Output"}, "Boundary"), "0: x==y; 3: 1");
}

TEST_F(ParameterFile, UnknownKeyNamesPlaceNearestKeyAndItsValidValues)
{
  EXPECT_EQ(error_of("subsection Solver\n set Tolerence = 1\nend"),
            "run.prm:2: unknown key 'Tolerence' in section 'Solver'; nearest valid key: "
            "'Tolerance' (a real number >= 0)");
  EXPECT_EQ(error_of("set Dimesion = 1"),
            "run.prm:1: unknown key 'Dimesion' at the top level; "
            "nearest valid key: 'Dimension' (an integer from 2 to 3)");
}

TEST_F(ParameterFile, UnknownKeyWithoutAHintListsAllKeysOfItsSection)
{
  EXPECT_EQ(error_of("subsection Solver\n set Zyx = 1\nend"),
            "run.prm:2: unknown key 'Zyx' in section 'Solver'; valid keys: 'Method', 'Tolerance', "
            "'Iterations', 'Verbose'");
}

TEST_F(ParameterFile, MisspelledKeyOfAnotherSectionNamesThatKey)
{
  EXPECT_EQ(error_of("subsection Newton\n set Tolerence = 1\nend"),
            "run.prm:2: unknown key 'Tolerence' in section 'Newton'; nearest valid keys: "
            "'Solver/Tolerance'");
}

TEST_F(ParameterFile, UnknownTermOfTheFieldNamesTheKeyToUse)
{
  EXPECT_EQ(error_of("subsection Solver\n set Young modulus = 1\nend"),
            "run.prm:2: unknown key 'Young modulus' in section 'Solver'; use 'Elasticity/Young's "
            "modulus'");
  EXPECT_TRUE(contains(error_of("subsection Contact\nend"),
                       "unknown subsection 'Contact' at the top level; femgpu has no contact"));
}

TEST_F(ParameterFile, UnknownKeyThatIsValidElsewhereNamesThatSection)
{
  const std::string error = error_of("subsection Solver\n set Restart = 10\nend");
  EXPECT_FALSE(contains(error, "valid keys")) << error;
  EXPECT_TRUE(contains(error, "this key is valid in 'Solver/Krylov'")) << error;
  EXPECT_TRUE(
      contains(error_of("subsection Newton\n set Dimension = 2\nend"), "valid in the top level"));
}

TEST_F(ParameterFile, KeyAndSectionTakenForEachOtherAreExplained)
{
  EXPECT_TRUE(contains(error_of("set Solver = cg"), "write 'subsection Solver'"));
  EXPECT_TRUE(contains(error_of("subsection Dimension\nend"), "write 'set Dimension = VALUE'"));
}

TEST_F(ParameterFile, UnknownSubsectionIsOneProblemWhateverItHolds)
{
  EXPECT_EQ(error_of("subsection Solvr\n set A = 1\n subsection B\n end\nend\n"
                     "subsection Newton\n set Steps = 3\nend"),
            "run.prm:1: unknown subsection 'Solvr' at the top level; nearest valid subsection: "
            "'Solver'");
  EXPECT_TRUE(
      contains(error_of("subsection Krylov\nend"), "sections of this name: 'Solver/Krylov'"));
}

TEST_F(ParameterFile, ValueOutsideTheRangeNamesKeyValueRangeAndDefault)
{
  EXPECT_EQ(error_of("set Dimension = 4"),
            "run.prm:1: value '4' of 'Dimension' is not valid; valid: an integer from 2 to 3; "
            "default: 2");
  EXPECT_TRUE(contains(error_of("subsection Solver\n\n set Tolerance = -1\nend"),
                       "run.prm:3: value '-1' of 'Solver/Tolerance' is not valid; valid: a real "
                       "number >= 0"));
  for (const char *value : {"nan", "inf", "1e400", "1,5", "", "ten"})
    EXPECT_TRUE(
        contains(error_of(std::string("subsection Solver\n set Tolerance = ") + value + "\nend"),
                 "valid: a real number >= 0"))
        << value;
  EXPECT_TRUE(contains(error_of("subsection Solver\n set Iterations = 1.5\nend"),
                       "valid: an integer >= 1"));
  EXPECT_TRUE(
      contains(error_of("subsection Solver\n set Verbose = yes\nend"), "valid: true or false"));
}

TEST_F(ParameterFile, SelectionNamesAllChoicesAndTheNearest)
{
  const std::string error = error_of("subsection Solver\n set Method = gmress\nend");
  EXPECT_TRUE(contains(error, "valid: one of: cg, gmres, bicgstab, direct")) << error;
  EXPECT_TRUE(contains(error, "did you mean 'gmres'?")) << error;
}

TEST_F(ParameterFile, QuotedValueIsToldToGoWithoutQuotes)
{
  EXPECT_TRUE(contains(error_of("subsection Solver\n set Method = \"gmres\"\nend"),
                       "did you mean gmres (without quotation marks)?"));
}

TEST_F(ParameterFile, ListsMapsAndTuplesAreCheckedToo)
{
  EXPECT_TRUE(contains(error_of("subsection Output\n set Levels = 1,x\nend"),
                       "valid: items separated by ',', each an integer >= 0"));
  EXPECT_TRUE(contains(error_of("subsection Output\n set Boundary = a\nend"),
                       "run.prm:2: value 'a' of 'Output/Boundary' is not valid; valid: [Map of "));
  EXPECT_TRUE(contains(error_of("subsection Output\n set Pair = 1\nend"),
                       "run.prm:2: value '1' of 'Output/Pair' is not valid; valid: [Tuple of "));
  apply("subsection Output\n set Pair = 3:4\nend");
  EXPECT_EQ(get(prm, {"Output"}, "Pair"), "3:4");
}

TEST_F(ParameterFile, ValueThatIsNotUtf8IsRefused)
{
  EXPECT_TRUE(contains(error_of("subsection Output\n set Directory = M\xFCnchen\nend"), "UTF-8"));
  EXPECT_TRUE(contains(error_of("subsection Output\n set Directory = \xE2\x82\nend"), "UTF-8"));
  apply("subsection Output\n set Directory = M\xC3\xBCnchen\nend # \xFC");
  EXPECT_EQ(get(prm, {"Output"}, "Directory"), "M\xC3\xBCnchen");
}

TEST_F(ParameterFile, CharactersThatLookLikeOthersAreNamedWithTheirColumns)
{
  const std::string error = error_of("\xEF\xBB\xBFset\u00a0Dimension = 3\nsubsection\u00a0Solver\n"
                                     "  subsection Krylov\n  set Restart = \u22125\n  end\nend\n");
  EXPECT_EQ(lines_of(error), 3U) << error; // line 2 is an error but opens the section
  EXPECT_TRUE(contains(error,
                       "run.prm:1: 'set\u00a0Dimension = 3' is not a statement; column 4 has a "
                       "no-break space (U+00A0), which looks like ' ': write ' '\n"));
  EXPECT_TRUE(
      contains(error, "run.prm:2: 'subsection\u00a0Solver' is not a statement; column 11 has "));
  EXPECT_TRUE(
      contains(error, "run.prm:4: value '\u22125' of 'Solver/Krylov/Restart' is not valid"));
  EXPECT_TRUE(contains(error, "column 17 has a minus sign (U+2212), which looks like '-'"));
  EXPECT_TRUE(contains(error_of("subsection Solver\nset Method = \\\n gm\u200bres\nend\n"),
                       "; line 3, column 4 has an invisible character (U+200B)"));
  EXPECT_TRUE(contains(error_of("", {"Dim\u0435nsion=2"}), "column 4 has a Cyrillic letter"));
  // Look-alikes in accepted values are recorded to explain later errors. Comments do not count.
  const ParameterLocations locations = apply("set Dimension = 3 # \u2212\n", {"Dimension=2"});
  EXPECT_TRUE(locations.confusables.empty());
}

TEST_F(ParameterFile, MissingEndNamesTheLineOfTheSubsection)
{
  EXPECT_EQ(error_of("\nsubsection Solver\n set Method = cg\n"),
            "run.prm:2: 'subsection Solver' is never closed; add its 'end'");
}

TEST_F(ParameterFile, MissingEndBeforeTheNextSectionIsOneProblem)
{
  EXPECT_EQ(error_of("subsection Solver\n set Method = cg\nsubsection Newton\n set Steps = 3\nend\n"
                     "subsection Output\nend\n"),
            "run.prm:3: unknown subsection 'Newton' in section 'Solver'; it is valid at the top "
            "level: is the 'end' of 'subsection Solver' (line 1) missing?");
  // The sections are nested deliberately: the second 'end' is not an error.
  EXPECT_EQ(lines_of(error_of("subsection Solver\nsubsection Newton\nend\nend\n")), 1u);
}

TEST_F(ParameterFile, SurplusEndIsAnError)
{
  EXPECT_EQ(error_of("subsection Solver\nend\nend\n"),
            "run.prm:3: 'end' without an open 'subsection'; remove it");
}

TEST_F(ParameterFile, SetWithoutEqualsOrKeyIsAnError)
{
  EXPECT_EQ(error_of("set Dimension 3"),
            "run.prm:1: 'set Dimension 3' has no '='; write 'set KEY = VALUE'");
  EXPECT_TRUE(contains(error_of("set = 3"), "has no key before"));
  EXPECT_TRUE(contains(error_of("set"), "has no '='"));
}

TEST_F(ParameterFile, KeySetTwiceNamesBothLines)
{
  EXPECT_EQ(error_of("subsection Newton\n set Steps = 3\nend\nsubsection Newton\n set Steps = 3\n"
                     "end"),
            "run.prm:5: 'Newton/Steps' is set a second time, first at run.prm:2; remove one of the "
            "two lines");
}

TEST_F(ParameterFile, TextThatIsNoStatementNamesTheNearest)
{
  EXPECT_TRUE(contains(error_of("sett Dimension = 3"), "did you mean 'set'?"));
  EXPECT_EQ(error_of("Subsection Solver\nEnd\n"),
            "run.prm:1: 'Subsection Solver' is not a statement; did you mean 'subsection'?\n"
            "run.prm:2: 'End' is not a statement; did you mean 'end'?");
  EXPECT_TRUE(contains(error_of("Dimension = 3"), "did you mean 'set Dimension = 3'?"));
  EXPECT_TRUE(contains(error_of("{"), "'#' begins a comment"));
  EXPECT_TRUE(contains(error_of("subsection\nend"), "'subsection' has no name"));
  EXPECT_TRUE(contains(error_of("subsection Solver\nend Solver"), "'Solver' after 'end'"));
}

TEST_F(ParameterFile, IncludeIsRefused)
{
  EXPECT_EQ(error_of("include other.prm"),
            "run.prm:1: 'include' is not supported; copy the lines of 'other.prm' here or give "
            "them with --set");
}

TEST_F(ParameterFile, CommentThatWouldSwallowTheNextLineIsRefused)
{
  EXPECT_EQ(error_of("# see C:\\data\\\nset Dimension = 7"),
            "run.prm:1: this comment ends in '\\', which makes the next line part of the comment; "
            "remove the '\\'\nrun.prm:2: value '7' of 'Dimension' is not valid; valid: an integer "
            "from 2 to 3; default: 2");
}

TEST_F(ParameterFile, AllProblemsAreListedInTheOrderOfTheFileAndNothingIsSet)
{
  const std::string error = error_of("subsection Solver\n set Method = x\n set Nothing = 1\nend\n"
                                     "what\nset Dimension = 3\nsubsection Newton\n",
                                     {"Newton/Step=2"});
  ASSERT_EQ(lines_of(error), 5u) << error;
  std::size_t at = 0;
  for (const char *location :
       {"run.prm:2: ", "run.prm:3: ", "run.prm:5: ", "run.prm:7: ", "--set 'Newton/Step=2': "}) {
    const std::size_t found = error.find(location, at);
    ASSERT_NE(found, std::string::npos) << location << " in\n" << error;
    at = found;
  }
  EXPECT_EQ(prm.get("Dimension"), "2");
}

TEST_F(ParameterFile, FloodOfProblemsIsCut)
{
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "<xml>\n";
  const std::string error = error_of(text);
  EXPECT_EQ(lines_of(error), 31u);
  EXPECT_TRUE(contains(error, "and 70 more problems"));
}

TEST_F(ParameterFile, OverridesWinOverTheFileAndLaterOnesOverEarlier)
{
  const ParameterLocations locations =
      apply("set Dimension = 3\nsubsection Newton\n set Steps = 3\nend",
            {"Newton/Steps=4", "Solver/Krylov/Restart = 7", " Newton/Steps = 5 "});
  EXPECT_EQ(get(prm, {"Newton"}, "Steps"), "5");
  EXPECT_EQ(get(prm, {"Solver", "Krylov"}, "Restart"), "7");
  EXPECT_EQ(locations.location_of("Newton/Steps"), "--set ' Newton/Steps = 5 '");
  apply("", {"Dimension=2"});
  EXPECT_EQ(prm.get("Dimension"), "2");
}

TEST_F(ParameterFile, OverridesAreCheckedLikeTheFile)
{
  EXPECT_EQ(error_of("", {"Newton/Step=4"}),
            "--set 'Newton/Step=4': unknown key 'Step' in section 'Newton'; nearest valid key: "
            "'Steps' (an integer >= 1)");
  EXPECT_TRUE(contains(error_of("", {"Newtn/Steps=4"}), "nearest valid subsection: 'Newton'"));
  EXPECT_TRUE(contains(error_of("", {"Newton/Steps=0"}),
                       "value '0' of 'Newton/Steps' is not valid; valid: an integer >= 1"));
  EXPECT_TRUE(contains(error_of("", {"Newton/Steps"}), "there is no '='"));
  EXPECT_TRUE(contains(error_of("", {"=4"}), "there is no key"));
  EXPECT_TRUE(contains(error_of("", {"Output/Directory=a#b"}), "the value contains '#'"));
  EXPECT_TRUE(contains(error_of("", {"Steps=3"}), "this key is valid in 'Newton'"));
}

TEST_F(ParameterFile, PlacesTellWhereAValueComesFrom)
{
  const ParameterLocations locations =
      apply("\nset \\\n Dimension = 3\n", {"Output/Directory=here"});
  EXPECT_EQ(locations.location_of("Dimension"), "run.prm:2");
  EXPECT_EQ(locations.location_of("Output/Directory"), "--set 'Output/Directory=here'");
  EXPECT_EQ(locations.location_of("Newton/Steps"), "the default of Newton/Steps");
  EXPECT_TRUE(locations.exists("Solver/Krylov/Restart"));
  EXPECT_FALSE(locations.exists("Solver/Restart"));
  EXPECT_TRUE(locations.is_set("Dimension"));
  EXPECT_FALSE(locations.is_set("Newton/Steps"));
  EXPECT_THROW(locations.location_of("Newton/Step"), ParameterError);
}

TEST_F(ParameterFile, ActionsSeeTheFinalValueOnceAndTheirErrorsGetThePlace)
{
  std::vector<std::string> seen;
  prm.add_action("Dimension", [&](const std::string &value) {
    if (value == "3")
      throw ParameterError("three is too many");
    seen.push_back(value);
  });
  seen.clear();
  apply("set Dimension = 3", {"Dimension=2"});
  EXPECT_EQ(seen, std::vector<std::string>{"2"});
  EXPECT_EQ(error_of("\nset Dimension = 3"), "run.prm:2: three is too many");
}

TEST_F(ParameterFile, BoundsFinerThanTheDescriptionAreStillKept)
{
  prm.declare_entry("Fine", "0.1", Patterns::Double(0, 0.123456001), "");
  EXPECT_TRUE(
      contains(error_of("set Fine = 0.12345605"), "run.prm:1: value '0.12345605' of 'Fine'"));
}
} // namespace
} // namespace femgpu
