"""Many hosts: events as lines, and probes that hosts define for an order."""
import os
import unittest

import support
from fleet_case import FleetCase, Host, skip_without_nats
from support import LANDTRACE


class Lines(FleetCase):
    def test_of_all_hosts_as_they_come(self):
        hosts = [Host(self, "web-1"), Host(self, "db-1", "", "--fleet-redact", "source")]
        tail = self.start("fleet", "tail", "job", "--filter", "sequence < 50")
        self.assertRegex(tail.stderr.readline(), r"^landtrace: order [a-z0-9]{8}: applied by 2 hosts\n$")
        for host in hosts:
            host.emit(80)
        lines = [tail.stdout.readline() for _ in range(100)]
        web = [line for line in lines if " web-1 " in line]
        self.assertEqual(len(web), 50)
        for sequence, line in enumerate(web):
            self.assertRegex(line, r"^\d\d:\d\d:\d\d\.\d{6} web-1 producer-\d+ job: source=0x0 \(0\) "
                                   rf"sequence={sequence:#x} \({sequence}\)\n$")
        db = [line for line in lines if " db-1 " in line]
        self.assertRegex(db[49], r"^\S+ db-1 producer-\d+ job: source=\(left out\) sequence=49\n$")
        status, out, err = self.stop(tail)
        self.assertEqual((status, out, err), (0, "", ""))


class Probes(FleetCase):
    def test_are_there_for_their_order(self):
        if not os.path.exists(support.AGENT):
            self.skipTest("functions cannot be probed on this machine yet")
        host = Host(self, "a")
        order = self.order("hist", "-p", "libc.so.6:malloc size=$arg1", "--keys", "size.log2", "--detach")
        shim = os.path.join(os.path.dirname(LANDTRACE), "..", "lib", "landtrace", os.path.basename(os.environ["SHIM"]))
        program = self.start_program("ls", "/", env=dict(self.environment, LANDTRACE_SOCKET=host.socket, LD_PRELOAD=shim))
        self.assertEqual(program.wait(timeout=support.TIMEOUT_S), 0)
        self.wait_until(lambda: self.sum_of(order) > 10)
        definitions = lambda: self.landtrace("cat", "--socket", host.socket, "dynamic_events")[1]
        self.assertIn("fleet_" + order, definitions())
        self.fleet("end", order)
        self.wait_until(lambda: "fleet_" not in definitions())

    def test_are_recorded_by_an_order_of_their_own(self):
        if not os.path.exists(support.AGENT):
            self.skipTest("functions cannot be probed on this machine yet")
        host = Host(self, "a")
        order = self.order("probe", "libc.so.6:malloc size=$arg1", "--detach")
        self.assertIn("malloc", self.fleet("orders"))
        shim = os.path.join(os.path.dirname(LANDTRACE), "..", "lib", "landtrace", os.path.basename(os.environ["SHIM"]))
        program = self.start_program("ls", "/", env=dict(self.environment, LANDTRACE_SOCKET=host.socket, LD_PRELOAD=shim))
        self.assertEqual(program.wait(timeout=support.TIMEOUT_S), 0)
        self.wait_until(lambda: self.hosts()["a"]["orders"][0]["events"] > 10)
        snapshot = os.path.join(self.folder, "snapshot.dat")
        self.fleet("snapshot", "-o", snapshot)
        self.assertIn(" malloc: ", self.landtrace("report", snapshot)[1])
        self.fleet("end", order)
        self.wait_until(lambda: "malloc" not in self.landtrace("cat", "--socket", host.socket, "dynamic_events")[1])
        status, out, err = self.landtrace("fleet", "probe")
        self.assertEqual((status, out), (2, ""))
        self.assert_one_line(err, "probe")

    def test_what_a_host_does_not_have_is_refused(self):
        Host(self, "a")
        for probe, reason in (("nowhere.so:f", "there is no 'nowhere.so'"), ("libc.so.6:nosuchfunction", "nosuchfunction")):
            status, out, err = self.landtrace("fleet", "enable", "-p", probe)
            self.assertEqual(status, 1, out)
            self.assertIn("refused by 1 host", out)
            self.assert_one_line(err, "landtrace: a: ", reason)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
