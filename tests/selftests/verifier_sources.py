"""The kernel's verifier tests out of its source archive, compiled for eBPF."""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess

import kernel_sources

TESTS = kernel_sources.SELFTESTS + "bpf/"
# Libc's headers take eBPF for a machine of 32 bits, and look for a file that only those have.
MACHINE = "machine"
# Generated from a kernel's own types; there is none here.
NEEDS_A_KERNEL = re.compile(r"#include [<\"](vmlinux|bpf_experimental)\.h")
ERROR = re.compile(r"^[^\s:]+\.c:(\d+):\d+: error:", re.MULTILINE)


def unpack(path, kernel, folder):
    root = f"linux-source-{kernel}/"
    wanted = [root + name for name in (TESTS + "*.h", TESTS + "progs/*.h", TESTS + "progs/verifier_*.c", "tools/include")]
    subprocess.run(["tar", "--extract", "--file", path, "--directory", folder, "--strip-components=1", "--wildcards",
                    "--no-wildcards-match-slash", *wanted], check=True)


def without_functions(text, lines):
    """The source without the programs that these lines are in; what is left stays in its lines."""
    kept = text.split("\n")
    for line in lines:
        begin = end = line - 1
        while begin > 0 and not kept[begin].startswith("SEC("):
            begin -= 1
        while end + 1 < len(kept) and kept[end] != "}":
            end += 1
        kept[begin:end + 1] = [""] * (end + 1 - begin)
    return "\n".join(kept)


def compile_one(folder, source, out):
    """Whether there is an object. Programs with instructions that the compiler does not know yet are left out of it."""
    with open(source, encoding="utf-8") as file:
        text = file.read()
    if NEEDS_A_KERNEL.search(text):
        return False
    includes = [os.path.join(folder, name) for name in (TESTS, TESTS + "progs", "tools/include/uapi", "tools/include")]
    command = ["clang", "-O2", "-g", "-w", "--target=bpf", "-mcpu=v3", "-ferror-limit=0", "-fno-caret-diagnostics",
               "-D__TARGET_ARCH_x86", *(f"-I{name}" for name in includes),
               # Where Debian has the headers that are the machine's, and what those look for.
               "-idirafter", "/usr/include/x86_64-linux-gnu", "-idirafter", os.path.join(folder, MACHINE),
               "-x", "c", "-c", "-", "-o", out]
    for _ in range(3):
        done = subprocess.run(command, input=f'#line 1 "test.c"\n{text}', capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return True
        lines = sorted({int(line) for line in ERROR.findall(done.stderr)})
        if not lines:
            return False
        text = without_functions(text, lines)
    return False


def compiled(path, kernel, work):
    """The objects, made where they are not there yet or are another archive's."""
    folder = os.path.join(work, f"linux-{kernel}-verifier")
    stamp = os.path.join(folder, "stamp")
    if os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == kernel_sources.stamp_of(path):
                return sorted(glob.glob(os.path.join(folder, "*.o")))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    unpack(path, kernel, folder)
    os.makedirs(os.path.join(folder, MACHINE, "gnu"))
    with open(os.path.join(folder, MACHINE, "gnu", "stubs-32.h"), "w", encoding="utf-8"):
        pass
    sources = glob.glob(os.path.join(folder, TESTS, "progs", "verifier_*.c"))
    objects = [os.path.join(folder, os.path.basename(source)[:-2] + ".o") for source in sources]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        list(workers.map(lambda pair: compile_one(folder, *pair), zip(sources, objects)))
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(kernel_sources.stamp_of(path))
    return sorted(glob.glob(os.path.join(folder, "*.o")))
