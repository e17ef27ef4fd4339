#!/usr/bin/env python3
"""clang-tidy on the lines that differ from BASE, and the sources among them compiled without precompiled headers.

Without those, a file that forgets an #include does not compile, and GCC's warnings of overflows are whole.

    tests/lint/tidy.py BUILD [BASE]      BUILD: a build folder that was configured without precompiled headers;
                                         BASE: a commit, by default main; exits 1 if there is anything to say
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
# What GCC alone knows; its warnings are its own affair.
CLANG_ARGUMENTS = ("-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument", "-w")
# What clang takes for an error; without the last, its own view of the standard library's headers is one.
NOT_CLANGS = re.compile(r" (-fno-gnu-unique|-fno-tree-loop-distribute-patterns|-mgeneral-regs-only)(?= )")


def git(*arguments):
    return subprocess.run(["git", "-C", TOP, *arguments], check=True, capture_output=True, text=True).stdout


def changed_lines(base):
    """Of C and C++ files, and of new ones all: {path: [[first, last], ...]}."""
    start = git("merge-base", base, "HEAD").strip()
    lines, path = {}, None
    for line in git("diff", "--unified=0", "--no-renames", "--diff-filter=d", start, "--", "*.cc", "*.c", "*.hpp", "*.h").split("\n"):
        if line.startswith("+++ b/"):
            path = line[len("+++ b/"):]
        hunk = re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line)
        if hunk and hunk.group(2) != "0":
            first = int(hunk.group(1))
            lines.setdefault(path, []).append([first, first + int(hunk.group(2) or 1) - 1])
    for path in git("ls-files", "--others", "--exclude-standard", "*.cc", "*.c", "*.hpp", "*.h").split():
        lines[path] = [[1, 1 << 30]]
    return lines


def sources_of(lines, commands):
    """The sources that say something about these files: the changed ones, and those beside a changed header."""
    sources = set()
    for path in lines:
        stem = os.path.join(TOP, os.path.splitext(path)[0])
        sources |= {stem + end for end in (".cc", ".c", "_test.cc") if stem + end in commands}
    return sorted(sources)


def write_for_clang(database, folder):
    """The commands as clang takes them, one a source: some are compiled for the agent, too."""
    commands = {command["file"]: command for command in reversed(database)}
    for command in commands.values():
        command["command"] = NOT_CLANGS.sub("", command["command"])
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(list(commands.values()), file)


def tidy(build, source, lines):
    only = json.dumps([{"name": os.path.join(TOP, path), "lines": ranges} for path, ranges in lines.items()])
    run = subprocess.run(["clang-tidy", "-p", build, "--quiet", "--warnings-as-errors=*", f"--line-filter={only}",
                          *(f"--extra-arg={argument}" for argument in CLANG_ARGUMENTS), source],
                         capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return ""
    return run.stdout or run.stderr


def main():
    build = os.path.realpath(sys.argv[1])
    lines = changed_lines(sys.argv[2] if len(sys.argv) > 2 else "main")
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        database = json.load(file)
    commands = {command["file"]: re.search(r" -o (\S+)", command["command"]).group(1) for command in database}
    sources = sources_of(lines, commands)
    if not sources:
        return 0
    print(f"{len(sources)} of the sources: compiled, then clang-tidy", flush=True)
    objects = [commands[source] for source in sources]
    compiled = subprocess.run(["ninja", "-C", build, "-k0", "--quiet", *objects], check=False).returncode == 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        write_for_clang(database, folder)
        said = [text for text in pool.map(lambda source: tidy(folder, source, lines), sources) if text]
    # A header's finding comes once for each source that includes it.
    for text in dict.fromkeys(said):
        print(text, end="")
    return 0 if compiled and not said else 1


if __name__ == "__main__":
    sys.exit(main())
