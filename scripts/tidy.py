#!/usr/bin/env python3
"""Runs clang-tidy over all of our .cc files that a build compiles, or over the given files.

clang-tidy's checks traverse every header that a file includes, which takes most of the time for
deal.II's headers. The files of a directory are therefore checked together, as one file that
includes all of them. If this file does not compile, because two sources define the same name in an
unnamed namespace, its halves are tried. If the checks find something, each source is checked alone,
and only these results count.

A file that was found clean is not checked again until something changes on which the result
depends: the text of the file and of our headers that it includes (without comments and white
space), its compile command, .clang-tidy, or the version of clang-tidy. The result is stored as an
empty file in ${XDG_CACHE_HOME:-~/.cache}/femgpu/tidy whose name is a hash of all of these.

--since COMMIT also treats the files of that commit as clean. Without a cache, as in CI, only the
changes of a branch are then checked: every file whose own text is new and, for each header whose
text is new, one file that includes the header. This is a file whose own text is new or, if there is
none, a file that includes many of the new headers. Checking all files that include a new header
would often mean checking everything. A text is not new if only the file's name, its include guard
or the names of our headers that it includes have changed. --all checks everything.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A file that only includes .cc files triggers this check by design. (clang's analyser checks
# included .cc files only if the name of the including file contains "UnifiedSource".)
TOGETHER = "--checks=-bugprone-suspicious-include"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache",
                     "femgpu", "tidy")
DAYS_IN_CACHE = 60  # results that are not used for so long are removed
# Matches comments, and string and character literals, which may contain "//". Comments that
# clang-tidy reads are preserved: NOLINT and argument names.
COMMENTS = re.compile(r'R"(\w*)\(.*?\)\1"' r'|"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'"
                      r"|/\*\s*\w+\s*=\s*\*/|//[^\n]*NOLINT[^\n]*"
                      r"|(?P<comment>//[^\n]*|/\*.*?\*/)", re.DOTALL)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="files to check (default: all)")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build",
                        help="directory of compile_commands.json (build)")
    parser.add_argument("--all", action="store_true", help="also check files that are known to be clean")
    parser.add_argument("--since", metavar="COMMIT",
                        help="treat files that are unchanged since this commit as clean")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


def without_precompiled_headers(words):
    """Removes precompiled headers, so that each file is checked with its own includes."""
    kept = iter(words)
    return [word for word in kept
            if word != "-Winvalid-pch" and not (word == "-include" and next(kept))]


def compiled_files(file):
    """Returns @p file itself, or the sources that CMake has combined in it."""
    if file.parent.name != "Unity":
        return [file]
    return [pathlib.Path(name) for name in re.findall(r'^#include "(.*)"', file.read_text(),
                                                      re.MULTILINE)]


def our_commands(build):
    """Returns {file: flags of its compile command}, without compiler, source and object."""
    database = build / "compile_commands.json"
    if not database.exists():
        sys.exit(f"no {database}: configure the build with scripts/build.sh")
    commands = {}
    for entry in json.loads(database.read_text()):
        files = [file for file in compiled_files(pathlib.Path(entry["directory"], entry["file"]))
                 if file.suffix == ".cc" and build.resolve() not in file.parents]
        if not files:
            continue
        words = shlex.split(entry["command"])
        first = next(i for i, word in enumerate(words) if word.startswith("-"))
        words = without_precompiled_headers(words)
        end = words.index("-o")
        flags = tuple(words[first:end] + [word for word in words[end + 2:]
                                          if word not in ("-c", entry["file"])])
        commands.update((file, flags) for file in files)
    return commands


def without_comments(text):
    """Returns @p text without comments and needless white space. Only preprocessor directives keep
    their own lines."""
    text = COMMENTS.sub(lambda match: " " if match["comment"] else match[0], text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return " ".join(f"\n{line}\n" if line.startswith("#") else line for line in lines if line)


def without_names(text):
    """Removes the include guard and the includes of our headers from @p text, the result of
    without_comments()."""
    text = re.sub(r'^# ?(include ".*"|(ifndef|define) femgpu_\w+_h)$', "", text,
                  flags=re.MULTILINE)
    return " ".join(text.split())


class Hashes:
    """Computes hashes of all that a result depends on, except external headers, for sources in @p
    root."""

    def __init__(self, root):
        self.root = root
        version = subprocess.run(["clang-tidy", "--version"], stdout=subprocess.PIPE, check=True)
        self.tool = version.stdout + (root / ".clang-tidy").read_bytes()
        self.known = {}  # file -> (its text, our files that it includes)

    def read(self, file):
        """Returns the text of @p file, and our files that it includes."""
        if file not in self.known:
            text = without_comments(file.read_text(encoding="utf-8"))
            included = []
            for name in re.findall(r'^# ?include "([^"]+)"', text, re.MULTILINE):
                places = [self.root / name, file.parent / name]
                included += [place.resolve() for place in places if place.is_file()][:1]
            self.known[file] = text, included
        return self.known[file]

    def included_files(self, file):
        seen, left = set(), [file]
        while left:
            this = left.pop()
            if this not in seen:
                seen.add(this)
                left += self.read(this)[1]
        return seen

    def of(self, file, flags):
        sha = hashlib.sha256(self.tool)
        # Paths are omitted, because they differ between machines and lead to external files.
        kept = [flag.replace(str(ROOT), "") for flag in flags if not flag.startswith(("-I", "/"))]
        sha.update(" ".join(kept).encode())
        for this in sorted(self.included_files(file)):
            sha.update(f"{this.relative_to(self.root)}\n{self.read(this)[0]}\n".encode())
        return sha.hexdigest()


class CleanFiles:
    """The hashes of files found clean, here or in a commit."""

    def __init__(self):
        CACHE.mkdir(parents=True, exist_ok=True)
        for entry in CACHE.iterdir():
            if time.time() - entry.stat().st_mtime > DAYS_IN_CACHE * 86400:
                entry.unlink(missing_ok=True)
        self.of_commit = set()
        self.texts_of_commit = set()  # results of without_names(); empty without a commit

    def __contains__(self, sha):
        if (CACHE / sha).exists():
            (CACHE / sha).touch()
            return True
        return sha in self.of_commit

    @staticmethod
    def add(sha):
        (CACHE / sha).touch()

    def add_commit(self, commit, commands):
        """Adds the hashes of @p commit's files, as compiled by @p commands."""
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, check=False)
        if archive.returncode != 0:
            print(f"commit '{commit}' does not exist: all files are checked", flush=True)
            return
        with tempfile.TemporaryDirectory(prefix="femgpu_tidy_") as directory:
            root = pathlib.Path(directory).resolve()
            subprocess.run(["tar", "-x", "-C", root], input=archive.stdout, check=True)
            hashes = Hashes(root)
            for file, flags in commands.items():
                then = root / file.relative_to(ROOT)
                if then.is_file():
                    self.of_commit.add(hashes.of(then, flags))
            if (root / ".clang-tidy").read_bytes() == (ROOT / ".clang-tidy").read_bytes():
                self.texts_of_commit = {without_names(hashes.read(file)[0])
                                        for file in root.rglob("*") if file.suffix in (".h", ".cc")}

    def files_to_recheck(self, files, hashes):
        """Returns the files whose text is new since the commit, and a file for each new header."""
        if not self.texts_of_commit:
            return set(files)

        def is_new(file):
            return without_names(hashes.read(file)[0]) not in self.texts_of_commit

        new = {file: {this for this in hashes.included_files(file) if is_new(this)} for file in files}
        enough = {file for file in files if file in new[file]}
        left = set().union(*new.values()).difference(*(new[file] for file in enough))
        while left:
            best = max(sorted(files), key=lambda file: len(new[file] & left))
            enough.add(best)
            left -= new[best]
        return enough


