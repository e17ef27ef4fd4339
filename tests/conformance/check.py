#!/usr/bin/env python3
"""Runs transcripts on a mounted tracefs and compares, but for the cases that expected-differences.txt lists with reasons.

  check.py --tracefs DIR [--way WAY] [--run 'landtrace run --'] [--verbose] FILE...
                                                        FILE as in linux-6.12/10-register.txt, beside this program

A listed case that passes is a failure, too: the list says what is so. WAY says how the files are reached, for differences
that only one way has: "mount" (the mounted files alone) or "shim" (the shim on top of them).
"""
import argparse, importlib.machinery, importlib.util, os, shlex, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True


def load_conform():
    loader = importlib.machinery.SourceFileLoader("conform", os.path.join(HERE, "conform"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("conform", loader))
    loader.exec_module(module)
    return module


def frugal(conform):
    """conform's session, which cleans the tree with a third of the requests: on a busy machine each of them waits its turn."""
    class Session(conform.Session):
        cleaning, settled = False, set()

        def clean(self):
            self.cleaning, self.settled = True, set()
            super().clean()
            self.cleaning = False

        def put(self, name, data, flags):
            if not self.cleaning or name not in ("synthetic_events", "dynamic_events"):
                return super().put(name, data, flags)
            if name in self.settled:  # empty, or emptied as far as it can be
                return "ok"
            before = self.c_cat([name])
            done = super().put(name, data, flags) if before != "(empty)" else "ok"
            if before == "(empty)" or self.c_cat([name]) == before:
                self.settled.add(name)
            else:  # what the other one could not let go of may be free now
                self.settled.clear()
            return done
    return Session


def expected_differences(way):
    """The cases that are listed for all ways, and those for this one: "FILE:CASE @WAY | reason"."""
    with open(os.path.join(HERE, "expected-differences.txt")) as lines:
        listed = [line.split("|")[0].strip() for line in lines if "|" in line and not line.startswith("#")]
    return {case.partition(" @")[0] for case in listed if case.partition(" @")[2] in ("", way)}


def differences(conform, session, steps):
    """The steps that were answered otherwise: (command, wanted, got)."""
    bad = []
    for command, want in steps:
        try:
            got = session.run(command)
        except Exception as error:  # a broken reply fails the case, not the run
            got = "!! %s: %s" % (type(error).__name__, error)
        got = [line.rstrip(" ") for line in got.split("\n")]
        if got != (want or [""]):
            bad.append((command, "\n".join(want), "\n".join(got)))
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tracefs", required=True)
    parser.add_argument("--way", default="")
    parser.add_argument("--run", default="", help="words before the program that is probed")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    conform, listed = load_conform(), expected_differences(options.way)
    conform.Session.runner = shlex.split(options.run)
    Session = frugal(conform)
    Session(options.tracefs).clean()
    passed = failed = different = 0
    for file in options.files:
        if os.path.basename(file).startswith("9") and Session.probed_program is None:
            Session.probed_program = conform.Probed()
        for name, steps in conform.parse(os.path.join(HERE, file)):
            full = os.path.basename(file) + ":" + name
            session = Session(options.tracefs)
            bad = differences(conform, session, steps)
            session.clean()
            if bool(bad) == (full in listed):
                different += bool(bad)
                passed += not bad
                continue
            failed += 1
            print("FAIL %s%s" % (full, "" if bad else ": listed as different, but it is not"))
            for command, want, got in bad if options.verbose else bad[:3]:
                print("  $ %s\n    want: %s\n    got:  %s" % (command, want, got))
    print("%d passed, %d failed, %d different on purpose" % (passed, failed, different))
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
