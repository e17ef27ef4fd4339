"""Many hosts: what they have counted together, though hosts and the server are killed and frames come again."""
import json
import os
import random
import signal
import time
import unittest

import support
from fleet_case import FleetCase, Host, NatsClient, Unreliable, skip_without_nats

REQUESTS = os.environ["REQUESTS"]

HIST = ("hist", "job", "--keys", "source", "--vals", "sequence.log2=32", "--detach")


class Sums(FleetCase):
    def test_are_what_hosts_counted_whatever_happens(self):
        """A host is killed, the server is killed, and all frames come again, in another order."""
        hosts = [Host(self, name, f"zone={name}") for name in ("a", "b", "c")]
        client = NatsClient(self.port)
        client.subscribe(b"landtrace.*.*.hist.>")
        order = self.order(*HIST)
        counted = sum(host.emit(100 * (i + 1)) for i, host in enumerate(hosts))
        self.wait_until(lambda: self.sum_of(order) == counted)
        hosts[1].kill()
        counted += hosts[0].emit(1000)
        hosts[1].start()
        self.wait_until(lambda: "applied" in [one["state"] for one in self.hosts()["b"]["orders"]])
        counted += hosts[1].emit(500)
        self.wait_until(lambda: self.sum_of(order) == counted)

        frames = client.ping()
        self.assertGreater(len(frames), 4)
        again = 2 * frames
        random.Random(3).shuffle(again)
        for subject, payload in again[:12]:
            client.publish(subject, payload)
        client.ping()
        client.close()
        self.assertEqual(self.sum_of(order), counted)

        self.kill_server()
        counted += hosts[2].emit(3000)  # nobody waits for the network
        self.start_server()
        self.wait_until(lambda: self.sum_of(order) == counted)
        by_host = {group["key"]["host"]: group["count"] for group in self.groups(order, "--per", "host")}
        self.assertEqual(by_host, {"a": 1100, "b": 700, "c": 3300})
        by_zone = {group["key"]["zone"]: group["count"] for group in self.groups(order, "--per", "zone")}
        self.assertEqual(by_zone, by_host)
        shown = self.groups(order)[0]
        values = sorted([*range(100), *range(1000), *range(200), *range(500), *range(300), *range(3000)])
        self.assertEqual(shown["sequence"]["sum"], sum(values))
        for name, part in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)):
            exact = values[int(part * len(values))]
            self.assertAlmostEqual(shown["sequence"][name], exact, delta=0.03 * exact)

    def test_are_exact_though_frames_are_lost_repeated_and_reordered_on_their_way(self):
        between = Unreliable(self, random.Random(5))
        hosts = [Host(self, name, "", url=f"nats://127.0.0.1:{between.port}") for name in ("a", "b", "c")]
        order = self.order(*HIST)
        counted = 0
        is_tried = lambda: min(between.lost, between.repeated, between.reordered) > 2
        while not is_tried():
            counted += sum(host.emit(100) for host in hosts)
            self.wait_until(lambda: self.sum_of(order) == counted or is_tried())
        self.wait_until(lambda: self.sum_of(order) == counted)
        self.fleet("end", order)
        self.wait_until(lambda: all(one["orders"][0]["state"] == "ended" for one in self.hosts().values()))
        self.assertEqual(self.sum_of(order), counted)

    def test_a_server_that_is_stopped_holds_nobody_up(self):
        """It takes what is sent to it, and answers nothing."""
        hosts = [Host(self, name) for name in ("a", "b")]
        order = self.order(*HIST)
        counted = sum(host.emit(100) for host in hosts)
        self.wait_until(lambda: self.sum_of(order) == counted)
        self.server.send_signal(signal.SIGSTOP)
        try:
            for _ in range(4):
                counted += sum(host.emit(500) for host in hosts)
                time.sleep(1)  # a frame, without an answer
            status, _, err = self.landtrace("fleet", "hosts")
            self.assertEqual(status, 1)
            self.assert_one_line(err, "nobody answers at " + self.url)
        finally:
            self.server.send_signal(signal.SIGCONT)
        self.wait_until(lambda: self.sum_of(order) == counted)
        self.fleet("end", order)
        self.wait_until(lambda: all(one["orders"][0]["state"] == "ended" for one in self.hosts().values()))
        self.assertEqual(self.sum_of(order), counted)

    def test_times_from_one_event_to_another(self):
        hosts = [Host(self, name) for name in ("a", "b", "c")]
        watch = self.start("fleet", "latency", "--from", "req_start", "--to", "req_done", "--key", "id", "--by", "route",
                           "--per", "host", "--json")
        self.assertRegex(watch.stderr.readline(), r"^landtrace: order [a-z0-9]{8}: applied by 3 hosts\n$")
        programs = [host.start_program(REQUESTS) for host in hosts]
        for program in programs:
            self.assertEqual(program.wait(timeout=support.TIMEOUT_S), 0)
        status, out, err = self.stop(watch)
        self.assertEqual((status, err), (0, ""))
        groups = json.loads(out)["groups"]
        counts = {(group["key"]["host"], group["key"]["route"]): group["count"] for group in groups}
        lost = json.loads(out)["lost"]
        self.assertEqual(sum(counts.values()) + lost, 3000)
        if lost == 0:
            self.assertEqual(counts, {(host, route): count for host in "abc"
                                      for route, count in (("/", 334), ("/login", 333), ("/search", 333))})
        for group in groups:
            self.assertGreater(group["latency_ns"]["p50"], 10_000)

    def test_a_collector_answers_from_memory(self):
        host = Host(self, "a")
        order = self.order(*HIST)
        collector = self.start("collect")
        host.emit(70)
        self.wait_until(lambda: self.sum_of(order) == 70)
        self.wait_until(lambda: (said := self.asked(f"0 {order} ")).startswith(b"+") and b"hist" in said)  # of the trigger
        for garbage in ("", order, f"x {order} ", f"-1 {order} ", f"99999999 {order} "):
            self.assertEqual(self.asked(garbage), b"-", "what makes no sense, and what the stream does not have yet")
        collector.terminate()
        self.assertEqual(collector.wait(timeout=support.TIMEOUT_S), 0)
        self.assertEqual(self.sum_of(order), 70)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
