"""Members of structs that a program has described."""
import os
import unittest

import support

DESCRIBED = os.environ["DESCRIBED_PROGRAM"]
FIELDS = "u32 id; struct Shape shape 32; struct Position at 8; struct Plain plain 4"
TEXT = ("drawn: id=0x7 (7) shape={corners=[{x=1 y=-2},{x=3 y=4}] colour=1 filled=true name=box area=0.5} at={x=-5 y=6} "
        "plain=0x1234 (4660)")
JSON = {"id": 7, "shape": {"corners": [{"x": 1, "y": -2}, {"x": 3, "y": 4}], "colour": 1, "filled": True, "name": "box",
                           "area": 0.5}, "at": {"x": -5, "y": 6}, "plain": "34120000"}


class Structs(support.Case):
    def assert_members_are_shown(self):
        [line] = [line for line in self.report().splitlines() if not line.startswith("#")]
        self.assertTrue(line.endswith(TEXT), line)
        events, _ = self.report_json()
        self.assertEqual([event["fields"] for event in events], [JSON])

    def test_members_in_a_recording(self):
        status, _, err = self.landtrace("record", "-o", self.file, "--", DESCRIBED)
        self.assertEqual(status, 0, err)
        self.assert_members_are_shown()

    def test_members_in_a_recording_that_was_not_finished(self):
        self.serve()
        recording = self.start_recording()
        self.assertEqual(self.landtrace("run", "--", DESCRIBED)[0], 0)
        self.wait_until(lambda: "drawn" in self.landtrace("report", self.file)[1])
        recording.kill()
        recording.wait()
        self.assert_members_are_shown()
        status, _, err = self.landtrace("recover", self.file)
        self.assertEqual(status, 0, err)
        self.assert_members_are_shown()

    def test_an_event_that_was_there_before_is_described(self):
        self.serve()
        self.assertEqual(self.landtrace("write", "dynamic_events", f"u:drawn {FIELDS}")[0], 0)
        recording = self.start_recording()
        self.assertEqual(self.landtrace("run", "--", DESCRIBED)[0], 0)
        status, _, err = self.stop(recording)
        self.assertEqual(status, 0, err)
        self.assert_members_are_shown()

    def test_the_domains_files_are_the_kernels(self):
        self.serve()
        self.assertEqual(self.landtrace("write", "dynamic_events", f"u:drawn {FIELDS}")[0], 0)
        before = self.landtrace("cat", "events/user_events/drawn/format")[1]
        self.assertEqual(self.landtrace("write", "events/user_events/drawn/enable", "1")[0], 0)
        self.assertEqual(self.landtrace("run", "--", DESCRIBED)[0], 0)
        self.assertEqual(self.landtrace("cat", "events/user_events/drawn/format")[1], before)
        self.assertIn("field:struct Shape shape;", before)
        self.assertIn(f"u:drawn {FIELDS}", self.landtrace("cat", "dynamic_events")[1])
        self.assertIn(" at=0x6fffffffb (30064771067) ", self.landtrace("cat", "trace")[1])

    def test_members_are_what_latency_groups_by(self):
        status, out, err = self.landtrace("latency", "--from", "drawn", "--to", "drawn", "--key", "id", "--by", "at", "--",
                                          "sh", "-c", f"{DESCRIBED}; {DESCRIBED}")
        self.assertEqual(status, 0, err)
        self.assertIn('at={"x":-5,"y":6}: 1 event', out)


if __name__ == "__main__":
    unittest.main()
