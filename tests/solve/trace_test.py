"""Tests the NVTX ranges of femgpu-solve, which the library in NVTX_RECORDER prints.

    FEMGPU_SOLVE=build/bin/femgpu-solve NVTX_RECORDER=build/lib… python3 tests/solve/trace_test.py
"""

import os
import subprocess
import unittest

from solve_test import PROGRAM


class Trace(unittest.TestCase):
    """Tests which ranges a solve has, and that there are none by default."""

    def ranges(self, **environment):
        process = subprocess.run(
            [PROGRAM, "--generate", "poisson2d-5pt:64", "--backend", "host", "--quiet", "--solver",
             "pipelined-cg", "--preconditioner", "multigrid"],
            capture_output=True, text=True, check=True,
            env={**os.environ, "NVTX_INJECTION64_PATH": os.environ["NVTX_RECORDER"], **environment})
        return process.stderr.splitlines()

    def test_phases_levels_and_loops_are_nested_ranges(self):
        lines = self.ranges(FEMGPU_NVTX="1")
        for line in ("transfer of the matrix", "  transfer of the pattern", "format", "set-up",
                     "  multigrid", "    smoother of level 0", "    coarsening of level 0",
                     "    coarsest level", "solve", "  pipelined-cg", "    cycle, level 0",
                     "      cycle, level 1", "  transfer of the solution"):
            self.assertIn(line, lines)

    def test_there_are_no_ranges_by_default(self):
        self.assertEqual(self.ranges(), [])
        self.assertEqual(self.ranges(FEMGPU_NVTX="0"), [])


if __name__ == "__main__":
    unittest.main()
