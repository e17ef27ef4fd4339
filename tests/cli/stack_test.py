"""Stacks in a recording, when the program that made them is gone."""
import os
import re
import shutil
import subprocess
import unittest

import support
from support import PRODUCER, needs


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


class Triggers(support.Case):
    """`stacktrace` on an event of unmodified programs."""

    def setUp(self):
        super().setUp()
        self.serve()
        for file, text in (("dynamic_events", "u:job u32 source; u32 sequence"),
                           ("events/user_events/job/trigger", "stacktrace:1"), ("events/user_events/job/enable", "1")):
            status, _, err = self.landtrace("write", file, text)
            self.assertEqual(status, 0, err)

    def frames(self, *words):
        status, _, err = self.landtrace(*words)
        self.assertEqual(status, 0, err)
        lines = [line for line in self.landtrace("cat", "trace")[1].splitlines() if not line.startswith("#")]
        heads = [i for i, line in enumerate(lines) if "<user stack trace>" in line]
        self.assertEqual(len(heads), 1, lines)
        return lines[heads[0] + 1:]

    def option(self, name):
        self.assertEqual(self.landtrace("write", f"options/{name}", "1")[0], 0)
        return [line for line in self.landtrace("cat", "trace")[1].splitlines() if line.startswith(" => ")]

    def test_under_the_shim_it_begins_with_the_programs_call(self):
        frames = self.frames("run", "--", PRODUCER, "--abi", "--count", "3")
        self.assertRegex(frames[0], rf"^ => \w+\+0x[0-9a-f]+ \[{re.escape(PRODUCER)}\]$")
        self.assertIn(" => main+", "\n".join(frames))
        self.assertNotIn("landtrace-preload", "\n".join(frames))

    def test_the_native_library_leaves_itself_out(self):
        frames = self.frames("run", "--", PRODUCER, "--count", "3")
        self.assertRegex(frames[0], rf"^ => \w+\+0x[0-9a-f]+ \[{re.escape(PRODUCER)}\]$")
        self.assertNotIn("landtrace", "\n".join(frames).replace(PRODUCER, ""))

    def test_stacks_of_a_cpp_event_begin_with_its_caller(self):
        frames = self.frames("run", "--", os.environ["CPP_STACK_PROGRAM"])
        names = [frame.split("+")[0] for frame in frames]
        self.assertEqual(names[:2], [" => void caller<...>()", " => main"])

    def test_options_give_the_kernels_forms(self):
        frames = self.frames("run", "--", PRODUCER, "--abi", "--count", "3")
        self.assertRegex(self.option("sym-userobj")[0], rf"^ => {re.escape(PRODUCER)}\[\+0x[0-9a-f]+\]$")
        self.assertRegex(self.option("sym-addr")[0], rf"^ => {re.escape(PRODUCER)}\[\+0x[0-9a-f]+\] <[0-9a-f]{{16}}>$")
        self.assertGreater(len(frames), 2)


if __name__ == "__main__":
    unittest.main()
