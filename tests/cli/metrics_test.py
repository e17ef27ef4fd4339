"""landtraced --metrics and --metrics-push: what a scraper and a collector get, and when they get nothing."""
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import unittest
import urllib.parse

import support
from support import LANDTRACED, PRODUCER

PROGRAM = os.path.join(os.path.dirname(os.environ["SHIM"]), "landtrace-metrics")
if os.path.exists(PROGRAM):
    shutil.copy(PROGRAM, os.path.join(os.path.dirname(support.LANDTRACE), "..", "lib", "landtrace"))
DEFINED = "u:job u32 source; u32 sequence\n"
BY_NAME = "hist:name=work:keys=source,sequence.log2:vals=sequence"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Metrics(support.Case):
    def serve_metrics(self, *words):
        """Its port."""
        events = os.path.join(self.folder, "events")
        with open(events, "w", encoding="utf-8") as file:
            file.write(DEFINED)
        self.daemon = self.serve("--events-file", events, "--metrics", "127.0.0.1:0", *words)
        said = self.daemon.stderr.readline()
        found = re.fullmatch(r"landtraced: metrics are at http://127\.0\.0\.1:(\d+)/metrics\n", said)
        self.assertIsNotNone(found, said)
        return int(found[1])

    def get(self, port, path="/metrics", method="GET", **headers):
        """(status, headers, text)"""
        connection = port if isinstance(port, http.client.HTTPConnection) else http.client.HTTPConnection("127.0.0.1", port)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def values(self, port):
        """By name and labels, as they stand there."""
        status, _, text = self.get(port)
        self.assertEqual(status, 200, text)
        return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))

    def values_with(self, port, series, value):
        """Those that have it: what is told is as old as a tenth of a second."""
        self.wait_until(lambda: self.values(port).get(series) == value, lambda: self.values(port).get(series))
        return self.values(port)

    def count(self, trigger=BY_NAME):
        status, _, err = self.landtrace("write", "events/user_events/job/trigger", trigger)
        self.assertEqual(status, 0, err)

    def emit(self, count, threads=1):
        status, out, err = self.landtrace("run", "--", PRODUCER, "--count", count, "--threads", threads)
        self.assertEqual((status, out), (0, f"emitted {count * threads}\n"), err)


class Ending(Metrics):
    def test_it_ends_where_the_daemon_is_gone_already(self):
        self.serve()
        with socket.create_server(("127.0.0.1", 0)) as listening:
            at = listening.fileno()
            self.assert_ends_without_its_starter(PROGRAM, self.socket, "", 10, "", at, pass_fds=[at])

    def daemon_with(self, script):
        """A landtraced of its own, with this as landtrace-metrics."""
        for folder in ("bin", "lib/landtrace"):
            os.makedirs(os.path.join(self.folder, "own", folder))
        program = os.path.join(self.folder, "own/lib/landtrace/landtrace-metrics")
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(program, 0o700)
        for library in os.listdir(os.path.dirname(os.environ["SHIM"])):
            if library in ("liblandtrace-preload.so", "liblandtrace-agent.so"):
                shutil.copy(os.path.join(os.path.dirname(os.environ["SHIM"]), library), os.path.dirname(program))
        own = shutil.copy(LANDTRACED, os.path.join(self.folder, "own/bin"))
        return self.start_program(own, "--metrics", "127.0.0.1:0")

    def test_a_daemon_that_waits_for_it_can_be_ended(self):
        daemon = self.daemon_with(f"touch {self.folder}/hangs\nexec sleep {support.TIMEOUT_S}")
        self.wait_until(lambda: os.path.exists(os.path.join(self.folder, "hangs")))
        self.assertEqual(self.stop(daemon), (0, "", ""))

    def test_one_that_ends_at_once_is_not_said_to_serve(self):
        for script in ("echo why >&2", "sleep 0.2; echo why >&2; exit 1", "echo why >&2; kill -9 $$"):
            daemon = self.daemon_with(script)
            self.assertEqual(daemon.wait(timeout=support.TIMEOUT_S), 1)
            self.assertRegex(daemon.stderr.read(), "^why\nlandtraced: --metrics: landtrace-metrics has ended before it served\n$")
            shutil.rmtree(os.path.join(self.folder, "own"))

    def test_one_that_ends_when_it_has_served_is_told_of(self):
        daemon = self.daemon_with("echo serves")
        self.assertRegex(daemon.stderr.readline(), "metrics are at")
        self.assertRegex(daemon.stderr.readline(), "metrics are not served any more")
        self.assertEqual(self.stop(daemon)[0], 0)


