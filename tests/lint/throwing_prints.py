#!/usr/bin/env python3
"""No product code prints by what throws where nothing can be written.

fmt::print() to a stream throws when the write fails: a full disk, a closed descriptor, a pipe that nobody reads any more.
A message that nobody hears must not end a recording, much less a domain. std::fputs(fmt::format(...).c_str(), stderr)
does not, and TextOutput (src/owner/cli/text_output.hpp) tells of a standard output that failed.

    tests/lint/throwing_prints.py     prints where, one line each; exits 1 if there is any
"""

import os
import re
import subprocess
import sys

THROWS = re.compile(r"\bfmt::print\(")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    files = subprocess.run(["git", "ls-files", "src/*.cc", "src/*.hpp"], check=True, capture_output=True, text=True).stdout.split()
    found = False
    for path in files:
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if THROWS.search(line.partition("//")[0]):
                    print(f"{path}:{number}: fmt::print() throws where nothing can be written")
                    found = True
    return 1 if found else 0


sys.exit(main())
