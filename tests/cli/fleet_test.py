"""Many hosts: who is there, orders, and what `landtrace fleet` says of both."""
import os
import re
import signal
import subprocess
import unittest

import support
from fleet_case import FleetCase, Host, skip_without_nats
from support import LANDTRACE

HIST = ("hist", "job", "--keys", "source", "--vals", "sequence.log2=32", "--detach")


class Hosts(FleetCase):
    def test_who_is_there(self):
        Host(self, "web-1", "role=web,zone=a")
        Host(self, "web-2", "role=web,zone=b")
        db = Host(self, "db-1", "role=db")
        self.assertEqual(sorted(self.hosts()), ["db-1", "web-1", "web-2"])
        self.assertEqual(sorted(self.hosts("--where", "role=web && zone!=b")), ["web-1"])
        self.assertEqual(self.hosts()["web-1"]["labels"], {"role": "web", "zone": "a"})
        text = self.fleet("hosts")
        self.assertRegex(text, r"(?m)^HOST +DOMAIN +STATE ")
        self.assertRegex(text, r"(?m)^web-1 +user-\d+ +here .*role=web,zone=a$")
        db.kill()
        self.wait_until(lambda: self.host_state("db-1") == "away")
        self.assertEqual(self.host_state("web-1"), "here")

    def test_a_mistake_is_pointed_at(self):
        status, _, err = self.landtrace("fleet", "hosts", "--where", "role=")
        self.assertEqual((status, err), (2, 'landtrace: --where: want a value here; "" is none\n  role=\n       ^\n'))
        for words, said in ((("dance",), "want up, hosts, orders"),
                            (("enable",), "want: landtrace fleet enable EVENT"),
                            (("filter", "job", "n >"), "--filter"),
                            (("latency", "--from", "a", "--to", "b"), "--key is required"),
                            (("enable", "job", "--for", "soon"), "--for: want a time as 30s")):
            status, _, err = self.landtrace("fleet", *words)
            self.assertEqual(status, 2, err)
            self.assertIn(said, err)

    def test_where_no_server_is(self):
        status, _, err = self.landtrace("fleet", "hosts", "--fleet", "nats://127.0.0.1:1")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "nats://127.0.0.1:1")
        status, _, err = self.landtrace("fleet", "hosts")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "there is no host yet")


