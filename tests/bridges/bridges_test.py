"""<landtrace/bridges/...>: messages of logging libraries, spans, and the journal, with the libraries of Debian."""
import json
import os
import socket
import subprocess
import unittest

import support


def program(name):
    return os.environ.get("BRIDGE_" + name)


def needs(name):
    return unittest.skipUnless(program(name), f"its library was not there when {name} was to be built")


class Bridges(support.Case):
    def events(self, name, *words):
        status, out, err = self.landtrace("record", "-o", self.file, "--", program(name), *words)
        self.assertEqual(status, 0, err)
        events, lost = self.report_json()
        self.assertEqual(lost, 0)
        return out, [(event["event"], event["fields"]) for event in events]

    @needs("spdlog")
    def test_messages_of_spdlog(self):
        _, events = self.events("spdlog")
        self.assertEqual([name for name, _ in events], ["spdlog_log"] * 3)
        first, second, third = (fields for _, fields in events)
        self.assertEqual(first, {"level": 1, "logger": "web", "message": "1 of 2", "file": "", "line": 0})
        self.assertEqual((second["level"], second["message"]), (4, 'a "text"'))
        self.assertTrue(second["file"].endswith("spdlog.cc"), second)
        self.assertGreater(second["line"], 0)
        self.assertEqual((third["level"], third["message"]), (2, "x" * 32768))

    @needs("glog")
    def test_messages_of_glog(self):
        _, events = self.events("glog")
        self.assertEqual([(name, fields["level"], fields["message"]) for name, fields in events],
                         [("glog_log", 0, "one 1"), ("glog_log", 1, "x" * 25000)])
        self.assertTrue(events[0][1]["file"].endswith("glog.cc"), events[0])

    def test_spans_know_their_parents_and_their_trace(self):
        out, events = self.events("spans")
        (outer, _, inner, *_), (served, *_) = [[fields for _, fields in part] for part in (events[:6], events[6:])]
        self.assertEqual([name for name, _ in events], ["span_begin", "span_attribute", "span_begin", "span_event",
                                                        "span_end", "span_end", "span_begin", "span_end"])
        self.assertEqual((outer["name"], outer["parent"], inner["name"], inner["parent"]),
                         ("outer", 0, "inner", outer["span"]))
        for word in ("trace_high", "trace_low"):
            self.assertEqual(inner[word], outer[word])
            self.assertNotEqual(inner[word], 0)
        self.assertEqual(events[1][1], {"span": outer["span"], "key": "rows", "value": "42"})
        self.assertEqual(events[3][1], {"span": inner["span"], "name": "cache miss"})
        self.assertEqual(events[4][1], {"span": inner["span"], "status": 2, "message": "no file"})
        self.assertEqual(events[5][1], {"span": outer["span"], "status": 0, "message": ""})
        self.assertEqual(served["parent"], 0x00f067aa0ba902b7)
        self.assertEqual(out.split(), [
            f"00-{inner['trace_high']:016x}{inner['trace_low']:016x}-{inner['span']:016x}-01",
            f"00-4bf92f3577b34da6a3ce929d0e0e4736-{served['span']:016x}-01"])
        export = self.landtrace("export", self.file, "--format", "chrome", "--span", "span_begin,span_end,span")
        spans = [each for each in json.loads(export[1])["traceEvents"] if each.get("ph") == "X"]
        self.assertEqual(len(spans), 3, export)

    def test_texts_of_spans_are_cut_and_the_span_ends(self):
        _, events = self.events("spans", "long")
        begin, attribute, happened, end = (fields for _, fields in events)
        self.assertEqual([name for name, _ in events], ["span_begin", "span_attribute", "span_event", "span_end"])
        for text, size in ((begin["name"], 32768), (attribute["key"], 16384), (attribute["value"], 32768),
                           (happened["name"], 32768), (end["message"], 32768)):
            self.assertEqual(text, "x" * size)

    def test_spans_that_nobody_listens_to_have_no_context_of_their_own(self):
        status, out, err = self.landtrace("record", "-e", "span_end", "-o", self.file, "--", program("spans"))
        self.assertEqual((status, out), (0, "\n00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n"), err)
        self.assertEqual(self.report_json(), ([], 0))

    @needs("journal")
    def test_the_journal_has_an_events_fields(self):
        self.record("--count", "2", options=("-e", "job"))
        events, _ = self.report_json()
        run = os.path.join(self.folder, "run")
        os.makedirs(run)
        place = "/run/systemd/journal"
        inside = ["unshare", "-m", "sh", "-c", f'mkdir -p {place} && mount --bind "$0" {place} && exec "$@"', run]
        if not support.works(*inside, "true"):
            self.skipTest("no mount namespace")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as journal:
            journal.bind(os.path.join(run, "socket"))
            journal.settimeout(support.TIMEOUT_S)
            self.assertEqual(subprocess.run([*inside, program("journal"), self.file], timeout=support.TIMEOUT_S,
                                            check=False).returncode, 0)
            for event in events:
                entry = dict(line.split("=", 1) for line in journal.recv(65536).decode().splitlines())
                number = event["fields"]["sequence"]
                self.assertEqual(entry.pop("MESSAGE"), f"job: source=0x0 (0) sequence={number:#x} ({number})")
                self.assertEqual(entry, {
                    "PRIORITY": "6", "SYSLOG_IDENTIFIER": "producer", "LANDTRACE_SYSTEM": "user_events",
                    "LANDTRACE_EVENT": "job", "LANDTRACE_PID": str(event["tgid"]), "LANDTRACE_TID": str(event["pid"]),
                    "LANDTRACE_CPU": str(event["cpu"]), "LANDTRACE_TIME_NS": str(event["time"]),
                    "LANDTRACE_FIELD_SOURCE": "0", "LANDTRACE_FIELD_SEQUENCE": str(number)})


if __name__ == "__main__":
    unittest.main()
