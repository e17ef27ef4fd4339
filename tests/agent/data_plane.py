#!/usr/bin/env python3
"""What runs at a probe's hit runs in the middle of any function: it may not touch a vector register, in which that
function's arguments may lie, and not call anything of libc, which may itself be probed.

    data_plane.py liblandtrace-agent.so FOLDER-OF-OBJECTS
"""
import os
import re
import subprocess
import sys

# Goes through two registers, and puts back what was in them (arch/kept_vectors.hpp).
KEEPS_WHAT_IT_USES = re.compile(r"write_rseq|write_exclusive")
# The sources that a hit runs through, as the object files are called.
DATA_PLANE = """
arch/write_rseq arch/write_exclusive arch/thread_time arch/rseq ring/writer abi/entry filter/evaluate filter/find_text
hist/evaluate hist/operands hist/run_actions plan/emit plan/event_probe plan/histogram plan/made_payload plan/probe
plan/program_memory plan/triggers agent/data_plane hits
""".split()
# Set up when the program starts; or variables.
NOT_CALLED_AT_A_HIT = {"clock_getres", "__rseq_offset", "__rseq_size", "_GLOBAL_OFFSET_TABLE_"}


def functions_with_vectors(library):
    code = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", library], check=True, text=True,
                          capture_output=True).stdout
    name, found = "", set()
    for line in code.splitlines():
        if start := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            name = start[1]
        elif re.search(r"%[xyz]mm\d", line):
            found.add(name)
    return found


def symbols(objects, *options):
    text = subprocess.run(["nm", "-C", *options, *objects], check=True, text=True, capture_output=True).stdout
    return {line.split()[-1] if "landtrace" not in line else "landtrace::"
            for line in text.splitlines() if line and not line.endswith(":")}


def main():
    library, folder = sys.argv[1:]
    ours = {name for name in functions_with_vectors(library)
            if "landtrace" in name and not KEEPS_WHAT_IT_USES.search(name)}
    objects = {os.path.relpath(os.path.join(root, file), folder): os.path.join(root, file)
               for root, _, files in os.walk(folder) for file in files if file.endswith(".o")}
    plane, given = [], []
    for name, path in objects.items():
        if re.sub(r"^.*__/|\.cc\.o$", "", name) in DATA_PLANE:
            plane.append(path)
        elif name.endswith("freestanding.cc.o"):
            given.append(path)
    missing = len(DATA_PLANE) - len(plane)
    called = symbols(plane, "-u") - symbols(given, "--defined-only") - NOT_CALLED_AT_A_HIT - {"landtrace::"}
    called = {name for name in called if not name.startswith("lt_agent_")}
    for name in sorted(ours):
        print(f"{name} uses a vector register")
    for name in sorted(called):
        print(f"the data plane calls {name}")
    if missing:
        print(f"{missing} object files of the data plane are not there")
    return 1 if ours or called or missing else 0


if __name__ == "__main__":
    sys.exit(main())