class Scraped(Metrics):
    def test_histograms_have_cumulative_buckets_by_their_other_keys(self):
        port = self.serve_metrics()
        self.count()
        self.emit(100)
        wanted = {"1.0": 2, "2.0": 3, "4.0": 5, "8.0": 9, "16.0": 17, "32.0": 33, "64.0": 65, "128.0": 100, "+Inf": 100}
        values = self.values_with(port, 'landtrace_work_count{source="0"}', "100")
        for upper, number in wanted.items():
            self.assertEqual(values[f'landtrace_work_bucket{{source="0",le="{upper}"}}'], str(number))
        self.assertEqual(values['landtrace_work_count{source="0"}'], "100")
        self.assertEqual(values['landtrace_work_sum{source="0"}'], str(sum(range(100))))
        self.assertEqual(values["landtrace_events_registered"], "1")

    def test_recorded_and_lost_events(self):
        port = self.serve_metrics("--buffer-size", "4K")
        self.landtrace("write", "events/user_events/job/enable", "1")
        self.emit(100000)

        def sums():
            return {name: sum(int(value) for series, value in self.values(port).items()
                              if series.startswith(f"landtrace_{name}_events_total"))
                    for name in ("recorded", "overwritten", "dropped")}
        self.wait_until(lambda: sums()["recorded"] + sums()["dropped"] == 100000)
        self.assertGreater(sums()["overwritten"] + sums()["dropped"], 50000)

    def test_events_are_counted_by_name_if_that_is_wanted(self):
        port = self.serve_metrics("--metrics-events", "other,j*")
        self.assertEqual(self.values(port)['landtrace_events_total{event="user_events:job"}'], "0")
        self.emit(300)
        values = self.values_with(port, 'landtrace_events_total{event="user_events:job"}', "300")
        self.assertEqual([value for name, value in values.items() if "recorded" in name and value != "0"], [])
        self.landtrace("run", "--", PRODUCER, "--event", "later", "--count", "5")
        self.landtrace("run", "--", PRODUCER, "--event", "other", "--count", "5", "--wait", "60000")
        self.assertNotIn("later", str(self.values(port)))

    def test_what_openmetrics_has_and_the_older_format_has_not(self):
        port = self.serve_metrics()
        _, headers, text = self.get(port, Accept="application/openmetrics-text; version=1.0.0")
        self.assertTrue(headers["Content-Type"].startswith("application/openmetrics-text"))
        self.assertTrue(text.endswith("# EOF\n"))
        _, headers, text = self.get(port)
        self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertNotIn("# EOF", text)

    def test_a_socket_by_its_path(self):
        path = os.path.join(self.folder, "http")
        self.serve_metrics("--metrics", path)
        self.assertEqual(self.get(UnixConnection(path))[0], 200)
        self.stop(self.daemon)
        self.assertFalse(os.path.exists(path))

    def test_pages_of_others_get_nothing(self):
        port = self.serve_metrics()
        self.assertEqual(self.get(port, Host="evil.example")[0], 403)
        self.assertEqual(self.get(port, Host=f"127.evil.example:{port}")[0], 403)
        self.assertEqual(self.get(port, Host=f"localhost:{port}")[0], 200)
        self.assertEqual(self.get(port, Host=f"[::1]:{port}")[0], 200)
        self.assertEqual(self.get(port, method="POST")[0], 405)
        self.assertEqual(self.get(port, "/")[0], 404)
        self.assertIsNone(self.get(port)[1]["Access-Control-Allow-Origin"])

    def test_names_and_texts_of_programs_stay_in_their_labels(self):
        port = self.serve_metrics()
        self.landtrace("write", "-a", "dynamic_events", "u:say char[32] what")
        self.assertEqual(self.landtrace("write", "events/user_events/say/trigger", "hist:keys=what")[0], 0)
        text = 'a"} 1\nspoilt 2'
        status, _, err = self.landtrace("run", "--", PRODUCER, "--event", "say2", "--text", text, "--count", "1")
        self.assertEqual(status, 0, err)
        self.landtrace("write", "events/user_events/say2/trigger", "hist:keys=common_pid")
        self.values_with(port, "landtrace_events_registered", "2")
        self.assertNotIn("spoilt", [name.split("{")[0] for name in self.values(port)])

    def test_each_family_is_there_once_whatever_histograms_are_called(self):
        port = self.serve_metrics("--metrics-events", "job")
        names = ("events", "users", "dropped_events", "my-name", "my_name", "events_total")
        for i, name in enumerate(names):
            trigger = f"hist:name={name}:keys=source,sequence{'.log2' if i % 2 else ''}"
            self.assertEqual(self.landtrace("write", "-a", "events/user_events/job/trigger", trigger)[0], 0)
        self.emit(3)
        self.values_with(port, 'landtrace_events_total{event="user_events:job"}', "3")
        for accept in ("text/plain", "application/openmetrics-text; version=1.0.0"):
            lines = self.get(port, Accept=accept)[2].splitlines()
            for what in ("HELP", "TYPE"):
                families = [line.split()[2] for line in lines if line.startswith(f"# {what}")]
                self.assertEqual(sorted(families), sorted(set(families)))
            series = [line.rsplit(" ", 1)[0] for line in lines if not line.startswith("#")]
            self.assertEqual(sorted(series), sorted(set(series)))
            for name in names:
                self.assertEqual(sum(line.startswith("# HELP") and f"name={name}:" in line for line in lines), 1, name)
            # Each sample is of the family that was said last.
            family = ""
            for line in lines:
                family = line.split()[2] if line.startswith("# TYPE") else family
                if not line.startswith("#"):
                    self.assertIn(re.match(r"\w+", line)[0].removeprefix(family), ("", "_total", "_bucket", "_sum", "_count"))

    def test_many_at_once(self):
        port = self.serve_metrics()
        self.count()
        self.emit(10)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.get(port)[0])) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [200] * 20)


