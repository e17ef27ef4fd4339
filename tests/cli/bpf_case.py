"""What the tests of eBPF share: objects that are compiled for them, and who can run them."""
import os
import platform
import shutil
import subprocess
import tempfile
import unittest

import support
from support import LANDTRACE

REQUESTS = support.copied(os.environ["REQUESTS"])
LOADER = os.path.join(os.path.dirname(os.environ["SHIM"]), "landtrace-bpf")
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "count.bpf.c")
INCLUDES = f"-I/usr/include/{platform.machine()}-linux-gnu"

HEAD = """
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 8); __type(key, int); __type(value, long); } counts SEC(".maps");
char LICENSE[] SEC("license") = "GPL";
"""


def compiled(source, folder, *options):
    made = os.path.join(folder, os.path.basename(source) + "".join(options) + ".o")
    subprocess.run(["clang", "-O2", "-g", "-target", "bpf", *options, INCLUDES, "-c", source, "-o", made], check=True)
    return made


class Bpf(support.Case):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="landtrace-bpf-")
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def program(self, body):
        source = os.path.join(self.folder, "program.c")
        with open(source, "w", encoding="utf-8") as text:
            text.write(HEAD + body)
        return compiled(source, self.folder)

    def example(self, *options):
        source = shutil.copy(EXAMPLE, self.folder)
        return compiled(source, self.folder, *options)


def main():
    """unittest.main() where objects can be compiled and loaded."""
    if not os.path.exists(LOADER):
        print("SKIPPED: built without libbpf (libbpf-dev)")
    elif not support.works("sh", "-c", "clang --print-targets | grep -q ' bpf '"):
        print("SKIPPED: no clang that compiles for eBPF")
    else:
        shutil.copy(LOADER, os.path.join(os.path.dirname(LANDTRACE), "..", "lib", "landtrace"))
        unittest.main()
