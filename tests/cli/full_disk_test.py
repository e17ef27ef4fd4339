"""A disk that runs full ends the recording, not the program, and what was written stays readable."""
import json
import os
import shutil
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

    def test_a_recording_in_a_format_leaves_what_was_written(self):
        for form, name in (("json", "t.json"), ("ctf", "t.ctf")):
            path = os.path.join(os.path.dirname(self.file), name)
            status, _, err = self.landtrace("record", "--format", form, "-o", path, *self.flood)
            self.assertEqual(status, 1)
            self.assertEqual(err.count("No space left on device"), 1, err)
            self.assertIn(f"what was written until then is {path}.partial; `landtrace recover {path}` completes it", err)
            status, _, err = self.landtrace("recover", path)
            self.assertEqual(status, 0, err)
            self.assertEqual(os.listdir(os.path.dirname(path)), [name])
            if form == "json":
                events = [json.loads(line) for line in support.read_text(path).splitlines()]
                self.assertGreater(len(events), 10000)
                os.remove(path)
            elif shutil.which("babeltrace2"):
                read = subprocess.run(["babeltrace2", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
                self.assertGreater(read.stdout.count("user_events:job"), 10000)

    def test_a_disk_that_is_full_at_the_very_end_leaves_what_was_written(self):
        """Few events, all of which come between two looks at the disk."""
        with open(os.path.join(os.path.dirname(self.file), "filler"), "wb") as filler:
            os.posix_fallocate(filler.fileno(), 0, (16 << 20) - (64 << 10))
        path = os.path.join(os.path.dirname(self.file), "t.json")
        status, _, err = self.landtrace("record", "--format", "json", "-o", path, "--", PRODUCER, "--count", "1500")
        self.assertEqual(status, 1, err)
        self.assertEqual(err.count("No space left on device"), 1, err)
        self.assertIn(f"what was written until then is {path}.partial; `landtrace recover {path}` completes it", err)
        self.assertEqual(self.landtrace("recover", path)[0], 0)
        self.assertGreater(len([json.loads(line) for line in support.read_text(path).splitlines()]), 100)

    def test_what_needs_its_end_leaves_nothing(self):
        path = os.path.join(os.path.dirname(self.file), "perf.data")
        self.assertEqual(self.landtrace("record", "--format", "perf", "-o", path, *self.flood)[0], 1)
        self.assertEqual(os.listdir(os.path.dirname(path)), [])

    def test_commands_own_failure_is_passed_on(self):
        status, _, err = self.landtrace("record", "-o", self.file, *self.flood, "--exit", "6")
        self.assertEqual(status, 6, err)

    def test_nothing_is_said_of_events_that_it_was_too_full_for(self):
        """Whatever it records into: the first error is the only one."""
        with open(os.path.join(os.path.dirname(self.file), "filler"), "wb") as filler:
            os.posix_fallocate(filler.fileno(), 0, 16 << 20)
        for form in ("perf", "perfetto", "json", "ctf"):
            with self.subTest(form):
                path = os.path.join(os.path.dirname(self.file), form)
                status, _, err = self.landtrace("record", "--format", form, "-o", path, "--", "sh", "-c", f"sleep 0.3; {PRODUCER}")
                self.assertEqual(status, 1, err)
                self.assert_one_line(err, "No space left on device")

    def test_disk_without_room_for_anything(self):
        with open(os.path.join(os.path.dirname(self.file), "filler"), "wb") as filler:
            os.posix_fallocate(filler.fileno(), 0, 15 << 20)
        status, _, err = self.landtrace("record", "-o", self.file, "--", "true")
        self.assertEqual(status, 1)
        self.assert_one_line(err, self.file, "No space left")


if __name__ == "__main__":
    unittest.main()
