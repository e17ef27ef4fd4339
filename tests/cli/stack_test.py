"""Stacks in a recording, when the program that made them is gone."""
import os
import re
import shutil
import subprocess
import unittest

import support
from support import needs


class Stacks(support.Case):
    def setUp(self):
        super().setUp()
        self.program = shutil.copy(os.environ["STACK_PROGRAM"], os.path.join(self.folder, "stacks"))
        status, _, err = self.landtrace("record", "-o", self.file, "--", self.program)
        self.assertEqual(status, 0, err)

    def frames(self):
        lines = [line for line in self.report().splitlines() if not line.startswith("#")]
        self.assertRegex(lines[0], r" stacks-\d+ .*: job:No fields found$")
        self.assertRegex(lines[1], r" stacks-\d+ .*: <user stack trace>$")
        return lines[2:]

    def test_functions_and_objects(self):
        frames = self.frames()
        program = re.escape(f"[{self.program}]")
        self.assertRegex(frames[0], rf"^ => innermost_function\+0x[0-9a-f]+ {program}$")
        self.assertRegex(frames[1], r"^ => ([\w.]+\+0x\w+ \[/.*/libc.so.6\]|/.*/libc.so.6\[\+0x\w+\])$")
        names = [frame.split("+")[0] for frame in frames]
        self.assertLess(names.index(" => sorting_function"), names.index(" => main"))
        self.assertEqual(names[-1], " => _start")

    def test_json(self):
        events, _ = self.report_json()
        self.assertEqual([event["event"] for event in events], ["job", "user_stack"])
        stack = events[1]["fields"]
        self.assertEqual(stack["tgid"], events[1]["tgid"])
        self.assertEqual(stack["caller"][0]["function"], "innermost_function")
        self.assertEqual(stack["caller"][0]["object"], self.program)

    def test_a_file_that_was_replaced_names_no_functions(self):
        subprocess.run(["objcopy", "--remove-section=.note.gnu.build-id", self.program], check=True)
        self.assertRegex(self.frames()[0], rf"^ => {re.escape(self.program)}\[\+0x[0-9a-f]+\]$")

    def test_a_file_that_is_gone_names_no_functions(self):
        os.remove(self.program)
        self.assertRegex(self.frames()[0], rf"^ => {re.escape(self.program)}\[\+0x[0-9a-f]+\]$")

    @needs("trace-cmd")
    def test_trace_cmd_prints_the_addresses(self):
        out = subprocess.run(["trace-cmd", "report", self.file], capture_output=True, text=True, timeout=60).stdout
        events, _ = self.report_json()
        addresses = [frame["address"][2:] for frame in events[1]["fields"]["caller"]]
        self.assertIn("user_stack:", out)
        # Its format has eight, as the kernel's.
        shown = re.findall(r"=> (?:0x)?([0-9a-f]+)$", out, re.M)
        self.assertEqual([address for address in shown if address != "0"], addresses[:8], out)
        self.assertEqual(len(shown), 8)


if __name__ == "__main__":
    unittest.main()
