"""Tests that benchmarks/phases.py leaves the distribution of cores over solver groups to femgpu."""
import os
import sys
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmarks"))
import phases


class Phases(unittest.TestCase):
    def test_a_run_on_several_ranks_does_not_limit_the_threads_of_the_solver(self):
        options = types.SimpleNamespace(program="femgpu")
        words = phases.command(options, "file.prm", 4, "host")
        self.assertIn("host", words)
        self.assertEqual(words[words.index("-n") + 1], "4")
        self.assertNotIn("--threads", words)


if __name__ == "__main__":
    unittest.main()
