"""Filters and triggers of a recording."""
import os
import unittest

import support
from support import LANDTRACE, PRODUCER, sequences


class Rules(support.Case):
    def record_with(self, *options, script=None, words=("--count", "200")):
        """(status, stderr) of a recording of the producer, or of a script of it."""
        command = [PRODUCER, *words] if script is None else ["sh", "-c", script]
        status, _, err = self.landtrace("record", "-o", self.file, *options, "--", *command)
        return status, err

    def numbers(self, event="job"):
        return [found["fields"]["sequence"] for found in self.report_json()[0] if found["event"] == event]

    def test_a_filter_is_judged_in_the_program(self):
        for mode in ([], ["--abi"]):
            status, err = self.record_with("-e", "user_events:job", "--filter", "sequence >= 10 && sequence < 15",
                                           words=[*mode, "--count", "200"])
            self.assertEqual(status, 0, err)
            self.assertEqual(self.numbers(), list(range(10, 15)))
            self.assertEqual(support.Summary(err).events, 5)

    def test_rejected_events_take_no_room(self):
        summary = self.record("--count", "1000000", options=["--buffer-size", "256K", "--filter", "sequence == 999999"])
        self.assertEqual((summary.events, summary.lost), (1, 0))

    def test_filters_belong_to_the_pattern_before_them(self):
        script = "; ".join(f"{PRODUCER} --event {name} --count 10" for name in ("a", "b", "c"))
        status, err = self.record_with("--filter", "sequence != 0", "-e", "a", "--filter", "sequence > 3", "--filter",
                                       "sequence < 6", "-e", "b", "--filter=sequence == 8", "-e", "c", script=script)
        self.assertEqual((status, err.count("\n")), (0, 1), err)
        self.assertEqual(self.numbers("a"), [4, 5])
        self.assertEqual(self.numbers("b"), [8])
        self.assertEqual(self.numbers("c"), list(range(1, 10)))

    def test_several_triggers_of_one_event(self):
        status, err = self.record_with("-e", "job", "--trigger", "traceoff:1 if sequence == 20", "--filter", "sequence > 17")
        self.assertEqual(status, 0, err)
        self.assertEqual(self.numbers(), [18, 19, 20])
        self.assertIn("a traceoff trigger ended what is recorded", err)
        self.assertIn("3 events, 0 lost", err)

    def test_traceon_of_another_event_goes_on(self):
        script = "; ".join(f"{PRODUCER} --event {name} --count 10" for name in ("a", "b", "a"))
        status, err = self.record_with("-e", "a", "--trigger", "traceoff:1 if sequence == 4", "-e", "b", "--trigger",
                                       "traceon if sequence == 7", script=script)
        self.assertEqual((status, err.count("\n")), (0, 1), err)
        self.assertEqual(self.numbers("a"), [*range(5), *range(10)])
        self.assertEqual(self.numbers("b"), [8, 9])  # as in the kernel, without the one that goes on

    def test_events_switch_each_other(self):
        # One program keeps b in existence, as a service would.
        script = (f"{PRODUCER} --event b --hold & keeper=$!; "
                  f"until {LANDTRACE} list 2>/dev/null | grep -q :b; do sleep 0.02; done; "
                  + "; ".join(f"{PRODUCER} --event {name} --count 10" for name in ("b", "a", "b", "z", "b")) + "; kill $keeper")
        status, err = self.record_with("-e", "a", "--trigger", "enable_event:user_events:b if sequence == 9", "-e", "z",
                                       "--trigger", "disable_event:user_events:b", script=script)
        self.assertEqual((status, err.count("\n")), (0, 1), err)
        self.assertEqual([event["event"] for event in self.report_json()[0]], ["a"] * 10 + ["b"] * 10 + ["z"] * 10)

    def test_what_does_not_fit_is_recorded_and_said(self):
        status, err = self.record_with("--filter", "nosuch == 1", "--trigger", "enable_event:user_events:other")
        self.assertEqual(status, 0, err)
        self.assertEqual(len(self.numbers()), 200)
        self.assertIn("landtrace: the filter 'nosuch == 1' does not fit user_events:job (Field not found): "
                      "all of its events were recorded\n", err)
        self.assertIn("landtrace: user_events:job did not have the trigger 'enable_event:user_events:other': "
                      "there is no event user_events:other\n", err)

    def test_what_is_none_is_refused_at_once(self):
        for options, sentence, line, caret in (
                (["--filter", "n == 5 && name ~ \"x"], "--filter: Missing matching quote", "n == 5 && name ~ \"x", 17),
                (["-e", "a", "--filter", "n == 5 && m == x"], "--filter: Invalid value (did you forget quotes)?",
                 "n == 5 && m == x", 15),
                (["--trigger", "traceoff:3 if (n == 5"], "--trigger: Too many '('", "traceoff:3 if (n == 5", 14)):
            status, err = self.record_with(*options)
            self.assertEqual((status, err), (2, f"landtrace: {sentence}\n  {line}\n  {' ' * caret}^\n"))
        for trigger, part in (("snapshot", "no snapshot"), ("traceof", "'traceof' is no trigger"), ("!traceoff", "begins without"),
                              ("traceoff:x", "--trigger: traceoff:x: "), ("enable_event:a", "SYSTEM:EVENT")):
            status, err = self.record_with("--trigger", trigger)
            self.assertEqual(status, 2)
            self.assert_one_line(err, part)
        self.assertFalse(os.path.exists(self.file))

    def test_rules_of_a_domain_that_runs_go_with_the_recording(self):
        self.serve()
        producer = self.start_program(PRODUCER, "--count", "1000000", "--pause", "200")
        self.wait_until(lambda: "job" in self.landtrace("list")[1])
        other = os.path.join(self.folder, "other.dat")
        whole = self.start_recording(file=other)
        part = self.start_recording("--filter", "sequence & 1", "--trigger", "traceoff:1 if sequence > 1000")
        self.wait_until(lambda: os.path.getsize(other) > 0 and producer.poll() is None)
        status, _, err = self.stop(part)
        self.assertEqual(status, 0, err)
        numbers = self.numbers()
        self.assertTrue(all(number % 2 == 1 for number in numbers))
        self.assertEqual(self.landtrace("cat", "events/user_events/job/filter")[1], "none\n")
        self.assertIn("Available triggers", self.landtrace("cat", "events/user_events/job/trigger")[1])
        self.assertEqual(self.stop(whole)[0], 0)
        self.file = other
        self.assertTrue(any(number % 2 == 0 for number in sequences(self.report_json()[0])[0]))
        self.assertEqual(self.landtrace("cat", "events/user_events/job/enable")[1], "0\n")


if __name__ == "__main__":
    unittest.main()
