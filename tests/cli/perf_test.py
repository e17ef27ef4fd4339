"""perf, unmodified, on the events of a domain."""
import json
import os
import re
import signal
import subprocess
import unittest

import support
from support import LANDTRACE, PRODUCER, needs

TRACEFS = "/sys/kernel/tracing"
JOB = "user_events:job"
USER = 4242
SLOW_LOOK = support.copied(os.environ["SLOW_LOOK"])
# On one CPU: perf switches those of all CPUs on and off one after the other, so that of a program that moves meanwhile
# some in the middle are nobody's.
PIN = f"taskset -c {min(os.sched_getaffinity(0))}"
PINNED = f"{PIN} {PRODUCER} --abi"
# Emits an event each millisecond until it is ended.
STEADY = f"{PINNED} --count 1000000 --pause 1000"


def while_emitted(count):
    """A command that ends when each of the programs has emitted so many events more, however long a busy machine lets it
    wait: it goes to sleep behind each."""
    return ("sh -c 'sleeps() { sed -n s/^voluntary_ctxt_switches:.//p /proc/$1/status; }; for p; do "
            f"end=$(($(sleeps $p) + {count})); until [ $(sleeps $p) -ge $end ]; do sleep 0.02; done; done' sh $pids")


SOME_EVENTS = while_emitted(100)


