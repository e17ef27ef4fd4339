"""The kernel's own verifier tests, unmodified, shown to our verifier: what the kernel refuses, ours refuses."""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import kernel_sources
import verifier_sources

KERNEL = "6.12"
HERE = os.path.dirname(os.path.abspath(__file__))


def exceptions():
    """{(object, program): why it is accepted here though the kernel refuses it}"""
    listed, reason = {}, None
    with open(os.path.join(HERE, "verifier-exceptions.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("["):
                reason = line.strip("[]")
            elif line and not line.startswith("#"):
                listed[tuple(line.split())] = reason
    return listed


def group_of(reason):
    """What was wrong, without where and how much."""
    return re.sub(r"-?\b(0x[0-9a-f]+|\d+)\b|R\d+", "N", reason.splitlines()[-1].split(": ")[0] if reason else "-")


class VerifierTest(unittest.TestCase):
    work = None

    @classmethod
    def setUpClass(cls):
        objects = verifier_sources.compiled(kernel_sources.archive(KERNEL), KERNEL, cls.work)
        out = subprocess.run([os.environ["VERIFIER"], *objects], stdout=subprocess.PIPE, text=True, check=True).stdout
        cls.programs = [json.loads(line) for line in out.splitlines()]

    def names(self, kernel, verdict, **more):
        more = {"kernel": kernel, "verdict": verdict, **more}
        return {(one["object"].removesuffix(".o"), one["program"]) for one in self.programs
                if all(one[key] == value for key, value in more.items())}

    def test_what_the_kernel_refuses_is_refused(self):
        # That a program returns a pointer may not hide what else is wrong with it.
        without_result = self.names("refuses", "refuses", called="accepts")
        self.assertEqual(self.names("refuses", "accepts") | without_result, set(exceptions()))

    def test_many_are_judged(self):
        self.assertGreater(len(self.names("refuses", "refuses")), 400)

    def test_what_the_kernel_accepts_and_runs_here_is_mostly_accepted(self):
        accepted = self.names("accepts", "accepts", ours=True)
        refused = self.names("accepts", "refuses", ours=True)
        print(f"of what the kernel accepts, of types that run here: {len(accepted)} accepted, {len(refused)} refused")
        groups = collections.Counter(group_of(one["reason"]) for one in self.programs
                                     if (one["object"].removesuffix(".o"), one["program"]) in refused)
        for reason, count in groups.most_common():
            print(f"{count:5} {reason}")
        self.assertGreater(len(accepted), len(refused))


def skip(reason):
    print("SKIPPED: " + reason)
    raise SystemExit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", required=True, help="where what is compiled is kept")
    arguments = parser.parse_args()
    if shutil.which("clang") is None or not os.path.exists("/usr/include/bpf/bpf_helpers.h"):
        skip("no clang or no libbpf-dev here")
    if kernel_sources.archive(KERNEL) is None:
        skip(f"no linux-source-{KERNEL} here (./dev selftests installs it)")
    VerifierTest.work = arguments.work
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
