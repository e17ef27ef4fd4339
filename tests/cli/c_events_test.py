"""Events that C and C++11 programs declare by macros."""
import os
import unittest

import support

PROGRAMS = os.environ["EVENTS_PROGRAMS"].split(":")


class CEvents(support.Case):
    def test_every_kind_of_field_is_reported_as_it_was_emitted(self):
        for program in PROGRAMS:
            with self.subTest(program):
                status, out, err = self.landtrace("record", "-o", self.file, "--", program, "3")
                self.assertEqual((status, out), (0, "3 of 3 had a listener\n"), err)
                events, lost = self.report_json()
                fields = [(event["event"], event["fields"]) for event in events]
                self.assertEqual((len(fields), lost), (5, 0))
                self.assertEqual(fields[0], ("req_done", {"id": 0, "route": "/index"}))
                self.assertEqual(fields[1], ("req_done", {"id": 1, "route": "(null)"}))
                self.assertEqual(fields[3], ("sample", {
                    "small": 200, "negative": -3, "large": 1 << 40, "is_set": 1, "letter": ord("x"), "part": 0.5,
                    "whole": -2.25, "where": 0x1000, "name": "cut at e", "text": "text", "bytes": [1, 0xfe],
                    "last": -5}))
                self.assertEqual(fields[4], ("tick", {}))

    def test_nothing_is_emitted_while_nobody_listens(self):
        self.serve()
        for program in PROGRAMS:
            status, out, err = self.landtrace("run", "--", program, "3")
            self.assertEqual((status, out), (0, "0 of 3 had a listener\n"), err)


if __name__ == "__main__":
    unittest.main()
