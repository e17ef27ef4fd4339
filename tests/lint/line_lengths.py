#!/usr/bin/env python3
"""No line of C or C++ is longer than 120 columns, comments included: clang-format leaves those alone.

    tests/lint/line_lengths.py [TOP]      prints which are, one line each; exits 1 if any is
"""

import os
import subprocess
import sys

COLUMNS = 120


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..")
    listed = subprocess.run(["git", "-C", top, "ls-files", "--cached", "--others", "--exclude-standard",
                             "*.hpp", "*.cc", "*.h", "*.c"], check=True, capture_output=True, text=True).stdout.split("\n")
    count = 0
    for file in filter(None, listed):
        path = os.path.join(top, file)
        if not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                if len(line.rstrip("\n")) > COLUMNS:
                    print(f"{file}:{number}: {len(line) - 1} columns")
                    count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
