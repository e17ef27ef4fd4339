"""Programs of one's own that call perf_event_open() for events of a domain (examples/perf_consumer.c)."""
import os
import re
import sys
import unittest

import support
from support import PRODUCER, needs

TRACEFS = "/sys/kernel/tracing"
CONSUMER = support.copied(os.environ["PERF_CONSUMER"])
# On one CPU: a consumer reads one ring after the other, so that the first 50 that it sees of a program that moves are not
# the first 50 of it.
PINNED = f"taskset -c {min(os.sched_getaffinity(0))} {PRODUCER}"
SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "perf_scenarios.py")


@support.needs_fuse
@support.needs_root
@support.needs_namespaces
@needs("setpriv")
class PerfProgramTest(support.UnderTracefs, support.Case):
    maxDiff = None  # what a scenario says is shown whole

    def consumed(self, words, count=1000000):
        """What the consumer says while a program emits an event every millisecond; $pid is that one. It begins when
        somebody listens, however late that is."""
        return self.shell(f"{PINNED} --abi --wait 600000 --count {count} --pause 1000 >/dev/null & pid=$!; "
                          f"while ! grep -q '^user_events:job$' {TRACEFS}/available_events; do sleep 0.02; done; "
                          f"{CONSUMER} user_events:job {words} 2>&1; kill $pid; wait")

    @staticmethod
    def sequences(said):
        return [int.from_bytes(bytes.fromhex(payload)[4:8], "little")
                for payload in re.findall(r"^\d+ \d+ ([0-9a-f]+)$", said, re.MULTILINE)]

    def test_it_takes_samples_as_they_come(self):
        said = self.consumed("--samples 50")
        numbers = sorted(self.sequences(said))
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 50)))
        self.assertGreaterEqual(int(re.search(r"counted (\d+)", said)[1]), 50)

    def test_a_filter_and_a_process(self):
        self.assertEqual({n % 2 for n in self.sequences(self.consumed("--pid $pid --filter 'sequence & 1'"))}, {1})

    def test_it_learns_that_the_process_has_ended(self):
        said = self.consumed("--pid $pid --samples 1000000", count=300)
        self.assertEqual(self.sequences(said)[-1], 299)

    def test_another_process_counts_for_nothing(self):
        said = self.shell(f"{PRODUCER} --abi --count 1000000 --pause 1000 >/dev/null & pid=$!; "
                          f"while ! grep -q '^user_events:job$' {TRACEFS}/available_events; do sleep 0.02; done; "
                          f"sleep 1000 & other=$!; {CONSUMER} user_events:job --pid $other 2>said & own=$!; "
                          "until grep -q on said; do sleep 0.02; done; kill $other; wait $own; kill $pid; wait")
        self.assertEqual(said, "counted 0\n")

    def run_scenario(self, name):
        """Beside a program that has the event "job", and emits none while the scenario runs."""
        said = self.shell(f"export PRODUCER_COPY={PRODUCER}; {PRODUCER} --abi --hold >/dev/null & "
                          f"pid=$!; while ! grep -q '^user_events:job$' {TRACEFS}/available_events; do sleep 0.02; done; "
                          f"{sys.executable} {SCENARIOS} {name} $pid 2>&1 || echo failed; kill $pid 2>/dev/null; wait")
        self.assertEqual(said.replace("Killed\n", ""), "")

    def test_a_hundred_at_once(self):
        one = f"{CONSUMER} user_events:job --samples 20 2>/dev/null | grep -c '^counted'"
        said = self.shell(f"{PRODUCER} --abi --count 1000000 --pause 1000 >/dev/null & pid=$!; "
                          f"while ! grep -q '^user_events:job$' {TRACEFS}/available_events; do sleep 0.02; done; "
                          f"all=; for i in $(seq 100); do {{ {one}; }} & all=\"$all $!\"; done; wait $all; kill $pid; wait")
        self.assertEqual(said.split(), 100 * ["1"])

    def test_consumers_that_are_killed_leave_the_others_alone(self):
        said = self.shell(f"{PINNED} --abi --count 1000000 --pause 1000 >/dev/null & pid=$!; "
                          f"while ! grep -q '^user_events:job$' {TRACEFS}/available_events; do sleep 0.02; done; "
                          f"{CONSUMER} user_events:job --samples 600 2>/dev/null & own=$!; "
                          f"for i in $(seq 20); do {CONSUMER} user_events:job --samples 100000 >/dev/null 2>&1 & other=$!; "
                          "sleep 0.02; kill -9 $other; done; wait $own; kill $pid; wait")
        numbers = sorted(self.sequences(said))
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 600)))

    def test_an_event_that_is_not_there(self):
        status, _, err = self.run_tracefs(CONSUMER, "user_events:nosuch")
        self.assertNotEqual(status, 0)
        self.assertIn("No such file", err)


def add_scenarios():
    for name in re.findall(r"^def ([a-z]+_[a-z_]+)\(\):", support.read_text(SCENARIOS), re.MULTILINE):
        setattr(PerfProgramTest, "test_" + name, lambda self, name=name: self.run_scenario(name))


add_scenarios()

if __name__ == "__main__":
    unittest.main()
