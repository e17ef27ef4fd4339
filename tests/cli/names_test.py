"""Mistyped names of events and fields: what was meant is said, and nothing looks like an event that did not happen."""
import os
import signal
import unittest

import support
from support import PRODUCER

STATIC_PROGRAM = os.environ["STATIC_PROGRAM"]


class EventNames(support.Case):
    def test_record_says_what_was_meant(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-e", "jbo", "--", PRODUCER)
        self.assertEqual(status, 1)
        self.assertIn("landtrace: no event 'jbo' registered; did you mean user_events:job?\n", err)
        self.assertIn("0 events, 0 lost", err)

    def test_record_says_what_there_is(self):
        script = f"{PRODUCER}; {PRODUCER} --event other"
        status, _, err = self.landtrace("record", "-o", self.file, "-e", "zebra", "-e", "http:*", "-e", "job", "--", "sh", "-c", script)
        self.assertEqual(status, 1)
        self.assertIn("no event 'zebra' registered; there is user_events:job and user_events:other\n", err)
        self.assertIn("no event registered that matches 'http:*'; there is user_events:job and user_events:other\n", err)
        self.assertNotIn("'job'", err)
        self.assertEqual(len(self.report_json()[0]), 10)

    def test_a_pattern_that_matches_nothing_is_said_and_no_failure(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-e", "zebra*", "--", PRODUCER)
        self.assertEqual(status, 0)
        self.assertIn("no event registered that matches 'zebra*'; there is user_events:job\n", err)

    def test_an_event_that_registers_and_does_not_happen_is_fine(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-e", "job", "--", PRODUCER, "--count", "0")
        self.assertEqual((status, err.count("\n")), (0, 1), err)

    def test_the_command_s_status_comes_first(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-e", "jbo", "--", PRODUCER, "--exit", "7")
        self.assertEqual(status, 7)
        self.assertIn("did you mean", err)

    def test_programs_that_nothing_can_be_preloaded_into(self):
        status, _, err = self.landtrace("record", "-o", self.file, "--", "true")
        self.assertEqual(status, 0)
        self.assertIn("landtrace: no event registered; programs that are linked statically need --tracefs\n", err)
        for command in (["record", "-o", self.file], ["hist", "--keys", "source", "job"]):
            _, _, err = self.landtrace(*command, "--", STATIC_PROGRAM, "10", "100")
            self.assertIn(f"landtrace: no event registered; '{STATIC_PROGRAM}' is linked statically and needs --tracefs\n", err)

    @support.needs_fuse
    @support.needs_namespaces
    def test_what_is_said_of_them_helps(self):
        status, _, err = self.landtrace("record", "-o", self.file, "--tracefs", "--", STATIC_PROGRAM, "10", "100")
        self.assertEqual(status, 0, err)
        self.assertEqual(support.Summary(err).events, 10)
        for command in (["hist", "--keys", "status", "abi_request"],
                        ["latency", "--from", "abi_request", "--to", "abi_request", "--key", "status"]):
            status, out, err = self.landtrace(command[0], "--json", "--tracefs", *command[1:], "--", STATIC_PROGRAM, "100", "1000")
            self.assertEqual((status, err), (0, ""), out)
        self.assertEqual(self.landtrace("hist", "--keys", "source", "--tracefs", "job")[0], 2)

    def test_a_domain_that_others_are_in(self):
        self.serve()
        producer = self.start_program(PRODUCER, "--count", "1000000", "--pause", "1000")
        self.wait_until(lambda: "job" in self.landtrace("list")[1])
        status, _, err = self.landtrace("record", "-o", self.file, "-e", "jbo", "--duration", "0.2")
        self.assertEqual(status, 1)
        self.assertIn("waiting: no event 'jbo' registered yet; did you mean user_events:job?\n", err)
        self.assertIn("landtrace: no event 'jbo' registered; did you mean user_events:job?\n", err)
        words = ["hist", "jbo", "--keys", "source", "--interval", "0.1"]

        def attempt(seconds):
            status, out, err = self.landtrace(*words, "--duration", seconds)
            self.assertEqual(status, 1)
            return (out, err) if "waiting" in out else None

        out, err = self.given_time(attempt)
        self.assertIn("jbo: 0 events\nwaiting: no event 'user_events:jbo' registered yet; did you mean user_events:job?\n", out)
        self.assertEqual(err.splitlines()[1:], ["landtrace: no event 'user_events:jbo' registered; did you mean user_events:job?"])
        self.stop(producer, signal.SIGKILL)

    def test_a_domain_that_nobody_is_in(self):
        self.serve()
        status, _, err = self.landtrace("record", "-o", self.file, "-e", "job", "--duration", "0.2")
        self.assertEqual(status, 1)
        self.assertIn(f"no event registered in the domain at {self.socket}; `landtrace run -- CMD` joins it\n", err)
        self.assertNotIn("waiting", err)

    def test_hist_and_latency(self):
        status, out, err = self.landtrace("hist", "jbo", "--keys", "source", "--json", "--", PRODUCER)
        self.assertEqual(status, 1)
        self.assertIn('"hits":0', out)
        self.assertEqual(err, "landtrace: no event 'user_events:jbo' registered; did you mean user_events:job?\n")
        status, _, err = self.landtrace("latency", "--from", "jbo", "--to", "b", "--key", "source", "--", PRODUCER)
        self.assertEqual(status, 1)
        self.assertEqual(err, "landtrace: no event 'user_events:jbo' registered; did you mean user_events:job?\n"
                              "landtrace: no event 'user_events:b' registered; there is user_events:job\n")

    def test_a_histogram_is_of_one_event(self):
        for words in (["hist", "j*", "--keys", "source"], ["latency", "--from", "a", "--to", "user_events:", "--key", "id"]):
            status, _, err = self.landtrace(*words, "--", "true")
            self.assertEqual(status, 2)
            self.assert_one_line(err, "want one event")

    def test_report(self):
        self.record()
        status, out, err = self.landtrace("report", self.file, "-e", "jbo", "-e", "job")
        self.assertEqual((status, out.count("job:")), (1, 10))
        self.assertEqual(err, f"landtrace: {self.file} has no event 'jbo'; did you mean user_events:job?\n")
        status, _, err = self.landtrace("report", "--json", self.file, "-e", "http*")
        self.assertEqual((status, err), (0, f"landtrace: {self.file} has no event that matches 'http*'; there is user_events:job\n"))


class FieldNames(support.Case):
    """However short the program is."""

    def assert_refused(self, words, *lines, command=(PRODUCER,)):
        for pause in ((), ("--pause", "20000")):
            status, out, err = self.landtrace(*words, "--", *command, *(pause if command == (PRODUCER,) else ()))
            self.assertEqual(status, 1, (words, out, err))
            self.assertEqual(err, "".join(line + "\n" for line in lines))
            self.assertNotIn("0 events", out)

    def test_keys_and_values(self):
        self.assert_refused(["hist", "job", "--keys", "source,nosuch"],
                            "landtrace: --keys: user_events:job has no field 'nosuch'; it has source, sequence",
                            "  source,nosuch", "         ^")
        self.assert_refused(["hist", "job", "--keys", "source", "--vals", "sequnce.log2"],
                            "landtrace: --vals: user_events:job has no field 'sequnce'; did you mean sequence?",
                            "  sequnce.log2", "  ^")
        self.assert_refused(["latency", "--from", "job", "--to", "job", "--key", "id"],
                            "landtrace: --key: user_events:job has no field 'id'; it has source, sequence", "  id", "  ^")

    def test_what_only_the_owner_knows(self):
        status, _, err = self.landtrace("hist", "job", "--keys", "source.nosuch", "--", PRODUCER)
        self.assertEqual(status, 1)
        self.assertIn("user_events:job did not have the trigger 'hist:keys=source.nosuch': Invalid field modifier", err)

    def test_filters(self):
        self.assert_refused(["hist", "job", "--keys", "source", "--filter", "source == 0 && nosuch > 5"],
                            "landtrace: --filter: Field not found", "  source == 0 && nosuch > 5", "                 ^")

    def test_what_is_no_filter_is_refused_before_anything_runs(self):
        for words in (["hist", "job", "--keys", "source"], ["latency", "--from", "a", "--to", "b", "--key", "id"]):
            status, _, err = self.landtrace(*words, "--filter", "n > 5 && (m == 3", "--", "touch", self.folder + "/ran")
            self.assertEqual((status, err), (2, "landtrace: --filter: Too many '('\n  n > 5 && (m == 3\n           ^\n"))
        self.assertFalse(os.path.exists(self.folder + "/ran"))


if __name__ == "__main__":
    unittest.main()
