"""What could not be probed is told at the end, one line each."""
import os
import re
import shutil
import stat
import subprocess

import support
from support import AS_NOBODY, LANDTRACE, needs_root

UNFIT = support.copied(os.environ["UNFIT"], "unfit")
STATIC = support.copied(os.environ["PROBED_STATIC"], "probed_static")
DIFFERS = "the program's code differs from the file's"
TOO_NEAR = "too close to another probe"


class Unprobed(support.Case):
    def told(self, *words, status=0):
        """The lines of stderr that say so."""
        code, _, err = self.landtrace(*words)
        self.assertEqual(code, status, err)
        return [line.removeprefix("landtrace: ") for line in err.splitlines() if "probed" in line]

    def assert_told(self, lines, *whats):
        """Each of one program."""
        self.assertEqual(len(lines), len(whats), lines)
        for line, (place, why) in zip(lines, whats):
            self.assertRegex(line, rf"^process \d+ \(unfit\) could not be probed at unfit:{place}: {re.escape(why)}$")

    def test_record(self):
        probes = [word for name in ("fine", "near_a", "near_b", "spoilt") for word in ("-p", name)]
        lines = self.told("record", "-o", self.file, *probes, "--", UNFIT)
        self.assert_told(lines, ("near_b", TOO_NEAR), ("spoilt", DIFFERS))
        names = [event["event"] for event in self.report_json()[0]]
        self.assertEqual({name: names.count(name) for name in set(names)}, {"fine": 10, "near_a": 10})

    def test_what_could_be_probed_is_not_told(self):
        self.assertEqual(self.told("record", "-o", self.file, "-p", "fine", "-p", "near_b", "--", UNFIT), [])
        self.assertEqual(len(self.report_json()[0]), 20)

    def test_histograms_latencies_and_many_functions(self):
        spoilt = ("spoilt", DIFFERS)
        self.assert_told(self.told("hist", "-p", "spoilt", "--keys", "common_pid", "--", UNFIT), spoilt)
        self.assert_told(self.told("latency", "--function", "spoilt", "--", UNFIT), spoilt)
        self.assert_told(self.told("top-functions", "--", UNFIT), ("near_b", TOO_NEAR), spoilt)

    def test_several_programs(self):
        lines = self.told("record", "-o", self.file, "-p", f"{UNFIT}:spoilt", "--", "sh", "-c", f"{UNFIT}; {UNFIT}; true")
        self.assertEqual(lines, [f"2 programs could not be probed at unfit:spoilt: {DIFFERS}"])

    def test_programs_of_a_domain(self):
        self.serve()
        recorder = self.start_recording("-p", f"{UNFIT}:spoilt", "-p", f"{UNFIT}:fine")
        for _ in range(2):
            status, _, err = self.landtrace("run", "--", UNFIT)
            self.assertEqual(status, 0, err)
        _, _, err = self.stop(recorder)
        self.assertIn(f"2 programs could not be probed at unfit:spoilt: {DIFFERS}\n", err)
        self.assertNotIn("unfit:fine", err)

    def test_a_static_program(self):
        lines = self.told("record", "-o", self.file, "-p", "libc.so.6:malloc", "--", STATIC, "3")
        self.assertEqual(lines, [f"'{STATIC}' is linked statically: nothing can be loaded into it, and it was not probed"])

    @needs_root
    def test_a_setuid_program(self):
        os.chmod(self.folder, 0o777)
        program = shutil.copy("/bin/true", os.path.join(self.folder, "setuid"))
        os.chmod(program, os.stat(program).st_mode | stat.S_ISUID)
        words = ["record", "-o", self.file, "-p", "libc.so.6:malloc", "--", program]
        done = subprocess.run([*AS_NOBODY, LANDTRACE, *words], env=self.environment, cwd="/", capture_output=True, text=True,
                              timeout=support.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"landtrace: '{program}' has rights of its own (setuid): the system lets nothing be loaded", done.stderr)
        self.assertEqual(self.told(*words), [])  # as root it has none


if __name__ == "__main__":
    support.main_with_probes()
