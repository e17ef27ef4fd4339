#!/usr/bin/env python3
"""What an event of 16 bytes costs in each language, off and recorded, beside C in the same run.

    bindings/tests/costs.py [BUILD [ROUNDS]]     after ./dev test, which builds the packages; medians of the rounds (9)

Off: nobody listens; the empty turn of each program's own loop is taken away, and each run gives the best of its 20 rounds.
Recorded: by `landtrace record`, which must lose nothing. The figures in brackets are the least and the largest of the
rounds: how noisy the machine was.

Beside Python's events sys.audit() of the same Python: on with a hook that does nothing; and, where that Python has USDT
places (--with-dtrace), with its place `audit` recorded.
"""
import os
import statistics
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(TOP, "build"))
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 9
LIBRARY = os.path.join(BUILD, "src", "producer", "client")
PACKAGES = os.path.join(BUILD, "bindings", "tests")
BINDINGS = os.path.join(TOP, "bindings")


def programs(folder):
    """(language, turns when off, turns when on, how it is recorded or None, command, more words of it when on)"""
    source = os.path.join(BINDINGS, "tests", "cost.c")
    linked = ["-O2", "-I" + os.path.join(TOP, "include"), source, "-L" + LIBRARY, "-llandtrace", "-o"]
    c, cpp = os.path.join(folder, "c"), os.path.join(folder, "cpp")
    subprocess.run(["cc", "-std=gnu11", *linked, c], check=True)
    subprocess.run(["c++", "-std=c++20", "-x", "c++", *linked, cpp], check=True)
    yield "C11", 10**7, 10**6, [], [c], []
    yield "C++20", 10**7, 10**6, [], [cpp], []
    rust = os.path.join(PACKAGES, "rust", "release", "examples", "cost")
    if os.path.exists(rust):
        yield "Rust", 10**7, 10**6, [], [rust], []
    go = os.path.join(PACKAGES, "go")
    if os.path.isdir(go):
        environment = dict(os.environ, GOCACHE=os.path.join(go, "cache"), GOPATH=os.path.join(go, "path"), GOFLAGS="-mod=mod",
                           GOPROXY="off", PKG_CONFIG_PATH=go)
        for name, cgo, tags in ("library", "1", "landtrace_cgo"), ("files", "0", ""):
            program = os.path.join(folder, "go_by_" + name)
            subprocess.run(["/usr/bin/go", "build", "-tags", tags, "-o", program, "./cost"], check=True,
                           cwd=os.path.join(BINDINGS, "go"), env=dict(environment, CGO_ENABLED=cgo))
            by_library = name == "library"
            yield (f"Go, by the {name}", 10**7, 10**6 if by_library else 10**4, [] if by_library else ["--tracefs"],
                   [program], [])
    yield "Python", 10**6, 10**6, [], [sys.executable, os.path.join(BINDINGS, "tests", "cost.py")], []
    audit = [sys.executable, os.path.join(BINDINGS, "tests", "cost_audit.py")]
    yield "sys.audit, a hook", 10**6, 10**6, None, audit, ["hook"]
    if has_usdt_place(sys.executable, "audit"):
        yield "sys.audit, USDT", 10**6, 10**6, ["-e", f"usdt:{sys.executable}:audit"], audit, []


def has_usdt_place(program, place):
    listed = subprocess.run([os.path.join(BUILD, "bin", "landtrace"), "list", "--usdt", program], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True, check=False)
    return f":{place}" in listed.stdout


def run(environment, *words):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment, check=True)
    if " 0 lost" not in done.stderr and "events" in done.stderr:
        sys.exit(done.stderr)
    empty, emitted = map(float, done.stdout.split())
    return emitted - empty


def text(values, base):
    middle = statistics.median(values)
    return f"{middle:9.1f} [{min(values):.1f} to {max(values):.1f}] ns, {middle / base:.2f} x C"


def main():
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, XDG_RUNTIME_DIR=folder, LD_LIBRARY_PATH=LIBRARY,
                           PYTHONPATH=os.path.join(BUILD, "bindings", "python"))
        environment.pop("LANDTRACE_SOCKET", None)
        record = [os.path.join(BUILD, "bin", "landtrace"), "record", "--buffer-size", "64M", "-o",
                  os.path.join(folder, "t.dat")]
        rows = list(programs(folder))
        off, recorded = [[[] for _ in rows] for _ in range(2)]
        for _ in range(ROUNDS):  # interleaved, so that what disturbs one disturbs all
            for i, (_, off_turns, on_turns, how, command, words) in enumerate(rows):
                off[i].append(run(environment, *command, off_turns))
                recorder = [] if how is None else [*record, *how, "--"]
                recorded[i].append(run(environment, *recorder, *command, on_turns, *words))
        for i, (language, *_) in enumerate(rows):
            print(f"{language:18} off {text(off[i], statistics.median(off[0]))}")
            print(f"{'':18} on  {text(recorded[i], statistics.median(recorded[0]))}")


if __name__ == "__main__":
    main()
