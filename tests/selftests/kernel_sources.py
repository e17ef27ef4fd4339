"""The selftests of user_events out of a kernel's source archive, compiled."""
import os
import shutil
import subprocess

SELFTESTS = "tools/testing/selftests/"
# Where the header was before 6.2, and where it is since.
HEADERS = ("include/linux/user_events.h", "include/uapi/linux/user_events.h")


def archive(kernel):
    """The path of the source archive, if it is installed."""
    path = os.path.join(os.environ.get("LANDTRACE_KERNEL_SOURCES", "/usr/src"), f"linux-source-{kernel}.tar.xz")
    return path if os.path.exists(path) else None


def stamp_of(path):
    status = os.stat(path)
    return f"{path} {status.st_size} {status.st_mtime_ns}\n"


def unpack(path, kernel, folder):
    root = f"linux-source-{kernel}/"
    wanted = [root + SELFTESTS + name for name in ("user_events", "kselftest.h", "kselftest_harness.h")]
    wanted += [root + header for header in HEADERS]
    # Not both headers are there: tar says so, and ends with an error after it has unpacked the rest.
    subprocess.run(["tar", "--extract", "--file", path, "--directory", folder, "--strip-components=1", *wanted],
                   stderr=subprocess.DEVNULL, check=False)


def compile_tests(folder, programs):
    header = next(path for path in (os.path.join(folder, name) for name in reversed(HEADERS)) if os.path.exists(path))
    include = os.path.join(folder, "selftests-include", "linux")
    os.makedirs(include)
    shutil.copy(header, include)
    for program in programs:
        source = os.path.join(folder, SELFTESTS, "user_events", program + ".c")
        subprocess.run([os.environ.get("CC", "cc"), "-w", "-I", os.path.dirname(include), source,
                        "-o", os.path.join(folder, program), "-lrt", "-lpthread", "-lm"], check=True)


def compiled(path, kernel, programs, work):
    """The folder with the programs, made where they are not there yet or are another archive's."""
    folder = os.path.join(work, "linux-" + kernel)
    stamp = os.path.join(folder, "stamp")
    if os.path.exists(stamp) and all(os.path.exists(os.path.join(folder, program)) for program in programs):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == stamp_of(path):
                return folder
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    unpack(path, kernel, folder)
    compile_tests(folder, programs)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(stamp_of(path))
    return folder