class Cases(support.UnderTracefs):
    """As root and as a user."""

    def with_events(self, script, events=("job",), options=""):
        """What the script says while a program emits each of the events every millisecond; $pid is the last one's."""
        begin = "".join(f"{STEADY} {options} --event {event} >/dev/null & pid=$!; pids=\"$pids $pid\"; "
                        f"until grep -q '^user_events:{event}$' {TRACEFS}/available_events; do sleep 0.02; done; "
                        for event in events)
        return self.shell(f"cd {self.folder}; export HOME={self.folder}; {begin} {{ {script}; }} 2>&1; kill $pids; wait")

    def perf(self, *words):
        """What perf says of a file, outside of the domain."""
        done = subprocess.run(["perf", *words, "--force"], cwd=self.folder, capture_output=True, text=True,
                              env=dict(os.environ, HOME=self.folder), timeout=support.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def samples(self, file="perf.data"):
        """(program, event, sequence) of each sample."""
        text = self.perf("script", "-i", file, "-F", "comm,event,trace")
        return [(m[1], m[2], int(m[3])) for m in re.finditer(r"^\s*(\S+)\s+(\S+): .*sequence=(\d+)", text, re.MULTILINE)]

    def sequences(self, file="perf.data"):
        return [sequence for _, _, sequence in self.samples(file)]

    def assert_follow(self, numbers):
        self.assertTrue(numbers)
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))

    def test_it_lists_the_events(self):
        self.assertRegex(self.with_events("perf list 'user_events:*'"), r"user_events:job +\[Tracepoint event\]")

    def test_what_all_programs_emit_is_recorded(self):
        said = self.with_events(f"perf record -o perf.data -a -e {JOB} -- {SOME_EVENTS}")
        numbers = self.sequences()
        self.assertIn(f"({len(numbers)} samples)", said)
        self.assert_follow(numbers)
        self.assertEqual({(program, event) for program, event, _ in self.samples()}, {("producer", JOB)})

    def test_what_a_command_and_its_children_emit_is_recorded_and_nothing_else(self):
        # A user's perf finds children while they live (docs/compatibility.md): when it looks, between two sleeps.
        self.with_events(f"perf record -o perf.data -e {JOB} {PRODUCER} --abi --count 200 --threads 2 --children 2 "
                         "--pause 200 --outlast 50")
        self.assertEqual(sorted(self.sequences()), sorted(6 * list(range(200))))

    def test_a_command_that_ends_at_once_is_recorded_whole(self):
        self.with_events("for i in 1 2 3 4 5 6 7 8; do "
                         f"perf record -o $i.data -e {JOB} {PRODUCER} --abi --count 20; done")
        for i in range(1, 9):
            self.assertEqual(self.sequences(f"{i}.data"), list(range(20)))

    def test_a_process_is_followed_until_it_ends(self):
        # It begins when perf listens.
        script = (f"{PINNED} --wait 600000 --count 2000 --pause 500 & "
                  f"own=$!; perf record -o perf.data -e {JOB} -p $own; wait $own")
        self.with_events(script)
        numbers = self.sequences()
        self.assert_follow(numbers)
        self.assertEqual(numbers[-1], 1999)

    def test_a_thread_is_followed(self):
        # Both are there: one that begins later would be the other's child.
        self.with_events("until [ $(cat /proc/$pid/task/*/comm | grep -c producer) -ge 2 ]; do sleep 0.02; done; "
                         f"perf record -o perf.data -e {JOB} -t $pid -- {SOME_EVENTS}", options="--threads 2")
        sources = {int(n) for n in re.findall(r"source=(\d+)", self.perf("script"))}
        self.assertEqual(len(sources), 1)

    def test_a_filter_is_evaluated_in_the_programs(self):
        self.with_events(f"perf record -o perf.data -a -e {JOB} --filter 'sequence & 1' -- {SOME_EVENTS}")
        numbers = self.sequences()
        self.assertTrue(numbers)
        self.assertEqual([n for n in numbers if n % 2 == 0], [])

    def test_a_filter_of_a_field_that_is_not_there_is_refused(self):
        said = self.with_events(f"perf record -o perf.data -a -e {JOB} --filter 'nosuch == 1' -- true || true")
        self.assertIn("Invalid argument", said)

    def test_the_same_event_twice_has_two_filters(self):
        self.with_events(f"perf record -o perf.data -a -e {JOB} --filter 'sequence & 1' -e {JOB} --filter 'sequence & 2' -- {SOME_EVENTS}")
        counts = {bits: 0 for bits in (1, 2, 3)}
        for number in self.sequences():
            counts[number & 3] += 1
        self.assertGreater(counts[1], 0)
        self.assertAlmostEqual(counts[3], counts[1] + counts[2], delta=6)

    def test_several_events_and_patterns(self):
        self.with_events(f"perf record -o two.data -a -e user_events:job -e user_events:jab -- {SOME_EVENTS}; "
                         f"perf record -o all.data -a -e 'user_events:j*' -- {SOME_EVENTS}", events=("job", "jab"))
        for file in ("two.data", "all.data"):
            self.assertEqual({event for _, event, _ in self.samples(file)}, {"user_events:job", "user_events:jab"})

    def test_a_recording_goes_into_a_pipe(self):
        said = self.with_events(f"perf record -o - -a -e {JOB} -- {SOME_EVENTS} 2>/dev/null | perf script -i - -F event")
        self.assertGreater(said.count(JOB), 20)

    def test_stacks_have_names(self):
        self.with_events(f"perf record -o perf.data -g -a -e {JOB} -- {SOME_EVENTS}")
        frames = re.findall(r"^\s+[0-9a-f]+ (\w+)\+", self.perf("script"), re.MULTILINE)
        self.assertIn("main", frames)
        self.assertIn("main", self.perf("report", "--stdio", "-g"))
        self.assertIn("producer", self.perf("report", "--stdio", "-s", "comm,dso"))

    def test_a_recording_is_converted(self):
        self.with_events(f"perf record -o perf.data -a -e {JOB} -- {SOME_EVENTS}")
        self.perf("data", "convert", "--to-json", "out.json")
        with open(os.path.join(self.folder, "out.json"), encoding="utf-8") as file:
            self.assertEqual(len(json.load(file)["samples"]), len(self.sequences()))

    @needs("babeltrace2")
    def test_a_recording_is_converted_to_ctf(self):
        self.with_events(f"perf record -o perf.data -a -e {JOB} -- {SOME_EVENTS}")
        self.perf("data", "convert", "--to-ctf", "trace")
        done = subprocess.run(["babeltrace2", "trace"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.count(JOB), len(self.sequences()))

    def test_events_are_counted(self):
        script = (f"perf stat -x, -o cmd.txt -e {JOB} {PRODUCER} --abi --count 700; "
                  f"perf stat -x, -o all.txt -a -e {JOB} -- {SOME_EVENTS}; "
                  f"perf stat -x, -o lines.txt -I 50 -a -e {JOB} -- "
                  f"sh -c 'until [ $(grep -c {JOB} lines.txt) -ge 3 ]; do sleep 0.02; done'")
        self.with_events(script)
        counted = [line.split(",") for name in ("cmd", "all", "lines")
                   for line in support.read_text(os.path.join(self.folder, f"{name}.txt")).splitlines() if JOB in line]
        self.assertEqual(counted[0][0], "700")
        self.assertGreater(int(counted[1][0]), 20)
        self.assertGreaterEqual(len(counted[2:]), 3)
        self.assertNotIn("<not counted>", str(counted))

    def test_events_are_traced_as_they_happen(self):
        said = self.with_events(f"perf trace -a -e {JOB} -- {SOME_EVENTS}")
        self.assertRegex(said, r"producer/\d+ user_events:job\(.*sequence: \d+\)")

    def test_a_command_is_traced_to_its_end(self):
        # On one CPU, where it is begun, too: perf trace reads the ring of one after that of another, in which its end may
        # stand, or an earlier name of it (the kernel's own events are told under that, then, as well).
        for count in (8, 1):
            said = self.with_events(f"{PIN} perf trace -e {JOB} {PRODUCER} --abi --wait 5000 --count {count}")
            self.assertEqual(len(re.findall(r"producer/\d+ user_events:job\(", said)), count, said)

    def test_a_program_is_named_before_its_samples_and_ends_behind_them(self):
        self.with_events(f"for i in 1 2 3 4 5 6 7 8; do perf record -o perf.$i -e {JOB} {PRODUCER} --abi --wait 5000 "
                         f"--count 1; done")
        for number in range(1, 9):
            dump = self.perf("script", "-D", "-i", f"perf.{number}")
            told = re.findall(r"PERF_RECORD_(COMM exec: producer|SAMPLE|EXIT)", dump)
            self.assertEqual(told, ["COMM exec: producer", "SAMPLE", "EXIT"], dump)

    def test_no_other_thread_of_perf_is_told_of_the_commands_end(self):
        # It would make perf end before its first wait, which is to find what the command has emitted.
        said = self.with_events(f"perf record -o perf.data -e {JOB} sh -c 'grep -H SigBlk /proc/$PPID/task/*/status'")
        blocked = {tid for tid, mask in re.findall(r"/task/(\d+)/status:SigBlk:\s*([0-9a-f]+)", said)
                   if int(mask, 16) >> (signal.SIGCHLD - 1) & 1}
        threads = re.findall(r"/proc/(\d+)/task/(\d+)/status", said)
        self.assertTrue(threads, said)
        self.assertEqual({tid for process, tid in threads if tid != process} - blocked, set(), said)

    def test_a_command_that_ends_while_perf_looks_is_recorded(self):
        # perf writes some times before it first waits, and is done when its command is.
        command = f"sh -c 'until [ -e go ]; do sleep 0.01; done; exec {PRODUCER} --abi --wait 5000 --count 1'"
        begin = f"LOOK=$look LD_PRELOAD=$LD_PRELOAD:{SLOW_LOOK} perf record -o"
        said = self.with_events(f"export GO=go; for look in 1 2 3 4 5; do "
                                f"rm -f go; {begin} command.$look -e {JOB} -- {command}; "
                                f"rm -f go; {begin} all.$look -a -e {JOB} --filter 'sequence == 0' -- {command}; done")
        for file in [f"{name}.{look}" for name in ("command", "all") for look in range(1, 6)]:
            self.assertEqual(self.sequences(file), [0], f"{file}: {said}")

    def test_top_shows_the_event(self):
        # A key that comes before perf is ready means nothing to it.
        said = self.with_events(f"(while sleep 1; do echo q; done) 2>&- | perf top --stdio -e {JOB}")
        self.assertIn("user_events:job", said)

    def test_every_event_is_recorded_or_counted_as_lost(self):
        # More than perf's ring holds, emitted before it is read; more than the domain's hold, too.
        for count in (2000, 400000):
            self.assertEqual(self.recorded_and_lost(count), count)

    def recorded_and_lost(self, count):
        self.with_events(f"{PRODUCER} --abi --event full --wait 30000 --count 1 & "
                         f"while ! grep -q '^user_events:full$' {TRACEFS}/available_events; do sleep 0.02; done; "
                         f"perf record -o perf.data -m 1 -e user_events:full {PRODUCER} --abi --event full --count {count}")
        said = self.perf("report", "-D")
        return said.count("PERF_RECORD_SAMPLE") + sum(int(n) for n in re.findall(r"PERF_RECORD_LOST: .*lost:(\d+)", said))

    def test_a_recording_of_perf_and_one_of_our_own_do_not_disturb_each_other(self):
        self.with_events(f"perf record -o a.data -a -e {JOB} -- {while_emitted(400)} & "
                         f"perf record -o b.data -a -e {JOB} --filter 'sequence & 1' -- {SOME_EVENTS}; "
                         f"{LANDTRACE} record -o own.dat -- sleep 0.1; wait %2")
        self.assert_follow(self.sequences("a.data"))
        self.assertTrue(self.sequences("b.data"))

    def test_events_of_the_kernel_stand_beside(self):
        work = f"sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; exec {PRODUCER} --abi --count 50'"
        for i, events in enumerate((f"-e cpu-clock -e {JOB}", f"-e {JOB} -e cpu-clock")):
            said = self.with_events(f"perf record -o {i}.data {events} {work}")
            text = self.perf("script", "-i", f"{i}.data", "-F", "comm,event")
            self.assertEqual(len(re.findall(rf"^ *producer +{JOB}:", text, re.MULTILINE)), 50, said)
            self.assertGreater(len(re.findall(r"^ *sh +cpu-clock", text, re.MULTILINE)), 5, said)

    def test_all_threads_of_a_process_are_followed(self):
        self.with_events(f"perf record -o perf.data -e {JOB} -p $pid -- {SOME_EVENTS}", options="--threads 3")
        sources = set(re.findall(r"source=(\d+)", self.perf("script")))
        self.assertEqual(sources, {"0", "1", "2"})

    def test_probes(self):
        if not os.path.exists(support.AGENT):
            self.skipTest("SKIPPED: functions cannot be probed on this machine yet")
        define = f"echo 'p:uprobes/pause libc.so.6:usleep' >> {TRACEFS}/uprobe_events; "
        self.with_events(define + f"perf record -o perf.data -e uprobes:pause {PRODUCER} --abi --count 20 --pause 1000")
        self.assertEqual(self.perf("script").count("uprobes:pause"), 20)

    def test_a_group_of_probes_with_where_they_are(self):
        if not os.path.exists(support.AGENT):
            self.skipTest("SKIPPED: functions cannot be probed on this machine yet")
        define = (f"echo 'p:uprobes/pause libc.so.6:usleep' >> {TRACEFS}/uprobe_events; "
                  f"echo 'p:uprobes/put libc.so.6:write' >> {TRACEFS}/uprobe_events; "
                  f"echo 'p:kprobes/rest libc:usleep' >> {TRACEFS}/kprobe_events; ")
        work = f"{PRODUCER} --abi --count 20 --pause 1000"
        self.with_events(f"{define} perf record -o group.data -e 'uprobes:*' {work}; "
                         f"perf record -o one.data -e kprobes:rest {work}")
        lines = [line.split() for line in self.perf("script", "-i", "group.data", "-F", "event,ip,sym").splitlines()]
        self.assertEqual([line[0] for line in lines].count("uprobes:pause:"), 20)
        self.assertIn("uprobes:put:", {line[0] for line in lines})
        self.assertEqual(self.perf("script", "-i", "one.data").count("kprobes:rest"), 20)
        if self.prefix:
            return  # perf hears of mappings from the kernel
        self.assertEqual({line[2] for line in lines if line[0] == "uprobes:pause:"}, {"usleep"})
        self.assertIn("<usleep>", self.perf("annotate", "-i", "group.data", "--stdio"))

    def test_the_newest_events_are_kept_until_they_are_wanted(self):
        self.with_events(f"perf record --overwrite -o perf.data -a -e {JOB} -- {SOME_EVENTS}; "
                         f"perf record --switch-output=20K -o parts.data -a -e {JOB} -- {while_emitted(800)}")
        self.assert_follow(self.sequences())
        parts = sorted(name for name in os.listdir(self.folder) if name.startswith("parts.data"))
        self.assertGreater(len(parts), 1)
        self.assert_follow([number for part in parts for number in self.sequences(part)])

    def test_an_older_recording_is_kept_beside(self):
        self.with_events(f"perf record -o perf.data -a -e {JOB} -- {SOME_EVENTS}; "
                         f"perf record -o perf.data -a -e {JOB} -- {SOME_EVENTS}")
        first, second = self.sequences("perf.data.old"), self.sequences()
        self.assertLess(first[-1], second[0])

    def test_a_recording_that_finds_no_room_says_so(self):
        said = self.with_events(f"perf record -o /dev/full -a -e {JOB} -- {SOME_EVENTS} || echo refused; "
                                f"perf record -o perf.data -a -e {JOB} -- {SOME_EVENTS}")
        self.assertIn("refused", said)
        self.assert_follow(self.sequences())

    def test_synthetic_events(self):
        define = (f"echo 's:late unsigned int sequence' >> {TRACEFS}/dynamic_events; "
                  f"echo 'hist:keys=common_pid:s=sequence:onmatch(user_events.job).late($s)' "
                  f"> {TRACEFS}/events/user_events/job/trigger; ")
        self.with_events(define + f"perf record -o perf.data -a -e synthetic:late -- {SOME_EVENTS}")
        self.assertEqual({event for _, event, _ in self.samples()}, {"synthetic:late"})


@support.needs_fuse
@support.needs_root
@support.needs_namespaces
@needs("perf")
class Root(Cases, support.Case):
    pass


@support.needs_users_fuse
@needs("perf")
class User(Cases, support.Case):
    # Not nobody: in a user namespace that may be anybody, and a domain of nobody's is not trusted.
    prefix = [word.replace(str(support.NOBODY), str(USER)) for word in support.AS_NOBODY_WITH_FUSE]

    def setUp(self):
        super().setUp()
        os.chown(self.folder, USER, USER)


if __name__ == "__main__":
    unittest.main()
