"""What is recorded is what was emitted, whoever reads it."""
import os
import re
import resource
import subprocess
import unittest

import support
from support import PRODUCER, sequences


class Record(support.Case):
    def test_native_program(self):
        summary = self.record("--count", "1000")
        self.assertEqual((summary.emitted, summary.events, summary.lost), (1000, 1000, 0))
        events, lost = self.report_json()
        self.assertEqual(lost, 0)
        self.assertEqual(sequences(events), {0: list(range(1000))})
        self.assertEqual({event["comm"] for event in events}, {"producer"})
        times = [event["time"] for event in events]
        self.assertEqual(times, sorted(times))

    def test_unmodified_program(self):
        summary = self.record("--abi", "--count", "1000")
        self.assertEqual((summary.emitted, summary.events, summary.lost), (1000, 1000, 0))
        self.assertEqual(sequences(self.report_json()[0]), {0: list(range(1000))})

    def test_synthetic_events_that_a_program_traces_and_removes(self):
        status, out, err = self.landtrace("record", "-o", self.file, "-e", "synthetic:*", "--", os.environ["SCHEDTEST"])
        self.assertEqual(status, 0, (out, err))  # it could remove its events
        self.assertIn(" 3 events, 0 lost, 1 program", err)
        self.assertEqual(out.count("next_comm_field="), 3, "what it sees itself")
        events, lost = self.report_json()
        self.assertEqual(lost, 0)
        self.assertEqual([event["fields"]["next_comm_field"] for event in events], ["clackers", "tiddlywinks", "silly putty"])

    def test_program_has_the_limits_that_the_command_was_given(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 333), hard))
        status, out, err = self.landtrace("record", "-o", self.file, "--", "sh", "-c", "ulimit -n")
        self.assertEqual((status, out), (0, f"{min(soft, 333)}\n"), err)

    def test_portable_writer(self):
        self.environment["LANDTRACE_WRITER"] = "portable"
        for mode in ([], ["--abi"]):
            summary = self.record(*mode, "--count", "1000", "--threads", "4")
            self.assertEqual(summary.emitted, summary.events + summary.lost)
            self.assertEqual(summary.lost, 0)

    def test_text_is_the_kernels(self):
        self.record("--count", "3")
        lines = self.report().splitlines()
        self.assertEqual(lines[0], "# tracer: nop")
        self.assertRegex(lines[2], r"^# entries-in-buffer/entries-written: 3/3   #P:\d+$")
        events = [line for line in lines if not line.startswith("#")]
        self.assertEqual(len(events), 3)
        self.assertRegex(events[2],
                         r"^        producer-\d+ +\[\d{3}\] \.\.\.\.\. +\d+\.\d{6}: job: source=0x0 \(0\) sequence=0x2 \(2\)$")

    @support.needs("trace-cmd")
    def test_trace_cmd_reads_the_same(self):
        self.record("--count", "500", "--threads", "3", "--children", "2")
        theirs = subprocess.run(["trace-cmd", "report", "-t", self.file], capture_output=True, text=True, check=True)
        pattern = re.compile(r"^ *(.+)-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): job: +source=(\d+) sequence=(\d+)$")
        read = [pattern.match(line).groups() for line in theirs.stdout.splitlines() if ": job:" in line]
        ours = [(event["comm"], str(event["pid"]), f"{event['cpu']:03}", *split_time(event["time"]),
                 str(event["fields"]["source"]), str(event["fields"]["sequence"])) for event in self.report_json()[0]]
        self.assertEqual(len(ours), 500 * 9)
        self.assertEqual(sorted(read), sorted(ours))

    def test_exit_status_and_signal_are_passed_on(self):
        for words, expected in ((["--exit", "7"], 7), (["--kill", "9"], 137), (["--kill", "15"], 143)):
            status, _, err = self.landtrace("record", "-o", self.file, "--", PRODUCER, *words)
            self.assertEqual(status, expected, err)
            self.assertEqual(len(self.report_json()[0]), 10)

    def test_children_and_threads(self):
        summary = self.record("--count", "200", "--threads", "4", "--children", "5")
        self.assertEqual((summary.emitted, summary.events), (200 * 4 * 6, 200 * 4 * 6))
        found = sequences(self.report_json()[0])
        self.assertEqual(len(found), 24)
        for source in found.values():
            self.assertEqual(source, list(range(200)))

    def test_programs_of_a_shell_script(self):
        script = "; ".join(f"{PRODUCER} --event job_{i} --count 5 > /dev/null" for i in range(4))
        status, _, err = self.landtrace("record", "-o", self.file, "sh", "-c", script)
        self.assertEqual(status, 0, err)
        self.assertIn("4 programs", err)
        events = self.report_json()[0]
        self.assertEqual([event["event"] for event in events], [f"job_{i // 5}" for i in range(20)])

    def test_patterns(self):
        script = "; ".join(f"{PRODUCER} --event {name} --count 5" for name in ("wanted_a", "wanted_b", "other"))
        self.landtrace("record", "-o", self.file, "-e", "user_events:wanted_a", "-e", "*_b", "--", "sh", "-c", script)
        self.assertEqual({event["event"] for event in self.report_json()[0]}, {"wanted_a", "wanted_b"})
        events, _ = self.report_json("-e", "wanted_b")
        self.assertEqual(len(events), 5)
        self.assertNotIn("other", self.landtrace("list", self.file)[1])

    def test_report_of_a_part(self):
        self.record("--count", "100", "--pause", "100")
        lines = [line for line in self.report().splitlines() if not line.startswith("#")]
        times = [line.split("] ..... ")[1].split(":")[0].strip() for line in lines]
        part = [line for line in self.report("--from", times[10], "--to", times[19]).splitlines() if line[0] != "#"]
        self.assertEqual(part, lines[10:20])
        self.assertEqual(len(self.report_json("--limit", "7")[0]), 7)
        self.assertEqual(self.report_json("--from", "99999999")[0], [])

    def test_list_of_a_file(self):
        self.record()
        status, out, _ = self.landtrace("list", self.file)
        self.assertEqual((status, out), (0, "user_events:job  u32 source; u32 sequence\n"))
        self.assertIn("field:u32 sequence;\toffset:12;\tsize:4;", self.landtrace("list", "-v", self.file)[1])

    def test_event_that_never_occurs_is_in_the_file(self):
        self.record("--count", "0")
        self.assertEqual(self.report_json(), ([], 0))
        self.assertIn("user_events:job", self.landtrace("list", self.file)[1])

    @support.needs_root
    @support.needs("setpriv")
    def test_other_users(self):
        # As when root starts a service that gives up its rights: nobody can reach the socket, and has rings of its own.
        other = "setpriv --reuid 65534 --regid 65534 --clear-groups"
        script = f"{PRODUCER} --count 1000; {other} {PRODUCER} --count 1000; {PRODUCER} --abi --count 1000"
        status, out, err = self.landtrace("record", "-o", self.file, "--", "sh", "-c", script)
        summary = support.Summary(err, out)
        self.assertEqual((status, summary.emitted, summary.events), (0, 3000, 3000), err)

    @support.needs_root
    @support.needs("setpriv")
    def test_users_at_once_are_merged_in_order(self):
        other = "setpriv --reuid 65534 --regid 65534 --clear-groups"
        script = f"{PRODUCER} --count 50000 & {other} {PRODUCER} --count 50000 & wait"
        status, out, err = self.landtrace("record", "-o", self.file, "--buffer-size", "64M", "--", "sh", "-c", script)
        summary = support.Summary(err, out)
        self.assertEqual((status, summary.emitted, summary.events), (0, 100000, 100000), err)
        last = {}
        for event in self.report_json()[0]:
            self.assertGreaterEqual(event["time"], last.get(event["cpu"], 0))
            last[event["cpu"]] = event["time"]

    @support.needs_root
    @support.needs("setpriv")
    def test_without_root(self):
        os.chmod(self.folder, 0o777)
        words = [*support.AS_NOBODY, support.LANDTRACE, "record", "-o",
                 self.file, "--", PRODUCER, "--abi", "--count", "100"]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.report_json()[0]), 100)


def split_time(time_ns):
    return str(time_ns // 10**9), f"{time_ns % 10**9:09}"


if __name__ == "__main__":
    unittest.main()
