"""Messages that nobody hears: the standard error is full, closed, or a pipe that nobody reads. All else is as ever."""
import os
import subprocess
import unittest

import support
from support import LANDTRACE, PRODUCER

WAYS = {"full": "2>/dev/full", "closed": "2>&-", "unread": "2>&1 >/dev/null | true"}


class Unheard(support.Case):
    def status(self, way, *words):
        script = f"set -o pipefail; trap '' PIPE; \"$@\" {WAYS[way]}"
        return subprocess.run(["bash", "-c", script, "bash", *words], timeout=support.TIMEOUT_S, env=self.environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode

    def test_a_recording_is_whole(self):
        for way in WAYS:
            for _ in range(2):  # the second moves an older one, and says so
                self.assertEqual(self.status(way, LANDTRACE, "record", "-o", self.file, "--", PRODUCER), 0, way)
                self.assertEqual(len(self.report_json()[0]), 10, way)

    def test_the_commands_status_is_passed_on(self):
        for way in WAYS:
            self.assertEqual(self.status(way, LANDTRACE, "record", "-o", self.file, "--", PRODUCER, "--exit", "6"), 6, way)

    def test_failures_are_failures(self):
        for way in WAYS:
            self.assertEqual(self.status(way, LANDTRACE, "report", os.path.join(self.folder, "nosuch")), 1, way)
            self.assertEqual(self.status(way, LANDTRACE, "recrod"), 2, way)

    def test_a_limit_on_files_is_a_failed_write(self):
        self.assertEqual(self.landtrace("record", "-o", self.file, "--", PRODUCER, "--count", "1000")[0], 0)
        for limit, words in ((8, ["report", self.file]), (8, ["export", "--format", "json", "-o", "out", self.file]),
                             (100, ["record", "-o", "other.dat", "--", PRODUCER])):
            done = subprocess.run(["bash", "-c", f"ulimit -f {limit}; exec \"$@\" >text", "bash", LANDTRACE, *words],
                                  cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False,
                                  timeout=support.TIMEOUT_S)
            self.assertEqual(done.returncode, 1, done)
            self.assert_one_line(done.stderr, "File too large")


if __name__ == "__main__":
    unittest.main()
