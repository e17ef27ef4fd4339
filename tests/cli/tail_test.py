"""landtrace tail: events as lines, as they happen."""
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import support
from support import AS_NOBODY, LANDTRACE, PRODUCER

LINE = re.compile(r" *(\S+)-(\d+) +\[(\d+)\] \.{5} +(\S+): (\w+): (.*)")
CPU = min(os.sched_getaffinity(0))


class OfACommand(support.Case):
    def lines(self, *words, status=0):
        got, out, err = self.landtrace("tail", *words)
        self.assertEqual(got, status, err)
        return out.splitlines(), err

    def test_every_event_of_it_and_nothing_else(self):
        for options in ([], ["--abi"]):
            lines, err = self.lines("--", PRODUCER, *options)
            self.assertEqual(err, "emitted 10\n")  # what the command itself says does not get between the lines
            found = [LINE.fullmatch(line).groups() for line in lines]
            self.assertEqual([fields for *_, fields in found],
                             [f"source=0x0 (0) sequence=0x{n:x} ({n})" for n in range(10)])
            self.assertEqual({(comm, name) for comm, _, _, _, name, _ in found}, {("producer", "job")})

    def test_programs_and_threads_are_in_the_order_of_time(self):
        lines, _ = self.lines("--json", "--", PRODUCER, "--threads", "4", "--children", "3", "--count", "2000")
        events = [json.loads(line) for line in lines if line.startswith("{")]
        self.assertEqual(sum("lost" not in event for event in events) + sum(event.get("lost", 0) for event in events), 32000)
        times = [event["time"] for event in events if "lost" not in event]
        self.assertEqual(times, sorted(times))

    def test_what_is_lost_is_said_before_the_next_event(self):
        # The lines cannot be written until all has happened. On one CPU: where a program moves, what it has lost on
        # the CPU that it left is known, and told, only behind what it emits on the other one.
        reader, writer = os.pipe()
        os.set_inheritable(writer, True)
        process = self.start("tail", "--json", "--buffer-size", "256K", "--", "sh", "-c",
                             f'taskset -c {CPU} {PRODUCER} --count 100000 2>&1 >"$0"/count', self.folder, stdout=writer)
        os.close(writer)
        self.wait_until(lambda: support.read_text(self.folder + "/count") if os.path.exists(self.folder + "/count") else "")
        with os.fdopen(reader) as out:
            events = [json.loads(line) for line in out]
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0)
        lost = [event["lost"] for event in events if "lost" in event]
        self.assertGreater(sum(lost), 0)
        self.assertEqual(sum(lost) + sum("lost" not in event for event in events), 100000)
        # Behind each gap the numbers go on by as much.
        next_sequence = 0
        for event in events:
            if "lost" in event:
                next_sequence += event["lost"]
            else:
                self.assertEqual(event["fields"]["sequence"], next_sequence)
                next_sequence += 1

    def test_its_status_is_the_commands(self):
        self.lines("--", PRODUCER, "--exit", "7", status=7)
        self.lines("--", PRODUCER, "--kill", "9", status=137)
        self.assertEqual(self.landtrace("tail", "--", "no-such-program")[0], 127)

    def test_only_what_is_wanted(self):
        lines, _ = self.lines("-e", "job", "--filter", "sequence > 6", "--", PRODUCER)
        self.assertEqual(len(lines), 3)
        lines, _ = self.lines("--comm", "nobody*", "--", PRODUCER)
        self.assertEqual(lines, [])
        lines, _ = self.lines("--fields", "sequence", "--", PRODUCER)
        self.assertTrue(lines[0].endswith(": job: sequence=0x0 (0)"), lines)

    def test_a_mistyped_name_is_said(self):
        lines, err = self.lines("-e", "jbo", "--", PRODUCER, status=1)
        self.assertEqual(lines, [])
        self.assertIn("no event 'jbo' registered; did you mean user_events:job?", err)
        _, err = self.lines("--fields", "sequenec", "--", PRODUCER, status=1)
        self.assertIn("no event had a field 'sequenec'; did you mean sequence?", err)
        _, err = self.lines("--", "true")
        self.assertIn("no event registered", err)
        for words in (["--filter", "n >"], ["--tid", "x"], ["--color", "red"], ["--utc", "--delta"], ["--json", "--relative"],
                      ["--duration", "0"], ["--buffer-size", "x"], ["--pid", "1"]):
            self.assertEqual(self.landtrace("tail", *words, "--", "true")[0], 2, words)

    def test_stacks_stand_behind_their_events(self):
        program = shutil.copy(os.environ["STACK_PROGRAM"], os.path.join(self.folder, "stacks"))
        lines, _ = self.lines("--", program)
        text = "\n".join(lines)
        self.assertIn("<user stack trace>\n => innermost_function", text)

    def test_times_of_day(self):
        lines, _ = self.lines("--utc", "--", PRODUCER)
        self.assertRegex(lines[0], r" \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z: job:")

    def test_probes_are_events_as_well(self):
        if not os.path.exists(support.AGENT):
            self.skipTest("functions cannot be probed on this machine")
        lines, err = self.lines("-p", "countdown n=$arg1", "--", os.environ["PROBED"])
        self.assertRegex(lines[0], r": countdown: \(\w+\) n=", err)

    def test_nobody_may_as_well(self):
        process = self.start_program(*AS_NOBODY, LANDTRACE, "tail", "--", PRODUCER, env=dict(self.environment, XDG_RUNTIME_DIR="/nowhere"))
        out, err = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual((process.returncode, len(out.splitlines())), (0, 10), err)


