"""benchmarks/phases.py leaves the cores to femgpu, which shares them among solver groups."""
import importlib.util
import os
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "..", "..", "benchmarks", "phases.py")


def phases():
    spec = importlib.util.spec_from_file_location("phases", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Phases(unittest.TestCase):
    def test_a_run_on_several_ranks_does_not_limit_the_threads_of_the_solver(self):
        options = types.SimpleNamespace(program="femgpu")
        words = phases().command(options, "file.prm", ["Study/Cycles=1"], 4, "host", "output")
        self.assertIn("host", words)
        self.assertEqual(words[words.index("-n") + 1], "4")
        self.assertNotIn("--threads", words)


if __name__ == "__main__":
    unittest.main()
