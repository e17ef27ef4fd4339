#!/usr/bin/env python3
"""The objects that run at a hit use no vector register and nothing of other objects.

    data_plane_check.py NM OBJDUMP OBJECT...     looks at those of data_plane.cc; exits 1 with what is wrong
"""

import re
import subprocess
import sys

ALLOWED = {"_GLOBAL_OFFSET_TABLE_", "lt_agent_return_stubs", "lt_agent_return_stubs_end"}
VECTOR = re.compile(r"%(?:[xyz]mm\d|mm\d|st\b|k[0-7]\b)")


def main():
    nm, objdump = sys.argv[1:3]
    objects = [name for name in sys.argv[3:] if "data_plane" in name]
    wrong = [] if objects else ["there is no object of data_plane.cc"]
    for name in objects:
        undefined = subprocess.run([nm, "-u", name], check=True, capture_output=True, text=True).stdout
        wrong += [f"{name}: uses {line.split()[-1]}" for line in undefined.splitlines()
                  if line.split()[-1] not in ALLOWED]
        code = subprocess.run([objdump, "-d", name], check=True, capture_output=True, text=True).stdout
        wrong += [f"{name}: {line.strip()}" for line in code.splitlines() if VECTOR.search(line)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