class WhileItRuns(support.Case):
    def first_line(self, process):
        return process.stdout.readline()

    def test_a_line_comes_before_the_command_ends(self):
        process = self.start("tail", "--", "sh", "-c", f"{PRODUCER} --count 1; cat", stdin=subprocess.PIPE)
        self.assertIn("job: source", self.first_line(process))
        self.assertIsNone(process.poll())
        process.stdin.close()
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0)

    def test_it_ends_with_its_reader(self):
        for words in ([], ["--json"]):
            # It has nothing more to say: the closed pipe alone ends it. The command goes with it.
            process = self.start("tail", *words, "--", "sh", "-c",
                                 f"echo $$ >{self.folder}/pid; {PRODUCER} --count 1; exec sleep 1000")
            self.first_line(process)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), "emitted 1\n")
            self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0)
            self.assertFalse(os.path.exists("/proc/" + support.read_text(self.folder + "/pid").strip()))

    def test_full_standard_output_is_said(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            status, _, err = self.landtrace("tail", "--", PRODUCER, "--exit", "0", stdout=full)
        self.assertEqual(status, 1)
        self.assertIn("No space left", err)

    def test_an_interrupt_is_the_commands(self):
        process = self.start("tail", "--", "sh", "-c", f"trap '{PRODUCER} --count 2 >/dev/null; exit 5' INT; echo ready; "
                             "while :; do sleep 0.05; done")
        self.assertEqual(process.stderr.readline(), "ready\n")
        status, out, _ = self.stop(process, signal.SIGINT)
        self.assertEqual((status, out.count("job: ")), (5, 2))

    def test_a_domain_until_interrupted(self):
        self.serve()
        process = self.start("tail", "-e", "job", "-e", "later")
        self.assertIn("watching the domain at", process.stderr.readline())
        for name in ("job", "later", "other"):
            self.assertEqual(self.landtrace("run", "--", PRODUCER, "--event", name, "--count", "3")[0], 0)
        for name in ("job", "later"):
            for n in range(3):
                self.assertIn(f"{name}: source=0x0 (0) sequence=0x{n} ({n})", self.first_line(process))
        status, out, _ = self.stop(process, signal.SIGINT)
        self.assertEqual((status, out), (0, ""))

    def test_all_events_of_a_domain_also_later_ones(self):
        self.serve()
        process = self.start("tail")
        process.stderr.readline()
        for name in ("one", "two"):
            self.landtrace("run", "--", PRODUCER, "--event", name, "--count", "1")
            self.assertIn(f" {name}: source", self.first_line(process))
        self.landtrace("write", "trace_marker", "here\n")
        self.assertEqual(self.stop(process, signal.SIGTERM)[0], 0)

    def test_a_duration(self):
        self.serve()
        status, out, _ = self.landtrace("tail", "--duration", "0.1")
        self.assertEqual((status, out), (0, ""))

    def test_the_owners_end_is_said(self):
        owner = self.serve()
        process = self.start("tail")
        process.stderr.readline()
        self.stop(owner, signal.SIGKILL)
        _, err = process.communicate(timeout=support.TIMEOUT_S)
        self.assertIn("the domain has ended", err)
        self.assertEqual(process.returncode, 0)


class Colours(support.OnTerminal, support.Case):
    def test_on_a_terminal_unless_they_are_not_wanted(self):
        words = [LANDTRACE, "tail", "--", PRODUCER]
        self.assertIn("\x1b[1mjob\x1b[0m: ", self.on_terminal(*words)[1])
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn("\x1b", self.on_terminal(*words, environment=environment)[1])
        self.assertNotIn("\x1b", self.on_terminal(LANDTRACE, "tail", "--color=never", "--", PRODUCER)[1])
        self.assertNotIn("\x1b", self.landtrace(*words[1:])[1])
        self.assertIn("\x1b[1mjob\x1b[0m: ", self.landtrace("tail", "--color=always", "--", PRODUCER)[1])

    def test_a_report_has_them_too(self):
        self.record()
        self.assertIn("\x1b[1mjob\x1b[0m: ", self.on_terminal(LANDTRACE, "report", "--no-pager", self.file)[1])
        self.assertNotIn("\x1b", self.report())
        self.assertNotIn("\x1b", self.report("--color=always", "--json"))


if __name__ == "__main__":
    unittest.main()
