"""landtrace hist and landtrace latency."""
import json
import os
import signal
import subprocess
import unittest

import support
from support import LANDTRACE, PRODUCER

REQUESTS = os.environ["REQUESTS"]


class Histograms(support.Case):
    def hist(self, *words):
        """The last line of JSON that it prints."""
        status, out, err = self.landtrace(*words[:1], "--json", *words[1:])
        self.assertEqual(status, 0, err)
        return json.loads(out.splitlines()[-1])

    def assert_pairs(self, found, pairs, starts_without_end=0, ends_without_start=0):
        self.assertEqual([found[name] for name in ("hits", "dropped", "starts_without_end", "ends_without_start", "lost")],
                         [pairs, 0, starts_without_end, ends_without_start, 0])

    def test_every_event_of_a_command_is_counted_from_the_first_on(self):
        for mode in ([], ["--abi"]):
            found = self.hist("hist", "--keys", "source", "job", "--", PRODUCER, *mode, "--count", "1000", "--children", "2")
            self.assertEqual(found["hits"], 3000)
            self.assertEqual({group["key"]["source"]: group["count"] for group in found["groups"]},
                             {0: 1000, 1000: 1000, 2000: 1000})

    def test_sums_and_a_filter(self):
        found = self.hist("hist", "--keys", "source", "--vals", "sequence", "--filter", "sequence < 5", "job", "--",
                          PRODUCER, "--count", "100")
        self.assertEqual(found["groups"], [{"key": {"source": 0}, "count": 5, "sums": {"sequence": 10}}])

    def test_numbers_are_shown_by_type(self):
        found = self.hist("hist", "--keys", "change,load,share", "--vals", "change", "job", "--", PRODUCER, "--types")
        self.assertEqual(found["groups"],
                         [{"key": {"change": i - 2, "load": i / 10, "share": 0.25}, "count": 2, "sums": {"change": 2 * (i - 2)}}
                          for i in range(5)])
        _, out, _ = self.landtrace("hist", "--keys", "change", "--vals", "change", "job", "--", PRODUCER, "--types", "--abi")
        self.assertEqual([line.split("#")[0].split() for line in out.splitlines()[2:]],
                         [[f"change={i}", "2", "20.0%", "change", str(2 * i), f"(mean", f"{i}.0)"] for i in range(-2, 3)])
        self.assertEqual(self.hist("hist", "--keys", "sequence", "job", "--", PRODUCER, "--count", "12")["groups"],
                         [{"key": {"sequence": i}, "count": 1} for i in range(12)])

    def test_negative_values_are_in_the_first_bucket(self):
        found = self.hist("hist", "--vals", "change.log2", "job", "--", PRODUCER, "--types", "--count", "50")
        [group] = found["groups"]
        self.assertEqual(group["change"]["buckets"],
                         [{"from": -2 ** 31, "to": 1, "count": 40}, {"from": 2, "to": 2, "count": 10}])
        self.assertEqual((group["change"]["sum"], group["change"]["mean"]), (0, 0))
        _, out, _ = self.landtrace("hist", "--vals", "change.log2", "job", "--", PRODUCER, "--types")
        self.assertRegex(out, r"\n +negative \.\. 1 +8 #+\n +2 \.\. 2 ")

    def test_what_cannot_be_added_up_is_said(self):
        status, _, err = self.landtrace("hist", "--keys", "change", "--vals", "load", "job", "--", PRODUCER, "--types")
        self.assertEqual((status, err), (1, "landtrace: --vals: 'load' is a floating-point number, and cannot be added up\n"
                                            "  load\n  ^\n"))

    def test_how_a_value_is_spread(self):
        found = self.hist("hist", "--vals", "sequence.log2", "job", "--", PRODUCER, "--count", "1024")
        [group] = found["groups"]
        self.assertEqual(group["count"], 1024)
        self.assertEqual(group["sequence"]["sum"], 1024 * 1023 // 2)
        self.assertEqual(group["sequence"]["buckets"][0], {"from": 0, "to": 1, "count": 2})
        self.assertEqual(group["sequence"]["buckets"][-1], {"from": 513, "to": 1024, "count": 511})
        self.assertTrue(480 < group["sequence"]["p50"] < 544, group)
        found = self.hist("hist", "--vals", "sequence.log2=32", "job", "--", PRODUCER, "--count", "1024")
        [group] = found["groups"]
        self.assertEqual(group["sequence"]["buckets"][63:66], [{"from": 63, "to": 63, "count": 1}, {"from": 64, "to": 65, "count": 2},
                                                               {"from": 66, "to": 67, "count": 2}])
        for name, exact in (("p50", 512), ("p90", 921), ("p99", 1013), ("p99.9", 1022)):
            self.assertAlmostEqual(group["sequence"][name], exact, delta=0.03 * exact)

    def test_steps_that_are_none_are_said(self):
        for steps in ("33", "0", ""):
            status, _, err = self.landtrace("hist", "--vals", f"sequence.log2={steps}", "job", "--", PRODUCER)
            self.assertEqual(status, 1)
            self.assertIn("modifier", err)

    def test_a_chart_for_people(self):
        status, out, err = self.landtrace("hist", "--keys", "source", "job", "--", PRODUCER, "--count", "10")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, "emitted 10\njob: 10 events\nsource=0           10 100.0% " + "#" * 40 + "\n")

    def test_what_the_event_does_not_have_is_said(self):
        status, out, err = self.landtrace("hist", "--keys", "nosuch", "job", "--", PRODUCER, "--count", "10", "--pause", "10000")
        self.assertEqual(status, 1)
        self.assertIn("nosuch", err)
        self.assertIn("user_events:job", err)
        status, _, err = self.landtrace("hist", "job")
        self.assertEqual(status, 2, err)
        status, _, err = self.landtrace("hist", "--keys", "a,b,c", "--vals", "d.log2", "job")
        self.assertEqual(status, 2, err)

    def test_a_command_s_status_is_ours(self):
        status, _, _ = self.landtrace("hist", "--keys", "source", "job", "--", PRODUCER, "--exit", "7")
        self.assertEqual(status, 7)
        status, _, _ = self.landtrace("hist", "--keys", "source", "job", "--", "/nosuch")
        self.assertEqual(status, 127)

    def test_a_small_table_counts_what_it_drops(self):
        found = self.hist("hist", "--keys", "sequence", "--size", "128", "job", "--", PRODUCER, "--count", "200")
        self.assertEqual((found["hits"], found["dropped"], len(found["groups"])), (128, 72, 128))

    def test_any_size_finds_a_table_that_has_room_for_it(self):
        found = self.hist("hist", "--keys", "sequence", "--size", "200000", "job", "--", PRODUCER, "--count", "200")
        self.assertEqual((found["hits"], found["dropped"]), (200, 0))
        found = self.hist("latency", "--from", "req_start", "--to", "req_done", "--key", "id", "--size", "150000", "--", REQUESTS)
        self.assertGreater(found["hits"], 0)
        status, _, err = self.landtrace("hist", "--keys", "source", "--size", "2000000", "job", "--", PRODUCER, "--pause", "10000")
        self.assertEqual(status, 1)
        self.assertIn("no histogram has that size", err)

    def test_it_goes_on_until_it_is_interrupted_and_leaves_nothing_behind(self):
        watching = subprocess.Popen([LANDTRACE, "hist", "--json", "--interval", "0.1", "--keys", "source", "job"],
                                    stdout=subprocess.PIPE, text=True, env=self.environment)
        self.addCleanup(watching.kill)
        watching.stdout.readline()
        subprocess.run([PRODUCER, "--count", "50", "--wait", "60000"], env=self.environment, check=True,
                       stdout=subprocess.DEVNULL)
        watching.send_signal(signal.SIGINT)
        out, _ = watching.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(watching.returncode, 0)
        self.assertEqual(json.loads(out.splitlines()[-1])["hits"], 50)

    def test_latency_between_two_processes_by_a_field_of_the_second(self):
        found = self.hist("latency", "--from", "req_start", "--to", "req_done", "--key", "id", "--by", "route", "--", REQUESTS)
        self.assertEqual({group["key"]["route"] for group in found["groups"]}, {"/", "/login", "/search"})
        self.assert_pairs(found, 1000)
        means = {group["key"]["route"]: group["latency_ns"]["mean"] for group in found["groups"]}
        # A request takes as long as it sleeps, and longer on a busy machine.
        self.assertTrue(means["/"] > 20e3 and means["/login"] > 80e3 and means["/search"] > 320e3, means)

    def times_and_latency(self):
        """What a recorder saw of each request, sorted, and what `latency` says of them."""
        recorder = self.start_recording("-e", "req_*")
        watching = self.start("latency", "--json", "--from", "req_start", "--to", "req_done", "--key", "id")
        self.assertIn("watching", watching.stderr.readline())
        self.assertEqual(self.landtrace("run", "--", REQUESTS)[0], 0)
        for process in (recorder, watching):
            process.send_signal(signal.SIGINT)
        out, _ = watching.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(recorder.wait(timeout=support.TIMEOUT_S), 0)
        events, lost = self.report_json()
        self.assertEqual((len(events), lost), (2000, 0))
        start = {event["fields"]["id"]: event["time"] for event in events if event["event"] == "req_start"}
        times = sorted(event["time"] - start[event["fields"]["id"]] for event in events if event["event"] == "req_done")
        [group] = json.loads(out.splitlines()[-1])["groups"]
        self.assertEqual(group["count"], 1000)
        return times, group["latency_ns"]

    def test_percentiles_are_within_three_percent_of_the_exact_ones(self):
        self.serve()
        for _ in range(50):
            times, latency = self.times_and_latency()
            # Each of the two reads the clock: a program that lost its processor in between has told them two times.
            if abs(latency["mean"] - sum(times) / 1000) < 100:
                break
        for name, place in (("p50", 500), ("p90", 900), ("p99", 990), ("p99.9", 999)):
            # A percentile may be the one or its neighbour; and two recorders' clocks differ by some ns.
            shown, low, high = latency[name], times[place - 1], times[place]
            self.assertTrue(0.97 * low - 100 <= shown <= 1.03 * high + 100, (name, shown, low, high))

    def test_latency_of_far_more_keys_than_a_table_has_rows(self):
        found = self.hist("latency", "--from", "job", "--to", "job", "--key", "sequence", "--", PRODUCER, "--count", "20000",
                          "--children", "2")
        self.assert_pairs(found, 40000, 20000, 20000)

    def test_events_without_a_partner_are_said(self):
        words = ["latency", "--from", "job", "--to", "job", "--key", "sequence,source"]
        self.assert_pairs(self.hist(*words, "--", PRODUCER, "--count", "30"), 0, 30, 30)
        status, out, err = self.landtrace(*words, "--", PRODUCER, "--count", "30")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out, "emitted 30\njob -> job: 0 events\nwithout an end: 30 events\nwithout a start: 30 events\n")

    def test_what_is_lost_is_said(self):
        found = self.hist("latency", "--from", "job", "--to", "job", "--key", "source,sequence", "--buffer-size", "64K", "--",
                          PRODUCER, "--count", "1000000")
        self.assertGreater(found["lost"], 0)
        self.assertEqual(found["lost"] + found["starts_without_end"], 1000000)

    def test_a_filter_says_what_latency_begins_with(self):
        found = self.hist("latency", "--from", "req_start", "--to", "req_done", "--key", "id", "--filter", "id < 10", "--",
                          REQUESTS)
        self.assert_pairs(found, 10, 0, 990)
        status, _, err = self.landtrace("latency", "--from", "job", "--to", "job", "--key", "source", "--to-key", "a,b")
        self.assertEqual(status, 2)
        self.assert_one_line(err, "--to-key")

    def test_latency_without_the_fields_of_the_events(self):
        status, _, err = self.landtrace("latency", "--from", "req_start", "--to", "req_done", "--key", "id", "--by",
                                        "nosuch", "--", REQUESTS)
        self.assertEqual(status, 1)
        self.assertIn("--by: user_events:req_done has no field 'nosuch'", err)

    def test_it_leaves_nothing_behind(self):
        self.serve()
        producer = self.start_program(PRODUCER, "--count", "1000000", "--pause", "1000")
        self.addCleanup(producer.kill)
        self.wait_until(lambda: "user_events:job" in self.landtrace("list")[1])
        words = ["latency", "--from", "job", "--to", "job", "--key", "source"]
        self.given_time(lambda seconds: self.hist(*words, "--duration", seconds)["hits"] > 0)
        self.assertEqual(self.landtrace("cat", "synthetic_events")[1], "")
        self.assertNotIn("hist:", self.landtrace("cat", "events/user_events/job/trigger")[1])


if __name__ == "__main__":
    unittest.main()
