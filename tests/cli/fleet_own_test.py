"""Many hosts: histograms that the hosts' own users have set up."""
import json
import os
import unittest

from fleet_case import FleetCase, Host, skip_without_nats

TRIGGER = "events/user_events/job/trigger"


class OwnHistograms(FleetCase):
    def host(self, name, *options):
        """One that has the event whether or not a program runs."""
        events = os.path.join(self.folder, "events")
        with open(events, "w", encoding="utf-8") as file:
            file.write("u:job u32 source; u32 sequence\n")
        return Host(self, name, f"zone={name}", "--events-file", events, *options)

    def write(self, host, path, *words):
        status, _, err = self.landtrace("write", "--socket", host.socket, *words[:-1], path, words[-1])
        self.assertEqual(status, 0, err)

    def own(self, *words):
        """By what they are called: (hits, hosts) as JSON has it."""
        status, out, err = self.landtrace("fleet", "hist", "job", "--own", "--json", *words)
        if status != 0:
            self.assertIn("no host sends a histogram of its own of 'job'", err)
        return {one["title"]: one["hits"] for one in map(json.loads, out.splitlines())}

    def test_are_added_up_as_they_are_now(self):
        hosts = [self.host(name, "--fleet-histograms", "user_events:*") for name in "ab"]
        shy = self.host("shy")
        name = "user_events:job hist:keys=source:vals=hitcount"
        for host, size in ((hosts[0], 128), (hosts[1], 512), (shy, 128)):
            self.write(host, TRIGGER, f"hist:keys=source:size={size}")
        self.wait_until(lambda: self.own() == {name: 0})
        for number, host in enumerate([*hosts, shy]):
            host.emit(100 * (number + 1))
        self.wait_until(lambda: self.own() == {name: 300})
        self.assertEqual(self.own("--where", "zone=b"), {name: 200})
        self.assertIn("zone=a", self.fleet("hist", "user_events:job", "--own", "--per", "zone"))
        # Cleared, removed, and gone with its daemon.
        self.write(hosts[0], TRIGGER, "-a", "hist:keys=source:clear")
        hosts[0].emit(7)
        self.wait_until(lambda: self.own() == {name: 207})
        self.write(hosts[1], TRIGGER, "-a", "!hist:keys=source:size=512")
        self.wait_until(lambda: self.own() == {name: 7})
        self.assertEqual(self.own("--per", "zone"), {name: 7})
        hosts[0].kill()
        self.assertEqual(self.own(), {name: 7})
        hosts[0].start()
        self.wait_until(lambda: self.own() == {})
        # What is known of the other one is that it was removed: that is no sum of no hosts.
        self.assertEqual(self.own("--per", "zone"), {})

    def test_fields_that_are_left_out_do_not_travel(self):
        host = self.host("a", "--fleet-histograms", "job", "--fleet-redact", "source")
        self.write(host, TRIGGER, "hist:keys=source:vals=sequence")
        self.write(host, TRIGGER, "-a", "hist:keys=sequence:vals=source")
        host.emit(20)
        self.wait_until(lambda: list(self.own().values()) == [20])
        out = self.fleet("hist", "job", "--own")
        self.assertIn("source=(left out)", out)
        _, _, err = self.landtrace("fleet", "hist", "job", "--own")
        self.assertIn("'source' is left out of what travels from here", err)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
