"""Tests that scripts/run.sh and dependencies.sh ask, at a terminal only, before installing.

    python3 tests/scripts/dependencies_test.py

Scripts replace dpkg-query, apt-get and sudo; the replaced dpkg-query finds no package.
"""

import contextlib
import os
import pty
import subprocess
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")


def read_terminal(terminal, other_end):
    """Returns all bytes printed to a terminal. Reads parts until a read fails at the end."""
    os.close(other_end)
    parts = []
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 65536):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts)


class Dependencies(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="femgpu_dependencies_")
        self.addCleanup(holder.cleanup)
        self.log = os.path.join(holder.name, "log")
        for name, text in (("dpkg-query", "exit 1"), ("sudo", 'exec "$@"'),
                           ("apt-get", f'echo "$@" >>{self.log}; exit ${{APT_CODE:-0}}')):
            path = os.path.join(holder.name, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\n{text}\n")
            os.chmod(path, 0o755)
        self.environment = {key: value for key, value in os.environ.items()
                            if key not in ("CI", "FEMGPU_ASK", "FEMGPU_SKIP_DEPENDENCIES")}
        self.environment["PATH"] = holder.name + ":" + self.environment["PATH"]

    def run_script(self, answer=None, command=("dependencies.sh", "report"), **environment):
        """Returns exit code, output, and whether packages are installed. Uses a terminal only if
        @p answer is given."""
        arguments = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        ends = ()
        if answer is not None:
            ends = pty.openpty()
            os.write(ends[0], answer.encode())
            arguments = {"stdin": ends[1], "stderr": ends[1]}
        done = subprocess.run([os.path.join(SCRIPTS, command[0]), *command[1:]], timeout=30,
                              check=False, env=self.environment | environment, stdout=subprocess.PIPE,
                              **arguments)
        printed = (read_terminal(*ends) if ends else done.stderr).decode()
        self.assertEqual(done.stdout, b"")
        self.assertIn("install -y --no-install-recommends ", printed)
        return done.returncode, printed, os.path.exists(self.log)

    def test_yes_installs(self):
        for answer in "\n", "y\n", "Yes\n":
            code, printed, is_installed = self.run_script(answer, FEMGPU_ASK="1")
            self.assertEqual((code, is_installed), (0, True), printed)
            self.assertIn("[Y/n]", printed)
            os.remove(self.log)

    def test_no_installs_nothing_and_names_the_commands(self):
        for answer in "n\n", "what\n", "\4":
            code, printed, is_installed = self.run_script(answer, FEMGPU_ASK="1")
            self.assertEqual((code, is_installed), (1, False), printed)
            said = printed[printed.index("nothing was installed"):]
            self.assertRegex(said, "apt-get .*update\\s+.*apt-get .*install -y .*python3-matplotlib")

    def test_nothing_is_asked_without_a_terminal_in_ci_and_with_y(self):
        for answer, environment in ((None, {"FEMGPU_ASK": "1"}), ("", {"FEMGPU_ASK": "0"}), ("", {}),
                                    ("", {"FEMGPU_ASK": "1", "CI": "true"})):
            code, printed, is_installed = self.run_script(answer, **environment)
            self.assertEqual((code, is_installed), (0, True), printed)
            self.assertNotIn("[Y/n]", printed)
            os.remove(self.log)

    def test_run_asks_unless_y_is_given(self):  # and builds nothing without its packages
        for words, answer, is_asked, installs in (((), "n\n", True, False), ((), "\n", True, True),
                                                  (("-y",), "", False, True)):
            code, printed, is_installed = self.run_script(answer, ("run.sh", *words), APT_CODE="1")
            self.assertEqual((code, "[Y/n]" in printed, is_installed), (1, is_asked, installs), printed)
            if installs:
                os.remove(self.log)


if __name__ == "__main__":
    unittest.main()
