"""A disk that runs full ends the recording, not the program, and what was written stays readable."""
import os
import subprocess
import unittest

import support
from support import PRODUCER


@support.needs_root
class FullDisk(support.Case):
    def setUp(self):
        super().setUp()
        disk = os.path.join(self.folder, "disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16M", "tmpfs", disk], check=False).returncode != 0:
            self.skipTest("SKIPPED: may not mount a tmpfs here")
        self.addCleanup(subprocess.run, ["umount", "-l", disk], check=False)
        self.file = os.path.join(disk, "trace.dat")
        # The buffer alone holds more than the disk, so that it gets full however slow this machine is.
        self.flood = ["--buffer-size", "64M", "--", PRODUCER, "--count", "5000000"]

    def test_recording_ends_with_one_clear_error(self):
        status, out, err = self.landtrace("record", "-o", self.file, *self.flood)
        self.assertEqual(status, 1)
        self.assertEqual(err.count("No space left on device"), 1, err)
        self.assertEqual(err.count("\n"), 2, err)
        self.assertIn("emitted", out)
        summary = support.Summary(err, out)
        events, lost = self.report_json()
        self.assertGreater(len(events), 100000)
        self.assertEqual((len(events), lost), (summary.events, summary.lost))
        self.assertEqual(summary.emitted, summary.events + summary.lost)
        self.assertEqual(os.listdir(os.path.dirname(self.file)), ["trace.dat"])

    def test_commands_own_failure_is_passed_on(self):
        status, _, err = self.landtrace("record", "-o", self.file, *self.flood, "--exit", "6")
        self.assertEqual(status, 6, err)

    def test_disk_without_room_for_anything(self):
        with open(os.path.join(os.path.dirname(self.file), "filler"), "wb") as filler:
            os.posix_fallocate(filler.fileno(), 0, 15 << 20)
        status, _, err = self.landtrace("record", "-o", self.file, "--", "true")
        self.assertEqual(status, 1)
        self.assert_one_line(err, self.file, "No space left")


if __name__ == "__main__":
    unittest.main()
