#!/usr/bin/env python3
"""Every path that a document or a comment names exists.

Looks at all *.md files, at the comments of C and C++ files, and at those of CMake files and scripts. A path may be written from the top
of the repository, from src/, from src/producer/ or src/owner/ (as includes are), from include/, or from the folder of the file that names
it. In a row of a table it may also be written from a folder that the same row names, as in src/README.md.

    tests/lint/doc_paths.py [TOP]      prints what is missing, one line each; exits 1 if anything is
"""

import os
import re
import subprocess
import sys

ROOTS = ("", "src", "src/producer", "src/owner", "include")
EXTENSIONS = "hpp|cc|md|py|cmake|inc"
TOP_FOLDERS = "src|docs|tests|bench|cmake|examples|fuzz|man|include|packaging|producer|owner"

# A text in quotes is no place: New[T]("name") of Go.
LINK = re.compile(r"\]\(([^)#\s\"]+)(?:#[^)]*)?\)")
# A file in a folder, or something below one of our top folders.
PATH = re.compile(rf"(?<![\w./$~<>{{}}*-])((?:[\w.-]+/)+[\w-]+\.(?:{EXTENSIONS})|(?:{TOP_FOLDERS})/[\w./-]*\w/?)(?![\w*/])")
# `name.hpp` in a table.
NAME = re.compile(rf"`([\w-]+(?:/[\w-]+)*\.(?:{EXTENSIONS}))`")
FOLDER = re.compile(r"`((?:[\w-]+/)*[\w-]+)/?`")
COMMENT = {".hpp": r"//(.*)", ".h": r"(?://|^ ?\*|/\*)(.*)", ".cc": r"//(.*)", ".c": r"(?://|^ ?\*|/\*)(.*)",
           ".cmake": r"#(.*)", ".txt": r"#(.*)", ".py": r"#(.*)", ".sh": r"#(.*)"}


def exists(top, folder, path, extra=()):
    """A name without extension stands for a header and its source."""
    for root in (*ROOTS, folder, *extra):
        at = os.path.join(top, root, path)
        if os.path.exists(at) or os.path.exists(at + ".hpp"):
            return True
    return False


def named_in(line, is_table):
    names = [match.group(1) for match in PATH.finditer(line)]
    if is_table:
        names += NAME.findall(line)
    return dict.fromkeys(name.rstrip(".") for name in names)


def missing_in_document(top, file):
    folder = os.path.dirname(file)
    with open(os.path.join(top, file), encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            for target in LINK.findall(line):
                if "://" not in target and not os.path.exists(os.path.join(top, folder, target)):
                    yield number, target
            is_table = line.startswith("|")
            rows = [os.path.join(root, name) for root in ROOTS for name in FOLDER.findall(line)] if is_table else []
            for name in named_in(LINK.sub("]", line), is_table):
                if not exists(top, folder, name, rows):
                    yield number, name


def missing_in_comments(top, file):
    comment = re.compile(COMMENT[os.path.splitext(file)[1]])
    folder = os.path.dirname(file)
    with open(os.path.join(top, file), encoding="utf-8", errors="replace") as text:
        for number, line in enumerate(text, 1):
            found = comment.search(line)
            if found and "#include" not in line:
                for name in named_in(found.group(1), False):
                    if not exists(top, folder, name):
                        yield number, name


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..")
    listed = subprocess.run(["git", "-C", top, "ls-files", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout.split("\n")
    count = 0
    for file in filter(None, listed):
        if not os.path.isfile(os.path.join(top, file)):
            continue
        if file.endswith(".md"):
            missing = missing_in_document(top, file)
        elif os.path.splitext(file)[1] in COMMENT:
            missing = missing_in_comments(top, file)
        else:
            continue
        for number, name in missing:
            print(f"{file}:{number}: {name} does not exist")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
