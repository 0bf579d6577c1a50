#include "app/command_line.h"
#include "tests/message_checks.h"

#include <gtest/gtest.h>

namespace femgpu
{
namespace
{
CommandLine parse(const std::vector<std::string> &arguments)
{
  std::vector<const char *> argv{"femgpu"};
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

std::string error_of(const std::vector<std::string> &arguments)
{
  return text_of_error<ParameterError>(ExitCode::parameter, [&] { parse(arguments); });
}

using Texts = std::vector<std::string>;

TEST(CommandLine, ReadsAFileAlone)
{
  const CommandLine line = parse({"run.prm"});
  EXPECT_EQ(line.parameter_file, "run.prm");
  EXPECT_TRUE(line.overrides.empty() && line.study.empty());
  EXPECT_TRUE(!line.validate && !line.list && !line.quiet && !line.verbose);
  EXPECT_TRUE(!line.version && line.help.empty() && line.print_parameters.empty());
}

TEST(CommandLine, ReadsStandardInputAsDash)
{
  EXPECT_EQ(parse({"-"}).parameter_file, "-");
  EXPECT_EQ(parse({"--quiet", "-", "--set", "a=b"}).parameter_file, "-");
  EXPECT_EQ(parse({"--quiet", "--", "--odd.prm"}).parameter_file, "--odd.prm");
}

TEST(CommandLine, ReadsEveryOption)
{
  const CommandLine line =
      parse({"--set", "A/B=1", "--backend", "cuda:1", "--threads", "4", "--output", "out dir",
             "--refinements", "5", "--validate", "--verbose", "run.prm", "--set=C=-x=[1,2]"});
  EXPECT_EQ(line.parameter_file, "run.prm");
  EXPECT_EQ(line.overrides,
            (Texts{"Solver/Backend=cuda:1", "Solver/Threads=4", "Output/Directory=out dir",
                   "Study/Cycles=5", "A/B=1", "C=-x=[1,2]"}));
  EXPECT_TRUE(line.validate && line.verbose && !line.quiet);
}

TEST(CommandLine, SetTakesOneValueSoThatTheFileMayFollow)
{
  const CommandLine line = parse({"--set", "A=1", "run.prm"});
  EXPECT_EQ(line.overrides, Texts{"A=1"});
  EXPECT_EQ(line.parameter_file, "run.prm");
  EXPECT_EQ(parse({"--set", "[A=1,B=2]", "run.prm"}).overrides, Texts{"[A=1,B=2]"});
}

TEST(CommandLine, MapsOptionsToParametersBeforeTheExplicitOnes)
{
  const CommandLine line = parse({"run.prm", "--set", "Solver/Threads=1", "--threads", "2",
                                  "--backend", "host", "--output", "d", "--refinements", "3"});
  EXPECT_EQ(line.overrides, (Texts{"Solver/Backend=host", "Solver/Threads=2", "Output/Directory=d",
                                   "Study/Cycles=3", "Solver/Threads=1"}));
}

TEST(CommandLine, ListVersionAndPrintParametersNeedNoFile)
{
  EXPECT_TRUE(parse({"--list"}).list);
  EXPECT_TRUE(parse({"--version"}).version);
  for (const char *format : {"prm", "json", "md"})
    EXPECT_EQ(parse({"--print-parameters", format}).print_parameters, format);
  EXPECT_TRUE(contains(error_of({}), "no parameter file is given"));
  EXPECT_TRUE(contains(error_of({"--validate"}), "no parameter file is given"));
}

TEST(CommandLine, HelpIsReturnedAndDocumentsExitCodesAndAnExample)
{
  for (const char *option : {"-h", "--help"}) {
    const std::string help = parse({option, "--no-such-option"}).help;
    for (const char *text : {"FILE.prm",
                             "--set",
                             "--backend",
                             "--threads",
                             "--output",
                             "--refinements",
                             "--validate",
                             "--print-parameters",
                             "--list",
                             "--quiet",
                             "--verbose",
                             "--version",
                             "--help",
                             "  0  done",
                             "  1  usage",
                             "  2  input file or mesh",
                             "  3  solver did not converge, or fluxes or forces do not balance",
                             "  4  device or memory",
                             "  5  output could not be written",
                             "femgpu parameters/"})
      EXPECT_TRUE(contains(help, text)) << text << " in\n" << help;
  }
}

TEST(CommandLine, UnknownOptionNamesTheNearest)
{
  const std::string error = error_of({"run.prm", "--thread", "4"});
  EXPECT_TRUE(contains(error, "unknown option '--thread'; did you mean '--threads'?")) << error;
  EXPECT_TRUE(contains(error_of({"--backand=host", "run.prm"}), "did you mean '--backend'?"));
  EXPECT_TRUE(contains(error_of({"run.prm", "-x"}), "unknown option '-x'"));
}

TEST(CommandLine, BackendMustBeOneThatExists)
{
  for (const char *name : {"auto", "host", "cuda", "cuda:0", "cuda:12"})
    EXPECT_EQ(parse({"run.prm", "--backend", name}).overrides,
              Texts{std::string("Solver/Backend=") + name});
  for (const char *name : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda0", "HOST", "cuda:9999999999"})
    EXPECT_TRUE(
        contains(error_of({"run.prm", "--backend", name}), "choose auto, host, cuda or cuda:K"))
        << name;
  EXPECT_TRUE(contains(error_of({"run.prm", "--backend", "hst"}), "did you mean 'host'?"));
}

TEST(CommandLine, NumbersMustBePositiveIntegers)
{
  for (const char *option : {"--threads", "--refinements"})
    for (const char *value : {"0", "-1", "1.5", "1e3", "x", "99999999999", "0x10", " 1"})
      EXPECT_TRUE(contains(error_of({"run.prm", std::string(option) + "=" + value}),
                           "give an integer from 1"))
          << option << value;
  for (const char *value : {"0", "101"})
    EXPECT_TRUE(contains(error_of({"run.prm", "--refinements", value}), "from 1 to 100;")) << value;
  EXPECT_TRUE(contains(error_of({"run.prm", "--threads", "4097"}), "from 1 to 4096;"));
}

TEST(CommandLine, MissingEmptyAndRepeatedValuesAreErrorsWithACure)
{
  for (const char *option :
       {"--set", "--backend", "--threads", "--output", "--refinements", "--print-parameters"})
    EXPECT_TRUE(contains(error_of({"run.prm", option}), "has no value; add one")) << option;
  EXPECT_TRUE(contains(error_of({"run.prm", "--output", ""}), "empty value"));
  EXPECT_TRUE(contains(error_of({"run.prm", "--backend", "host", "--backend", "cuda"}),
                       "given twice, with 'host' and 'cuda'"));
  EXPECT_TRUE(contains(error_of({"run.prm", "--set", "A/B"}), "has no '='"));
  EXPECT_TRUE(contains(error_of({"--print-parameters", "xml"}), "choose prm, json or md"));
}

TEST(CommandLine, QuietAndVerboseExcludeEachOther)
{
  EXPECT_TRUE(contains(error_of({"run.prm", "--quiet", "--verbose"}), "exclude each other"));
}

TEST(CommandLine, TwoParameterFilesAreRefused)
{
  EXPECT_TRUE(contains(error_of({"a.prm", "b.prm"}), "two parameter files, 'a.prm' and 'b.prm'"));
}
} // namespace
} // namespace femgpu