class Orders(FleetCase):
    def setUp(self):
        super().setUp()
        self.web = Host(self, "web-1", "role=web")
        self.db = Host(self, "db-1", "role=db")

    def states(self, order):
        return {name: one["state"] for name, host in self.hosts().items() for one in host["orders"] if one["id"] == order}

    def test_are_for_those_that_match(self):
        out = self.fleet("enable", "job", "--where", "role=web")
        self.assertRegex(out, r"^[a-z0-9]{8}: applied by 1 host\n$")
        order = out.split(":")[0]
        self.assertEqual(self.states(order), {"web-1": "applied"})
        self.web.emit(100)
        self.wait_until(lambda: [one["events"] for one in self.hosts()["web-1"]["orders"]] == [100])
        self.assertRegex(self.fleet("orders"), rf"(?m)^{order} .* role=web .* enable job$")

    def test_reach_hosts_that_come_later(self):
        order = self.order("enable", "job")
        Host(self, "late-1", "role=web")
        self.wait_until(lambda: self.states(order).get("late-1") == "applied")

    def test_end_by_themselves(self):
        order = self.order(*HIST, "--for", "2s")
        self.wait_until(lambda: self.states(order) == {"web-1": "ended", "db-1": "ended"})

    def test_end_when_they_are_taken_back(self):
        order = self.order(*HIST)
        self.web.emit(50)
        self.fleet("end", order)
        self.wait_until(lambda: self.states(order) == {"web-1": "ended", "db-1": "ended"})
        self.assertEqual(self.sum_of(order), 50)

    def test_what_a_host_refuses_is_told_with_its_reason(self):
        program = self.web.start_program(support.PRODUCER, "--count", 100000, "--pause", 10000)
        self.addCleanup(program.kill)
        self.wait_until(lambda: self.hosts()["web-1"]["events"] == 1)
        order = self.order("filter", "job", "nosuch > 5")
        refusals = lambda: [one["refusals"] for one in self.hosts()["web-1"]["orders"] if one["id"] == order][0]
        self.wait_until(lambda: refusals() != [])
        self.assertEqual(refusals()[0]["event"], "user_events:job")
        self.assertIn("nosuch > 5", refusals()[0]["reason"])
        self.assertRegex(self.fleet("orders"), rf"(?m)^{order}: web-1: user_events:job: the filter '.*nosuch > 5': ")

    def test_fields_that_are_left_out_do_not_travel(self):
        secret = Host(self, "secret-1", "role=secret", "--fleet-redact", "source,sequence")
        order = self.order("hist", "job", "--keys", "source", "--detach", "--where", "role=secret")
        secret.emit(20)
        self.wait_until(lambda: self.sum_of(order) == 20)
        self.assertEqual([group["key"] for group in self.shown(order)["groups"]], [{"source": "(left out)"}])
        order = self.landtrace("fleet", *HIST, "--where", "role=secret")[1].split(":")[0]
        self.wait_until(lambda: self.states(order) == {"secret-1": "refused"})
        self.assertIsNone(self.shown(order))


    def test_go_on_when_an_agent_was_killed(self):
        order = self.order(*HIST, "--where", "role=web")
        counted = self.web.emit(40)
        self.wait_until(lambda: self.sum_of(order) == counted)
        started = self.hosts()["web-1"]["started"]
        with open(f"/proc/{self.web.daemon.pid}/task/{self.web.daemon.pid}/children", encoding="ascii") as children:
            os.kill(int(children.read()), signal.SIGKILL)
        self.assertIn("it is started again", self.web.daemon.stderr.readline())
        self.wait_until(lambda: self.hosts()["web-1"]["started"] > started and self.states(order) == {"web-1": "applied"})
        counted += self.web.emit(60)
        self.wait_until(lambda: self.sum_of(order) == counted)


class Trial(FleetCase):
    def start_server(self):
        pass

    def test_is_one_command(self):
        trial = self.start("fleet", "up", "--listen", f"127.0.0.1:{self.port}", "--store", os.path.join(self.folder, "st"))
        self.assertIn(self.url, trial.stdout.readline())
        Host(self, "a")
        self.assertEqual(list(self.hosts()), ["a"])
        status, _, err = self.stop(trial)
        self.assertEqual((status, err), (0, ""))
        self.wait_until(lambda: not self.server_answers())


class Missing(support.Case):
    def test_what_to_install_is_said(self):
        program = os.path.join(os.path.dirname(LANDTRACE), "..", "lib", "landtrace", "landtrace-fleet")
        os.rename(program, program + ".away")
        self.addCleanup(os.rename, program + ".away", program)
        status, _, err = self.landtrace("fleet", "hosts")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "landtrace-fleet is not installed", "libnats-dev")
        done = subprocess.run([support.LANDTRACED, "--socket", os.path.join(self.folder, "x.sock"), "--fleet", "nats://127.0.0.1:1"],
                              env=self.environment, stderr=subprocess.PIPE, text=True, timeout=support.TIMEOUT_S)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(re.match("landtraced: .*landtrace-fleet is not installed: .*libnats-dev", done.stderr), done.stderr)

    def test_options_are_checked_before_anything_starts(self):
        for words, said in ((("--fleet", "http://a"), "--fleet: want nats://"),
                            (("--fleet", "a", "--fleet-labels", "host=b"), "--fleet-labels: every host has 'host'"),
                            (("--fleet", "a", "--fleet-interval", "0"), "--fleet-interval: want 1 to 3600"),
                            (("--fleet", "a", "--fleet-creds", "/nowhere"), "/nowhere"),
                            (("--fleet-labels", "a=b"), "--fleet")):
            done = subprocess.run([support.LANDTRACED, *words], env=self.environment, stderr=subprocess.PIPE, text=True,
                                  timeout=support.TIMEOUT_S)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
