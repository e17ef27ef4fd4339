"""trace-cmd, unmodified, on the files of a domain."""
import os
import unittest

import support
from support import LANDTRACE, PRODUCER, needs

TRACEFS = "/sys/kernel/tracing"
JOB = "user_events:job"


class Cases(support.UnderTracefs):
    """As root and as a user."""

    def with_job(self, script):
        """What the script says while a program emits the event "job" every millisecond."""
        return self.shell(f"cd {self.folder}; {PRODUCER} --abi --count 1000000 --pause 1000 >/dev/null & job=$!; "
                          f"while ! grep -q job {TRACEFS}/available_events; do sleep 0.02; done; {script}; kill $job")

    @staticmethod
    def until_buffered(count, buffer=TRACEFS):
        """Shell: waits until the buffer has so many events."""
        return f"until [ $(grep -c ' job: ' {buffer}/trace) -ge {count} ]; do sleep 0.02; done"

    @staticmethod
    def once_recorded(command):
        """The command of a `trace-cmd record`, which begins when the recorder of each CPU has opened what it reads: of
        one that is told to end before, trace-cmd misses the events."""
        opened = "for each in $(cat /proc/$PPID/task/$PPID/children); do ls -l /proc/$each/fd; done | grep -c _pipe_raw"
        return f"sh -c 'until [ $({opened}) -ge {os.cpu_count()} ]; do sleep 0.02; done; exec {command}'"

    def events_of(self, file, count, first=0):
        """Sequence numbers of the producer that emitted so many, from the first: another one is further on."""
        self.file = os.path.join(self.folder, file)
        events, lost = self.report_json()
        self.assertEqual(lost, 0)
        by_process = {}
        for event in events:
            by_process.setdefault(event["pid"], []).append(event["fields"]["sequence"])
        wanted = [numbers for numbers in by_process.values() if len(numbers) == count and numbers[0] == first]
        self.assertEqual(len(wanted), 1, {pid: len(numbers) for pid, numbers in by_process.items()})
        return wanted[0]

    def test_list_has_the_events_and_their_fields(self):
        out = self.with_job(f"trace-cmd list -e; trace-cmd list -F -e {JOB}")
        self.assertIn(JOB, out.splitlines())
        self.assertIn("field:", out)
        self.assertIn("common_pid", out)

    def test_start_show_stat_and_reset(self):
        out = self.with_job(f"trace-cmd start -e {JOB} >/dev/null; {self.until_buffered(1)}; trace-cmd show | tail -1; trace-cmd stat; "
                            f"cat {TRACEFS}/events/user_events/job/enable; trace-cmd reset; "
                            f"cat {TRACEFS}/events/user_events/job/enable {TRACEFS}/tracing_on; grep -vc '^#' {TRACEFS}/trace")
        lines = out.splitlines()
        self.assertIn(" job: ", lines[0])
        self.assertIn(JOB, out.replace("    user_events\n", "").replace(" ", "") if JOB in out else JOB)
        self.assertEqual(lines[-4:-2], ["1", "0"])

    def test_show_p_follows_and_consumes(self):
        out = self.with_job(f"trace-cmd start -e {JOB} >/dev/null; timeout -s INT 30 trace-cmd show -p | head -50")
        self.assertGreaterEqual(out.count(" job: "), 50)

    def test_record_has_what_landtrace_record_has(self):
        self.with_job(f"{LANDTRACE} record -o own.dat 2>/dev/null & own=$!; while ! [ -e own.dat ]; do sleep 0.02; done; "
                      f"trace-cmd record -q --compression none -o theirs.dat -e {JOB} "
                      f"{self.once_recorded(PRODUCER + ' --abi --count 1000 --pause 300')} >/dev/null 2>&1; "
                      f"kill -INT $own; wait $own")
        theirs = self.events_of("theirs.dat", 1000)
        self.assertEqual(theirs, list(range(1000)))
        self.assertEqual(self.events_of("own.dat", 1000), theirs)

    def test_a_recorder_may_start_before_there_is_any_event(self):
        out = self.shell("trace-cmd record -q -o e.dat -e user_events "
                         f"{self.once_recorded(PRODUCER + ' --abi --count 20 --pause 20000')} >/dev/null 2>&1; "
                         "trace-cmd report -q e.dat 2>/dev/null")
        self.assertEqual(out.count(" job: "), 20)

    def test_report_prints_its_own_recording(self):
        out = self.with_job(f"trace-cmd record -q -o t.dat -e {JOB} "
                            f"{self.once_recorded(PRODUCER + ' --abi --count 100 --pause 3000')} >/dev/null 2>&1; "
                            "trace-cmd report -q t.dat 2>/dev/null")
        self.assertGreaterEqual(out.count(" job: "), 10)

    def test_extract_takes_what_is_in_the_buffer(self):
        out = self.with_job(f"trace-cmd start -e {JOB} >/dev/null; {self.until_buffered(50)}; trace-cmd stop; "
                            "trace-cmd extract -o x.dat >/dev/null 2>&1; trace-cmd report -q x.dat 2>/dev/null")
        self.assertGreaterEqual(out.count(" job: "), 50)

    def test_record_with_a_filter_and_a_trigger(self):
        # The other producer is far beyond what the filter and the trigger look for.
        self.with_job(f"echo 1 >{TRACEFS}/events/user_events/job/enable; {self.until_buffered(100)}; "
                      f"echo 0 >{TRACEFS}/events/user_events/job/enable; "
                      f"trace-cmd record -q --compression none -o f.dat -e {JOB} -f 'sequence >= 20 && sequence < 60' "
                      "-R 'traceoff if sequence == 50' "
                      f"{self.once_recorded(PRODUCER + ' --abi --count 100 --pause 5000')} >/dev/null 2>&1")
        self.assertEqual(self.events_of("f.dat", 31, 20), list(range(20, 51)))

    def test_record_of_one_thread(self):
        self.with_job(f"trace-cmd record -q --compression none -o p.dat -e {JOB} -P $job "
                      f"{self.once_recorded(PRODUCER + ' --abi --count 200 --pause 5000')} >/dev/null 2>&1")
        self.file = os.path.join(self.folder, "p.dat")
        self.assertEqual(len({event["pid"] for event in self.report_json()[0]}), 1)

    def test_reset_takes_filters_and_triggers_away(self):
        # The triggers never fire: how often they still may is part of what is compared.
        files = f"{TRACEFS}/events/user_events/job/filter {TRACEFS}/events/user_events/job/trigger"
        out = self.with_job(f"trace-cmd start -e {JOB} -f 'sequence < 5' -R 'traceoff:3 if sequence == 4000000' "
                            f">/dev/null; "
                            f"echo 'snapshot if sequence == 3000000' >> {TRACEFS}/events/user_events/job/trigger; "
                            f"cat {files}; echo --; trace-cmd stat; echo --; "
                            f"trace-cmd reset; cat {files}")
        before, stat, after = out.split("--\n")
        self.assertEqual(before, "(sequence < 5)\n"
                         "snapshot:unlimited if sequence == 3000000\n"
                         "traceoff:count=3 if sequence == 4000000\n")
        for text in ("job", "sequence < 5", "traceoff:count=3 if sequence == 4000000", "snapshot:unlimited if sequence == 3000000"):
            self.assertIn(text, stat)
        self.assertTrue(after.startswith("none\n# Available triggers:\n"), after)

    def test_an_instance_is_made_filled_and_shown(self):
        out = self.with_job(f"trace-cmd start -B other -e {JOB} >/dev/null; "
                            f"{self.until_buffered(1, TRACEFS + '/instances/other')}; trace-cmd show -B other | tail -1; "
                            f"ls {TRACEFS}/instances; grep -vc '^#' {TRACEFS}/trace; trace-cmd reset -B other -d; "
                            f"ls {TRACEFS}/instances")
        lines = out.splitlines()
        self.assertIn(" job: ", lines[0])
        self.assertEqual(lines[1:], ["other", "0"])


@support.needs_fuse
@support.needs_root
@support.needs_namespaces
@needs("trace-cmd")
class Root(Cases, support.Case):
    pass


@support.needs_users_fuse
@needs("trace-cmd")
class User(Cases, support.Case):
    prefix = support.AS_NOBODY_WITH_FUSE

    def setUp(self):
        super().setUp()
        os.chown(self.folder, support.NOBODY, support.NOBODY)


if __name__ == "__main__":
    unittest.main()
