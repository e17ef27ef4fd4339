#!/usr/bin/env python3
"""Each layer uses only those above it, and what runs in programs nothing that is the owner's.

CMake has the same fence, by include paths. This one reads only text: what src/CMakeLists.txt, the layers' CMakeLists.txt,
their #include lines and the table of src/README.md say must be one and the same order.

    tests/lint/layers.py [TOP]      prints what disagrees, one line each; exits 1 if anything does
"""

import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s+"(\w+)/', re.MULTILINE)
GROUPS = ("producer", "owner")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as text:
        return text.read()


def without_comments(cmake):
    return re.sub(r"#.*", "", cmake)


def layers_of(top, group):
    """In their order."""
    said = without_comments(read(top, "src", "CMakeLists.txt"))
    return re.search(rf"set\(LANDTRACE_{group.upper()}_LAYERS\s+([^)]*)\)", said).group(1).split()


def calls(cmake, function):
    """The arguments of each call, as a list a call: [["name", "SOURCES", ...], ...]."""
    return [found.split() for found in re.findall(rf"\b{function}\(([^)]*)\)", without_comments(cmake))]


def after(keyword, arguments):
    """The words behind the keyword, up to the next."""
    words = []
    if keyword in arguments:
        for word in arguments[arguments.index(keyword) + 1:]:
            if word.isupper():
                break
            words.append(word)
    return words


class Tree:
    def __init__(self, top):
        self.top = top
        self.order = {group: layers_of(top, group) for group in GROUPS}
        self.all = [layer for group in GROUPS for layer in self.order[group]]

    def visible(self, layer):
        """Itself and those above it; the owner's layers are below all that runs in programs."""
        return self.all[:self.all.index(layer) + 1]

    def folders(self):
        for group in GROUPS:
            folder = os.path.join("src", group)
            there = sorted(entry.name for entry in os.scandir(os.path.join(self.top, folder)) if entry.is_dir())
            for layer in there:
                if layer not in self.order[group]:
                    yield f"{folder}/{layer}: src/CMakeLists.txt does not name it in the group {group}"
            for layer in self.order[group]:
                if layer not in there:
                    yield f"src/CMakeLists.txt: {layer} has no folder in {folder}"

    def uses(self, folder, layer):
        for arguments in calls(read(self.top, folder, "CMakeLists.txt"), "landtrace_layer"):
            for used in after("USES", arguments):
                if used in self.all and used not in self.visible(layer):
                    yield f"{folder}/CMakeLists.txt: {layer} uses {used}, which is not above it"

    def includes(self, folder, layer):
        tests = set()
        for arguments in calls(read(self.top, folder, "CMakeLists.txt"), "landtrace_test"):
            tests |= set(after("SOURCES", arguments))
        for at, _, files in os.walk(os.path.join(self.top, folder)):
            for file in sorted(files):
                path = os.path.relpath(os.path.join(at, file), self.top)
                is_test = os.path.relpath(path, folder) in tests or "test" in re.split(r"[_.]", file)
                if is_test or not file.endswith((".hpp", ".cc", ".h", ".c")):
                    continue
                for included in INCLUDE.findall(read(self.top, path)):
                    if included in self.all and included not in self.visible(layer):
                        yield f"{path}: includes {included}, which is not above {layer}"

    def public_headers(self):
        for at, _, files in os.walk(os.path.join(self.top, "include")):
            for file in sorted(files):
                for included in INCLUDE.findall(read(at, file)):
                    if included in self.all:
                        yield f"include/{file}: includes {included}, which is not public"

    def table(self):
        """The rows of src/README.md: the layers of each group in the order of CMake."""
        rows = re.findall(r"^\|\s*`(\w+)/(\w+)`\s*\|\s*(\w+)\s*\|", read(self.top, "src", "README.md"), re.MULTILINE)
        for group in GROUPS:
            here = [name for folder, name, _ in rows if folder == group]
            if here != self.order[group]:
                yield f"src/README.md: lists {' '.join(here)}; src/CMakeLists.txt, for {group}: {' '.join(self.order[group])}"
        for group, name, runs_in_programs in rows:
            if (runs_in_programs == "yes") != (group == "producer"):
                yield f"src/README.md: {group}/{name} runs in programs: {runs_in_programs}"

    def disagreements(self):
        yield from self.folders()
        for group in GROUPS:
            for layer in self.order[group]:
                folder = os.path.join("src", group, layer)
                if os.path.exists(os.path.join(self.top, folder, "CMakeLists.txt")):
                    yield from self.uses(folder, layer)
                    yield from self.includes(folder, layer)
        yield from self.public_headers()
        yield from self.table()


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..")
    found = list(Tree(top).disagreements())
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
