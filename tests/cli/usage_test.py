"""Help, exit statuses, and what bad input gets: one line, 2 for bad use, 1 for failure."""
import os
import subprocess
import unittest

import support
from support import LANDTRACE


class Usage(support.Case):
    def assert_refused(self, status, words, *parts, **options):
        got, out, err = self.landtrace(*words, **options)
        self.assertEqual(got, status, (words, err))
        self.assertEqual(out, "")
        self.assert_one_line(err, *parts)

    def test_help_of_everything(self):
        for words in ([], ["record"], ["report"], ["list"], ["run"], ["cat"], ["write"], ["ls"], ["mkdir"], ["rmdir"],
                      ["mount"], ["umount"], ["domain"], ["doctor"]):
            status, out, err = self.landtrace(*words, "--help")
            self.assertEqual((status, err), (0, ""))
            self.assertIn("Usage: landtrace", out)
            if words:
                self.assertIn("Examples:", out)

    def test_version(self):
        status, out, _ = self.landtrace("--version")
        self.assertEqual(status, 0)
        self.assertRegex(out, r"^landtrace \d+\.\d+\.\d+\n$")

    def test_bad_use(self):
        for words in ([], ["bogus"], ["record", "--bogus"], ["record", "-o"], ["record", "--bogus", "--", "true"],
                      ["report", "--limit", "few"], ["report", "--limit", "-3"], ["hist", "job", "--keys", "a", "--size", "-1"], ["report", "a", "b"], ["report", "--", "x"], ["run"],
                      ["run", "--"], ["list", "--socket"], ["list", "a", "--socket", "b"], ["cat"], ["cat", "--", "x"], ["write"],
                      ["write", "--bogus", "x"], ["ls", "a", "b"], ["mkdir"], ["rmdir"],
                      ["mount"], ["mount", "a", "b"], ["mount", "a", "--abi", "5"], ["umount"], ["doctor", "x"],
                      ["run", "--map-root-user", "true"], ["record", "--tracefs"]):
            self.assert_refused(2, words)

    def test_what_may_have_been_meant_and_whose_help_says_more(self):
        for words, said in ((["recrod", "true"], "there is no command 'recrod'; did you mean record? (see landtrace --help)"),
                            ([], "want a command (see landtrace --help)"),
                            (["report", "--limit", "-3"], "--limit: want a whole number, not '-3' (see landtrace report --help)"),
                            (["report", "--limit"], "--limit: want N (see landtrace report --help)"),
                            (["record", "--duratoin", "3"],
                             "unknown option '--duratoin'; did you mean --duration? (see landtrace record --help)"),
                            (["run", "--tracfes", "true"], "unknown option '--tracfes'; did you mean --tracefs? (see landtrace run --help)"),
                            (["list", "a", "b"], "unexpected argument 'b' (see landtrace list --help)"),
                            (["hist"], "EVENT is required (see landtrace hist --help)"),
                            (["--bogus"], "unknown option '--bogus' (see landtrace --help)")):
            status, out, err = self.landtrace(*words)
            self.assertEqual((status, out, err), (2, "", f"landtrace: {said}\n"))

    def test_bad_pattern(self):
        self.assert_refused(2, ["record", "-e", "", "--", "true"], "pattern ''")
        self.assert_refused(2, ["report", "-e", ""], "-e,--event: want PATTERN, not an empty word")
        for pattern in (":x", "a b", "[x", "a:b[c"):
            self.assert_refused(2, ["record", "-e", pattern, "--", "true"], f"pattern '{pattern}'")
            self.assert_refused(2, ["report", "-e", pattern], f"pattern '{pattern}'")

    def test_bad_quantities(self):
        for size in ("0", "x", "4X", "-1", "1000G"):
            self.assert_refused(2, ["record", "--buffer-size", size, "--", "true"], "size")
        for time in ("0", "x", "-1", ""):
            self.assert_refused(2, ["record", "--duration=" + time, "--", "true"])
        self.assert_refused(2, ["report", "--from", "soon"], "'soon'")

    def test_bad_files(self):
        self.assert_refused(1, ["report", "none.dat"], "none.dat", "No such file")
        self.assert_refused(1, ["list", "none.dat"], "none.dat", "No such file")
        with open(self.file, "wb") as file:
            file.write(b"\0" * 5000)
        self.assert_refused(1, ["report", self.file], self.file)
        self.assert_refused(1, ["report", "/"])

    def test_unwritable_output_and_nothing_runs(self):
        for path, reason in (("/nowhere/x.dat", "No such file"), (self.folder, "Is a directory"),
                             ("/dev/null", "not a regular file")):
            self.assert_refused(1, ["record", "-o", path, "--", "touch", self.folder + "/ran"], path, reason)
        self.assertFalse(os.path.exists(self.folder + "/ran"))

    def test_command_that_cannot_run(self):
        self.assert_refused(127, ["record", "-o", self.file, "--", "no-such-program"], "'no-such-program'")
        plain = os.path.join(self.folder, "plain")
        with open(plain, "w", encoding="ascii"):
            pass
        self.assert_refused(126, ["record", "-o", self.file, "--", plain], plain)
        self.assertFalse(os.path.exists(self.file))

    def test_missing_shim(self):
        environment = dict(self.environment, LANDTRACE_PRELOAD="/nowhere/shim.so")
        self.assert_refused(1, ["record", "--", "true"], "/nowhere/shim.so", env=environment)

    def test_nobody_there(self):
        self.assert_refused(1, ["list"], self.socket, "landtrace record")
        self.assert_refused(1, ["run", "--", "true"], self.socket, "landtrace record")
        self.assert_refused(1, ["list", "--socket", "/nowhere"], "/nowhere")
        for words in (["cat", "README"], ["write", "set_event", "x"], ["ls"], ["mkdir", "instances/x"]):
            self.assert_refused(1, words, self.socket, "landtrace record")

    def test_reader_that_goes_away_is_no_failure(self):
        self.record("--count", "20000")
        for options in ([], ["--json"]):
            with subprocess.Popen([LANDTRACE, "report", self.file, *options], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                process.stdout.readline()
                process.stdout.close()
                self.assertEqual(process.stderr.read(), b"")
                self.assertIn(process.wait(), (0, -13))

    def test_full_standard_output(self):
        self.record("--count", "10")
        with open("/dev/full", "w", encoding="ascii") as full:
            status, _, err = self.landtrace("report", self.file, stdout=full)
        self.assertEqual(status, 1)
        self.assert_one_line(err, "No space left")


if __name__ == "__main__":
    unittest.main()
