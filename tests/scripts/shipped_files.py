"""Checks that each file of parameters/ has a test that runs it and lets VTK read its output.

    python3 tests/scripts/shipped_files.py ctest build/tests/physics parameters
"""

import json
import os
import subprocess
import sys


def main():
    ctest, directory, parameters = sys.argv[1:]
    listed = subprocess.run([ctest, "--show-only=json-v1"], cwd=directory, capture_output=True,
                            text=True, check=True).stdout
    commands = [test.get("command", []) for test in json.loads(listed)["tests"]]
    missing = 0
    for name in sorted(os.listdir(parameters)):
        path = os.path.realpath(os.path.join(parameters, name))
        runs = [words for words in commands if path in map(os.path.realpath, words)]
        if not any("--check-vtu" in words for words in runs):
            missing += 1
            print(f"no test with --check-vtu runs parameters/{name} ({len(runs)} without it)",
                  file=sys.stderr)
    return 1 if missing or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
