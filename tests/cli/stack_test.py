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
        out = subprocess.run(["trace-cmd", "report", self.file], capture_output=True, text=True, timeout=support.TIMEOUT_S).stdout
        events, _ = self.report_json()
        addresses = [frame["address"][2:] for frame in events[1]["fields"]["caller"]]
        self.assertIn("user_stack:", out)
        # Its format has eight, as the kernel's.
        shown = re.findall(r"=> (?:0x)?([0-9a-f]+)$", out, re.M)
        self.assertEqual([address for address in shown if address != "0"], addresses[:8], out)
        self.assertEqual(len(shown), 8)


class StackVariables(support.Case):
    """A stack that a histogram keeps, in a synthetic event."""

    def setUp(self):
        super().setUp()
        self.serve()
        self.write("dynamic_events", "u:job u32 source; u32 sequence")
        self.write("synthetic_events", "deep u32 sequence; unsigned long[] stack")
        self.write("events/synthetic/deep/enable", "1")

    def write(self, file, text, *options):
        status, _, err = self.landtrace("write", *options, file, text)
        self.assertEqual(status, 0, err)

    def trigger(self, text, system="user_events", event="job"):
        self.write(f"events/{system}/{event}/trigger", text, "--append")

    def run_producer(self):
        status, _, err = self.landtrace("run", "--", PRODUCER, "--abi", "--count", "3")
        self.assertEqual(status, 0, err)
        return self.landtrace("cat", "trace")[1]

    def assert_stack(self, trace, sequence):
        text = trace[trace.index(f"deep: sequence={sequence} stack=STACK:"):]
        frames = text.split("\n")[1:3]
        for frame in frames:
            self.assertRegex(frame, "^=> 0x[0-9a-f]{6,}$")

    def test_the_own_one(self):
        self.trigger("hist:keys=source:st=common_stacktrace:x=sequence:onmax($x).trace(deep,sequence,$st)")
        self.assert_stack(self.run_producer(), 2)

    def test_a_copy(self):
        self.trigger("hist:keys=source:st=stacktrace:s=$st:x=sequence:onchange($x).deep($x,$s)")
        self.assert_stack(self.run_producer(), 2)

    def test_another_histograms(self):
        self.trigger("hist:keys=source:st=common_stacktrace if sequence == 1")
        self.trigger("hist:keys=source:n=sequence,s=$st:onmatch(user_events.job).trace(deep,$n,$s) if sequence == 2")
        self.assert_stack(self.run_producer(), 2)
        self.trigger("!hist:keys=source:n=sequence,s=$st:onmatch(user_events.job).trace(deep,$n,$s) if sequence == 2")
        self.trigger("hist:keys=source:n=sequence:onmatch(user_events.job).deep($n,$st) if sequence == 2")
        self.write("trace", "")
        self.assert_stack(self.run_producer(), 2)

    def test_it_is_a_key_of_the_event(self):
        self.trigger("hist:keys=source:st=common_stacktrace:x=sequence:onchange($x).trace(deep,sequence,$st)")
        self.trigger("hist:keys=stack.stacktrace", "synthetic", "deep")
        self.run_producer()
        text = self.landtrace("cat", "events/synthetic/deep/hist")[1]
        self.assertRegex(text, r"\{ stack.stacktrace (.*\n)* +main\+0x\w+ ")
        self.assertRegex(text, r"Hits: [23]\n")


class Options(support.Case):
    """options/stacktrace and options/userstacktrace: each event of the instance is followed by a stack."""

    def setUp(self):
        super().setUp()
        self.serve()
        self.write("dynamic_events", "u:job u32 source; u32 sequence")
        self.write("events/user_events/job/enable", "1")

    def write(self, file, text):
        status, _, err = self.landtrace("write", file, text)
        self.assertEqual(status, 0, err)

    def trace(self, *words, folder=""):
        """Of each line its event, or that it heads a stack, or a frame's function; of a run from here on."""
        self.write(folder + "trace", " ")
        status, _, err = self.landtrace("run", "--", PRODUCER, "--abi", "--count", "2", *words)
        self.assertEqual(status, 0, err)
        lines = [line for line in self.landtrace("cat", folder + "trace")[1].splitlines() if not line.startswith("#")]
        return [re.sub(r"^.*\d\.\d{6}: |:? source=.*|\+0x.*", "", line) for line in lines]

    def heads(self, *words, **options):
        return [line for line in self.trace(*words, **options) if not line.startswith(" => ")]

    def test_each_event_is_followed_by_its_stack(self):
        self.assertEqual(self.heads(), ["job", "job"])
        for option in ("stacktrace", "userstacktrace"):
            self.write("options/" + option, "1")
            lines = self.trace()
            self.assertEqual([line for line in lines if not line.startswith(" => ")], ["job", "<user stack trace>"] * 2)
            self.assertEqual(lines.count(" => main"), 2, lines)
            self.write("trace_options", "no" + option)
            self.assertEqual(self.heads(), ["job", "job"])

    def test_what_is_not_recorded_has_none(self):
        self.write("options/stacktrace", "1")
        self.write("trace_marker", "a note")
        self.assertNotIn("stack trace", self.landtrace("cat", "trace")[1])
        self.write("events/user_events/job/filter", "sequence == 1")
        self.assertEqual(self.heads(), ["job", "<user stack trace>"])
        self.write("events/user_events/job/trigger", "stacktrace:1 if sequence == 0")
        self.assertEqual(self.heads(), ["<user stack trace>", "job", "<user stack trace>"])

    def test_each_instance_has_its_own(self):
        self.assertEqual(self.landtrace("mkdir", "instances/other")[0], 0)
        self.write("instances/other/events/user_events/job/enable", "1")
        self.write("instances/other/options/stacktrace", "1")
        self.assertEqual(self.heads(), ["job", "job"])
        self.assertEqual(self.heads(folder="instances/other/"), ["job", "<user stack trace>"] * 2)
        self.write("options/stacktrace", "1")
        self.write("instances/other/options/stacktrace", "0")
        self.assertEqual(self.heads(), ["job", "<user stack trace>"] * 2)
        self.assertEqual(self.heads(folder="instances/other/"), ["job", "job"])
        self.assertEqual(self.landtrace("mkdir", "instances/late")[0], 0)  # it begins with what the top one has
        self.write("instances/late/events/user_events/job/enable", "1")
        self.assertEqual(self.heads(folder="instances/late/"), ["job", "<user stack trace>"] * 2)


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

    def test_stacks_of_a_synthetic_event_begin_with_its_caller(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-e", "synthetic:*", "--trigger", "stacktrace", "--",
                                        os.environ["CPP_STACK_PROGRAM"], "synthetic")
        self.assertEqual(status, 0, err)
        lines = self.report().splitlines()
        tops = [lines[i + 1].split("(")[0] for i, line in enumerate(lines) if "<user stack trace>" in line]
        self.assertEqual(tops, [" => trace_at_once", " => trace_in_pieces"])

    def test_options_give_the_kernels_forms(self):
        frames = self.frames("run", "--", PRODUCER, "--abi", "--count", "3")
        self.assertRegex(self.option("sym-userobj")[0], rf"^ => {re.escape(PRODUCER)}\[\+0x[0-9a-f]+\]$")
        self.assertRegex(self.option("sym-addr")[0], rf"^ => {re.escape(PRODUCER)}\[\+0x[0-9a-f]+\] <[0-9a-f]{{16}}>$")
        self.assertGreater(len(frames), 2)


if __name__ == "__main__":
    unittest.main()
