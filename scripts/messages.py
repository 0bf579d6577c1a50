#!/usr/bin/env python3
"""Lists every message of the programs and scripts as it is written in the sources.

  scripts/messages.py [--check FILE]

A message is a text of at least four words in a C++, CUDA, Python or shell source; {} stands for a
value. Descriptions of parameters (docs/parameters.md) and of options (--help) are omitted. With
--check, fails unless FILE (tests/messages.txt) has the same list.
"""
import argparse
import ast
import pathlib
import re
import sys

from layers import ROOT, SOURCES, our_files

FOLDERS = ("app", "common", "expressions", "linalg", "physics", "scripts", "solve")
LEAST_WORDS = 4
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'|<<|::|\w+|\S',
                   re.DOTALL)
DESCRIBES = {"add_parameter", "declare_entry", "declare_alias", "add_option", "add_flag"}
OPENING, CLOSING = set("([{"), set(")]}")


def tokens_of(text):
    return [token for token in TOKEN.findall(re.sub(r"^#.*$", "", text, flags=re.MULTILINE))
            if not token.startswith(("//", "/*"))]


def end_of_value(tokens, k):
    """Returns the index after the operand that begins at tokens[k]."""
    depth = 0
    while k < len(tokens):
        token = tokens[k]
        if depth == 0 and (token in "+,;:?" or token == "<<" or token in CLOSING):
            return k
        depth += (token in OPENING) - (token in CLOSING)
        k += 1
    return k


def messages_in(tokens):
    described = []  # depths of the open calls that describe parameters
    depth, k = 0, 0
    while k < len(tokens):
        token = tokens[k]
        if token in OPENING:
            depth += 1
            if k and tokens[k - 1] in DESCRIBES:
                described.append(depth)
        elif token in CLOSING:
            if described and described[-1] == depth:
                described.pop()
            depth -= 1
        elif token.startswith('"'):
            message = "{}" if k and tokens[k - 1] in ("+", "<<") else ""
            while k < len(tokens):
                if tokens[k].startswith('"'):
                    message += ast.literal_eval(tokens[k].replace("\\?", "?"))
                    k += 1
                elif tokens[k] in ("+", "<<"):
                    k += 1
                    if k < len(tokens) and not tokens[k].startswith('"'):
                        end = end_of_value(tokens, k)
                        if not described:
                            yield from messages_in(tokens[k:end])
                        k = end
                        message += "{}"
                else:
                    break
            if not described:
                yield message
            continue
        k += 1


def cpp_messages(text):
    return messages_in(tokens_of(text))


def python_messages(text):
    tree = ast.parse(text)
    docs = {id(node.body[0].value) for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node)}
    inside = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside.update(id(part) for part in ast.walk(node) if part is not node)
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            if id(node) not in inside:
                yield node.value


def shell_messages(text):
    for line in text.splitlines():
        if not line.strip().startswith("#"):
            for message in re.findall(r'"((?:\\.|[^"\\])*)"', line):
                yield re.sub(r"\$\{[^}]*\}|\$\([^)]*\)|\$\w+", "{}", message)


def messages_of(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    read = {".py": python_messages, ".sh": shell_messages}.get(path.suffix, cpp_messages)
    found = {" ".join(message.split()) for message in read(text)}
    return sorted(message for message in found
                  if len(re.findall(r"[A-Za-z]{2,}", message)) >= LEAST_WORDS and " " in message)


def listing():
    for path in our_files():
        if path.parts[0] in FOLDERS and path.suffix in SOURCES + (".py", ".sh"):
            found = messages_of(path)
            if found:
                yield "\n".join([f"{path}", *("  " + message for message in found)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", metavar="FILE", type=pathlib.Path)
    options = parser.parse_args()
    text = "\n".join(listing()) + "\n"
    if not options.check:
        print(text, end="")
    elif options.check.read_text(encoding="utf-8") != text:
        print(f"{options.check} is not the list of messages. Run: scripts/messages.py > {options.check}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
