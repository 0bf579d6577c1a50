#include "app/stale_files.h"
#include "tests/temporary_directory.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>

namespace femgpu
{
namespace
{
namespace fs = std::filesystem;

const std::string vtu = "<?xml version=\"1.0\"?>\n<!-- Written by femgpu -->\n<VTKFile>\n";

class FormerFilesTest : public testing::Test
{
protected:
  std::set<std::string> files() const
  {
    std::set<std::string> names;
    for (const auto &entry : fs::directory_iterator(directory))
      names.insert(entry.path().filename().string());
    return names;
  }

  TemporaryDirectory directory;
};

TEST_F(FormerFilesTest, WhatLooksLikeAFileOfThisRunAndIsNotIsRemoved)
{
  for (const char *const name :
       {"a.b_000.000.vtu", "a.b_000.001.vtu", "a.b_001.000.vtu", "a.b_1000.000.vtu", "a.b_000.pvtu",
        "a.b_001.pvtu", "a.b.pvd", "inverted_cells.vtu"})
    directory.write(name, vtu);
  directory.write("line_axis_000.csv", "distance,x,y,u\n0,0,0,0\n");
  directory.write("line_axis_001.csv", "distance,x,y,u\n0,0,0,0\n");
  directory.write("points.csv", "cycle,point,x,y,u\n");
  directory.write("branch.csv", "index,kind,branch,arclength,lambda\n");
  remove_stale_files(directory, "a.b",
                     {"a.b_000.000.vtu", "a.b_000.pvtu", "a.b.pvd", "line_axis_000.csv"});
  EXPECT_EQ(files(), (std::set<std::string>{"a.b_000.000.vtu", "a.b_000.pvtu", "a.b.pvd",
                                            "line_axis_000.csv"}));
}

TEST_F(FormerFilesTest, OtherFilesStay)
{
  for (const char *const name :
       {"a_001_000.000.vtu", "ba_001.000.vtu", "axb_001.000.vtu", "a.b_01.000.vtu", "a.b_001.vtu",
        "a.b_001.000.vtu.bak", "a.b_001.000.vtu.partial", "b.pvd", "notes.txt"})
    directory.write(name, vtu);
  directory.write("a.b_002.000.vtu", "of another program");
  directory.write("line_axis_002.csv", "time,value\n");
  directory.write("points.csv", "x,y,z\n");
  fs::create_directory(directory / "a.b_003.pvtu");
  directory.write("elsewhere", vtu);
  fs::create_symlink("elsewhere", directory / "a.b_004.pvtu");
  const std::set<std::string> before = files();
  remove_stale_files(directory, "a.b", {});
  remove_partial_files(directory, "a.b");
  EXPECT_EQ(files(), before);
}

TEST_F(FormerFilesTest, WhatKilledRunsHaveLeftHalfWrittenIsRemoved)
{
  for (const char *const name :
       {"a.b_001.000.vtu.node-7.example.org.123.partial", "a.b_001.pvtu.host.1.partial",
        "a.b.pvd.host.1.partial", "summary.json.host.1.partial", "convergence.tex.host.1.partial",
        "points.csv.host.1.partial", "line_axis_001.csv.host.1.partial"})
    directory.write(name, "half");
  directory.write("x.mtx.host.1.partial", "of another program");
  directory.write("b_001.pvtu.host.1.partial", "of another run");
  remove_partial_files(directory, "a.b");
  EXPECT_EQ(files(), (std::set<std::string>{"x.mtx.host.1.partial", "b_001.pvtu.host.1.partial"}));
}
} // namespace
} // namespace femgpu