class Ends(Metrics):
    def ended(self, port):
        try:
            self.get(port)
        except ConnectionRefusedError:
            return True
        except (http.client.HTTPException, OSError):
            pass
        return False

    def test_it_goes_with_its_daemon_however_that_ends(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            port = self.serve_metrics()
            self.assertEqual(self.get(port)[0], 200)
            self.stop(self.daemon, number)
            self.wait_until(lambda port=port: self.ended(port))

    def test_a_daemon_without_it_goes_on_and_says_so(self):
        port = self.serve_metrics()
        children = support.read_text(f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children").split()
        self.assertEqual(len(children), 1)
        os.kill(int(children[0]), signal.SIGKILL)
        self.assertIn("metrics are not served any more", self.daemon.stderr.readline())
        self.assertTrue(self.ended(port))
        self.count()
        self.emit(1)

    def test_what_cannot_be_served_is_refused_at_once(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        for words, status, what in ((("--metrics", f"127.0.0.1:{taken.getsockname()[1]}"), 1, "Address already in use"),
                                    (("--metrics", "9464"), 2, "want HOST:PORT or /PATH, not '9464'"),
                                    (("--metrics", "no.such.host.invalid:1"), 1, "no.such.host.invalid:1: "),
                                    (("--metrics-events", "job"), 2, "nobody gets them without --metrics"),
                                    (("--metrics", "127.0.0.1:0", "--metrics-events", "a:[b"), 2, "[b"),
                                    (("--metrics-push", "localhost:4318"), 2, "want http://HOST:PORT/v1/metrics"),
                                    (("--metrics-push", "http://x", "--metrics-interval", "0"), 2, "1 to 86400 seconds")):
            done = subprocess.run([LANDTRACED, *words], env=self.environment, capture_output=True, text=True, timeout=support.TIMEOUT_S)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(what, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(self.server.answer)
        self.end_headers()

    def log_message(self, *_):
        pass


class Pushed(Metrics):
    def collect(self, answer=200):
        server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
        server.got, server.answer = [], answer
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server, f"http://127.0.0.1:{server.server_port}/v1/metrics"

    def metrics(self, body):
        resource = body["resourceMetrics"][0]
        attributes = {each["key"]: each["value"]["stringValue"] for each in resource["resource"]["attributes"]}
        self.assertEqual(attributes["service.name"], "landtrace")
        return {metric["name"]: metric for metric in resource["scopeMetrics"][0]["metrics"]}

    def test_a_collector_gets_histograms(self):
        server, url = self.collect()
        self.serve_metrics("--metrics-push", url, "--metrics-interval", "1")
        self.count()
        self.emit(100)

        def latest():
            return self.metrics(server.got[-1][2]).get("landtrace_work") if server.got else None
        self.wait_until(lambda: latest() and latest()["histogram"]["dataPoints"][0]["count"] == "100")
        self.assertEqual(server.got[0][:2], ("/v1/metrics", "application/json"))
        point = latest()["histogram"]["dataPoints"][0]
        self.assertEqual(list(map(int, point["bucketCounts"])), [2, 1, 2, 4, 8, 16, 32, 35, 0])
        self.assertEqual(point["explicitBounds"], [1, 2, 4, 8, 16, 32, 64, 128])
        self.assertEqual(point["sum"], sum(range(100)))

    def test_one_that_does_not_take_them_is_said_once_and_when_it_does(self):
        server, url = self.collect(answer=503)
        self.serve_metrics("--metrics-push", url, "--metrics-interval", "1")
        self.assertIn("does not take metrics: it answers with status 503", self.daemon.stderr.readline())
        self.wait_until(lambda: len(server.got) > 2)
        server.answer = 200
        self.assertIn("takes metrics again", self.daemon.stderr.readline())


class ByPrometheus(Metrics):
    """Debian's, where it is installed."""

    @unittest.skipUnless(shutil.which("prometheus"), "prometheus is not installed here")
    def test_quantiles(self):
        port = self.serve_metrics()
        self.count("hist:name=work:keys=sequence.log2:vals=sequence")
        self.emit(1000)
        config = os.path.join(self.folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("scrape_configs: [{job_name: t, scrape_interval: 1s, static_configs: "
                       f"[{{targets: ['127.0.0.1:{port}']}}]}}]\n")
        with socket.create_server(("127.0.0.1", 0)) as free:
            own = free.getsockname()[1]
        self.start_program("prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.folder}/data",
                           f"--web.listen-address=127.0.0.1:{own}", stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

        def ask(query):
            try:
                text = self.get(own, "/api/v1/query?query=" + urllib.parse.quote(query))[2]
                result = json.loads(text)["data"]["result"]
                return float(result[0]["value"][1]) if result else None
            except (OSError, ValueError, KeyError):
                return None
        self.wait_until(lambda: ask("landtrace_work_count") == 1000)
        half = ask("histogram_quantile(0.5, landtrace_work_bucket)")
        self.assertTrue(256 < half <= 512, half)
        self.assertEqual(ask("landtrace_work_sum"), sum(range(1000)))


if __name__ == "__main__":
    if not os.path.exists(PROGRAM):
        print("skipped: built without libmicrohttpd and libcurl")
        raise SystemExit(0)
    unittest.main()
