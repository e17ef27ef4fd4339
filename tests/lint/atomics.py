#!/usr/bin/env python3
"""Every atomic operation that orders memory names its partner.

An acquire is worth something only with the release that it pairs with, and neither shows where the other one is. So each
__atomic_* call and fence in src/ with an order other than relaxed has a comment with "pairs" or "partner" at it, or within
a few lines above it in the same paragraph of code; and so has each std::atomic, whose operations order everything unless
they say otherwise.

    tests/lint/atomics.py [FOLDER...]     prints what has none, one line each; exits 1 if anything has none
"""

import os
import pathlib
import re
import sys

ORDER = re.compile(r"__ATOMIC_(?:ACQUIRE|RELEASE|ACQ_REL|SEQ_CST|CONSUME)\b"
                   r"|\bmemory_order(?:_|::)(?:acquire|release|acq_rel|seq_cst|consume)\b"
                   r"|\bstd::atomic(?:_bool|_int|_uint|_flag)?\b(?!_thread_fence|_signal_fence)")
PARTNER = re.compile(r"\bpairs\b|\bpair with\b|\bpartner", re.IGNORECASE)
EXTENSIONS = {".hpp", ".cc", ".h", ".c"}
# How far above an operation its comment may begin.
REACH = 10


def split(line):
    code, _, comment = line.partition("//")
    return code, comment


def has_partner(lines, at):
    for line in reversed(lines[max(at - REACH, 0):at + 1]):
        code, comment = split(line)
        if PARTNER.search(comment):
            return True
        if not line.strip() or code.rstrip() in {"}", "};"}:
            return False
    return False


def without_partner(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    for at, line in enumerate(lines):
        if ORDER.search(split(line)[0]) and "#include" not in line and not has_partner(lines, at):
            yield at + 1, line.strip()


def main():
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    folders = [pathlib.Path(folder) for folder in sys.argv[1:] or [os.path.join(top, "src")]]
    count = 0
    for folder in folders:
        if not folder.is_dir():
            sys.exit(f"{folder} is not a folder")
        for path in sorted(folder.rglob("*")):
            is_test = path.stem.endswith("_test") or path.stem.startswith(("test_", "fake_"))
            if path.suffix not in EXTENSIONS or is_test or not path.is_file():
                continue
            for number, text in without_partner(path):
                print(f"{os.path.relpath(path, top)}:{number}: an order of memory that names no partner: {text}")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
