#!/usr/bin/env python3
"""No file uses a spelling that docs/glossary.md lists as wrong: the words in backticks in the last column of its tables.

    tests/lint/glossary_words.py [TOP]      prints where, one line each; exits 1 if there are any
"""

import os
import re
import subprocess
import sys

GLOSSARY = "docs/glossary.md"
# Recorded answers of kernels, and what packages and licenses say.
NOT_OURS = ("tests/conformance/linux-", "tests/conformance/reviewed/", "LICENSE")


def wrong_words(top):
    words = []
    with open(os.path.join(top, GLOSSARY), encoding="utf-8") as glossary:
        for line in glossary:
            if line.startswith("|"):
                words += re.findall(r"`([^`]+)`", line.rstrip().rstrip("|").rsplit("|", 1)[1])
    return words


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..")
    words = wrong_words(top)
    if not words:
        print(f"{GLOSSARY} lists no wrong spelling: has its form changed?")
        return 1
    wrong = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, words)) + r")(?![\w-])", re.IGNORECASE)
    listed = subprocess.run(["git", "-C", top, "ls-files", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout.split("\n")
    count = 0
    for file in filter(None, listed):
        path = os.path.join(top, file)
        if file == GLOSSARY or file.startswith(NOT_OURS) or not os.path.isfile(path):
            continue
        try:
            with open(path, encoding="utf-8") as text:
                lines = text.readlines()
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(lines, 1):
            for found in wrong.finditer(line):
                print(f"{file}:{number}: '{found.group(1)}': see {GLOSSARY}")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