def run(words):
    """Returns the exit status, and the output without the count of warnings in external headers."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          cwd=ROOT, check=False)
    lines = [line for line in done.stdout.splitlines() if not line.endswith(" generated.")]
    return done.returncode, "\n".join(lines)


def tidy(file, flags, *options):
    return run(["clang-tidy", "--quiet", *options, str(file), "--", "-Wno-unknown-warning-option",
                *flags])


def compiles(name, files, flags):
    """Returns whether @p files compile as one file, which is written to @p name and includes them."""
    name.parent.mkdir(parents=True, exist_ok=True)
    name.write_text("".join(f'#include "{file}"\n' for file in files))
    return run(["clang++", "-fsyntax-only", "-Wno-everything", *flags, str(name)])[0] == 0


def files_to_check_alone(name, files, flags):
    """Checks @p files together or, if they do not compile so, in halves. Returns the files that must
    be checked alone."""
    if len(files) == 1:
        return files
    if compiles(name, files, flags):
        status, _ = tidy(name, flags, TOGETHER, f"--config-file={ROOT}/.clang-tidy")
        return files if status != 0 else []
    half = len(files) // 2
    return (files_to_check_alone(name, files[:half], flags)
            + files_to_check_alone(name, files[half:], flags))


def check_directories(commands, build, pool):
    """Checks the files of each directory together. Returns the files that must be checked alone."""
    groups = collections.defaultdict(list)
    for file, flags in sorted(commands.items()):
        groups[file.parent, flags].append(file)
    results = []
    largest_first = sorted(groups.items(), key=lambda group: -len(group[1]))
    for i, ((directory, flags), files) in enumerate(largest_first):
        name = build / "tidy" / f"UnifiedSource{i}.cc"
        results.append((directory, files, pool.submit(files_to_check_alone, name, files, flags)))
    alone = []
    for directory, files, result in results:
        alone += result.result()
        if len(files) > 1:
            print(f"{directory.relative_to(ROOT)}: {len(files) - len(result.result())} of "
                  f"{len(files)} files clean together", flush=True)
    return alone


def main():
    options = arguments()
    build = options.build.resolve()
    commands = our_commands(build)
    hashes, clean = Hashes(ROOT), CleanFiles()
    if options.since is not None and not options.all:
        clean.add_commit(options.since, commands)
    doubtful = {file: hashes.of(file, flags) for file, flags in commands.items()}
    n_clean = 0
    if not options.all and not options.files:
        doubtful = {file: sha for file, sha in doubtful.items() if sha not in clean}
        n_clean = len(commands) - len(doubtful)
        enough = clean.files_to_recheck(list(doubtful), hashes)
        doubtful = {file: sha for file, sha in doubtful.items() if file in enough}
    failed = set()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        alone = [file.resolve() for file in options.files]
        for file in alone:
            if file not in commands:
                sys.exit(f"{file} is not a .cc file that {build} compiles")
        if not alone:
            print(f"{n_clean} of {len(commands)} files are known to be clean, "
                  f"{len(doubtful)} are checked", flush=True)
            alone = check_directories({file: commands[file] for file in doubtful}, build, pool)
        for file, (status, output) in zip(alone, pool.map(lambda file: tidy(file, commands[file]),
                                                          alone)):
            if status != 0:
                failed.add(file)
            if output:
                print(output, flush=True)
    for file in set(alone if options.files else doubtful) - failed:
        clean.add(doubtful[file])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
