"""Many hosts: the slowest events of a latency, with their hosts, fields and stacks."""
import os
import re
import unittest

import support
from fleet_case import FleetCase, Host, skip_without_nats

REQUESTS = os.environ["REQUESTS"]
LATENCY = ("latency", "--from", "req_start", "--to", "req_done", "--key", "id", "--by", "route", "--detach")


class Slowest(FleetCase):
    def counted(self, *words):
        """What hosts counted of an order, when it has ended everywhere."""
        order = self.order(*LATENCY, *words)
        programs = [host.start_program(REQUESTS) for host in self.running]
        for program in programs:
            self.assertEqual(program.wait(timeout=support.TIMEOUT_S), 0)
        self.fleet("end", order)
        states = lambda: {one["state"] for host in self.hosts().values() for one in host["orders"] if one["id"] == order}
        self.wait_until(lambda: states() == {"ended"})
        return order

    def test_are_those_of_all_hosts(self):
        self.running = [Host(self, "a"), Host(self, "b", "", "--fleet-redact", "id")]
        order = self.counted("--stack")
        by_host = self.groups(order, "--per", "host")
        slowest = {}
        for group in by_host:
            host, route = group["key"]["host"], group["key"]["route"]
            first = group["slowest"][0]
            slowest[route] = max(slowest.get(route, (0, "")), (first["ns"], host))
            buckets = group["latency_ns"]["buckets"]
            self.assertTrue(buckets[-1]["from"] <= first["ns"] <= buckets[-1]["to"], "no event took longer")
            for one in group["slowest"]:
                self.assertEqual((one["host"], one["fields"]["route"], one["task"]), (host, route, "example_request"))
                self.assertTrue(any(one["ns"] <= bucket["to"] and one["ns"] >= bucket["from"] for bucket in buckets))
                self.assertEqual(one["fields"]["id"] == "(left out)", host == "b", one)
            self.assertTrue(any(frame.startswith("main ") for frame in first["stack"]), first["stack"])
        self.assertEqual(sorted(slowest), ["/", "/login", "/search"])
        for group in self.groups(order):
            first = group["slowest"][0]
            self.assertEqual((first["ns"], first["host"]), slowest[group["key"]["route"]])
        text = self.fleet("show", order)
        self.assertEqual(len(re.findall(r"(?m)^  slowest: \S+ \S+ on [ab] at \d\d:\d\d:\d\d\.\d{6} UTC, "
                                        r"example_request-\d+: id=.* route=/", text)), 3, text)
        self.assertRegex(text, r"(?m)^    => main \[\S+\]$")

    def test_stacks_are_taken_if_they_are_wanted(self):
        self.running = [Host(self, "a")]
        groups = self.groups(self.counted())
        self.assertEqual(len(groups), 3)
        for group in groups:
            self.assertEqual([one["stack"] for one in group["slowest"]], [[]] * len(group["slowest"]))
            self.assertGreater(len(group["slowest"]), 0)

    def test_what_would_be_passed_over_is_said(self):
        for words, said in ((("hist", "job", "--keys", "source", "--stack"), "--stack is for latency"),
                            (("enable", "job", "--live"), "--live is for hist and latency"),
                            ((*LATENCY, "--live"), "--live excludes --detach"),
                            (("tail", "job", "--own"), "--own is for hist")):
            status, _, err = self.landtrace("fleet", *words)
            self.assertEqual(status, 2, err)
            self.assert_one_line(err, said)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
