"""Tests scripts/includes.py with small sources.   python3 tests/scripts/includes_test.py"""

import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "scripts"))

import includes  # noqa: E402
import layers  # noqa: E402


class Includes(unittest.TestCase):
    def missing(self, **files):
        """Returns the headers that a.cc lacks. @param files texts named a_cc, a_h and b_h"""
        layers.includes_of.cache_clear()
        includes.reached_from.cache_clear()
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name, text in files.items():
                (root / name.replace("_", ".")).write_text(text, encoding="utf-8")
            with unittest.mock.patch.object(layers, "ROOT", root):
                return includes.missing(pathlib.Path("a.cc"))

    def test_algorithm_that_another_library_may_include_is_missing(self):
        text = '#include <deal.II/grid/tria.h>\n#include <vector>\nbool b = std::is_sorted(x, y);\n'
        self.assertEqual(self.missing(a_cc=text), {"algorithm": (3, "is_sorted")})

    def test_headers_of_the_repository_provide_what_they_include(self):
        self.assertEqual(self.missing(a_cc='#include "a.h"\nstd::vector<int> a = std::move(b);\n',
                                      a_h='#include "b.h"\n#include <utility>\n',
                                      b_h="#include <vector>\n"), {})

    def test_comments_and_strings_need_no_header(self):
        self.assertEqual(self.missing(a_cc='// std::sort\n/* std::map */ "std::set"\n'), {})

    def test_one_of_several_headers_is_enough(self):
        self.assertEqual(self.missing(a_cc="#include <cstdlib>\nint i = std::abs(j);\n"), {})

    def test_unknown_name_is_found(self):
        self.assertEqual(self.missing(a_cc="std::nobody x;\n"), {"?": (1, "nobody")})


if __name__ == "__main__":
    unittest.main()
