"""The kernel's own selftests for user_events, unmodified, under `landtrace run --tracefs`: what passes on the kernel passes here."""
import argparse
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import kernel_sources  # noqa: E402
import support  # noqa: E402

PROGRAM_S = 240
BOUNDED = 'exec timeout -s KILL "$1" "$2" </dev/null 2>&1 | head -c 1000000'
# The harness gives a test up after 30 seconds, by SIGALRM: one of the old harness that fails begins again with cleaning
# up, for ever, and takes a processor. All others of its program take less than a second, so it hears that after ten.
WITH_ONE_THAT_FAILS = """{
  timeout -s KILL "$1" sh -c '(while sleep 10; [ /proc/$$/exe -ef "$0" ]; do kill -ALRM $$; done) >&- 2>&- & exec "$0"' "$2" </dev/null
} 2>&1 | head -c 1000000"""


def what_the_kernel_answers(kernel):
    """{program: {test: passes}}"""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"linux-{kernel}.txt")
    answers = {}
    for line in support.read_text(path).splitlines():
        if line and not line.startswith("#"):
            program, test, answer = line.split()
            answers.setdefault(program, {})[test] = answer == "passes"
    return answers


class SelftestsTest(support.UnderTracefs, support.Case):
    kernel = work = None

    @classmethod
    def setUpClass(cls):
        cls.wanted = what_the_kernel_answers(cls.kernel)
        cls.programs = kernel_sources.compiled(kernel_sources.archive(cls.kernel), cls.kernel, cls.wanted, cls.work)

    def setUp(self):
        super().setUp()
        self.serve(*(["--abi", self.kernel] if self.kernel == "6.1" else []))

    def results(self, program):
        shutil.copy(os.path.join(self.programs, program), self.folder)
        path = os.path.join(self.folder, program)
        command = BOUNDED if all(self.wanted[program].values()) else WITH_ONE_THAT_FAILS
        _, out, err = self.run_tracefs("sh", "-c", command, "sh", str(PROGRAM_S), path, timeout=2 * PROGRAM_S)
        print(out + err, flush=True)
        return {test: verdict == "ok" for verdict, test in re.findall(r"^(ok|not ok) \d+ (\S+)", out, re.MULTILINE)}

    def test_what_passes_on_the_kernel_passes_here(self):
        for program, answers in self.wanted.items():
            with self.subTest(program):
                results = self.results(program)
                self.assertEqual(set(results), set(answers), "tests that were run")
                to_pass = {test for test, passes in answers.items() if passes}
                self.assertEqual(to_pass - {test for test, passes in results.items() if passes}, set(), "tests that fail")


def skip(reason):
    print("SKIPPED: " + reason)
    raise SystemExit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel")
    parser.add_argument("--work", required=True, help="where what is compiled is kept")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        skip("the kernel's selftests want root")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK) or not support.works("unshare", "-m", "true"):
        skip("no /dev/fuse or no mount namespaces here")
    if kernel_sources.archive(arguments.kernel) is None:
        skip(f"no linux-source-{arguments.kernel} here (./dev selftests installs it)")
    SelftestsTest.kernel, SelftestsTest.work = arguments.kernel, arguments.work
    support.unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
