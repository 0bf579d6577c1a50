"""Checks that docs/solvers.md names every method and option that femgpu-solve lists, and that
docs/expressions.md contains the listed table of functions.

    python3 tests/docs/solvers_page.py build/bin/femgpu-solve docs/solvers.md docs/expressions.md
"""

import re
import subprocess
import sys

FUNCTIONS = "Functions of expressions"
SECTIONS = ["--solver", "--preconditioner", "--format", "--scaling", "--ordering", "--nonlinear-method"]


def listed(text):
    """Returns section -> [(name, meaning)] from the output of `femgpu-solve --list`."""
    choices, section = {}, None
    for line in text.splitlines():
        if line.startswith("--") or line == FUNCTIONS:
            section = choices.setdefault(line.strip(), [])
        elif line.strip():
            name, _, meaning = line.strip().partition(" ")
            section.append((name, meaning.strip()))
    return choices


def missing(choices, page):
    """Yields the names, and the options as `option=`, that the page lacks in backquotes."""
    written = re.sub(r"^<!-- table .*?^<!-- end -->$", "", page, flags=re.MULTILINE | re.DOTALL)
    code = set(re.findall(r"`([^`\n]+)`", written))
    for section in SECTIONS:
        if not choices.get(section):
            yield f"the program lists nothing for {section}"
        for name, meaning in choices.get(section, []):
            if name not in code:
                yield f"{section} '{name}' is not in the page"
            for option in re.findall(r"\b([a-z][a-z-]*)=", meaning):
                if f"{option}=" not in code:
                    yield f"option '{option}=' of {section} '{name}' is not in the page"


def other_functions(choices, page):
    """Yields differences between the page's table and the program's list."""
    rows = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in choices[FUNCTIONS])
    if f"| function | |\n|---|---|\n{rows}\n" not in page:
        yield f"the table of functions is not:\n{rows}"


def read(file):
    with open(file, encoding="utf-8") as stream:
        return stream.read()


def main():
    program, solvers, expressions = sys.argv[1:]
    text = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    choices = listed(text)
    faults = [*missing(choices, read(solvers)), *other_functions(choices, read(expressions))]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
