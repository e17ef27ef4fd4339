"""Many hosts: daemons, a nats-server between them, and what `landtrace fleet` makes of it."""
import os
import random
import re
import subprocess
import unittest

import support
from fleet_case import FleetCase, Host, NatsClient, skip_without_nats
from support import LANDTRACE

REQUESTS = os.environ["REQUESTS"]
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
        by_host = {group["key"]["host"]: group["count"] for group in self.shown(order, "--per", "host")["groups"]}
        self.assertEqual(by_host, {"a": 1100, "b": 700, "c": 3300})
        by_zone = {group["key"]["zone"]: group["count"] for group in self.shown(order, "--per", "zone")["groups"]}
        self.assertEqual(by_zone, by_host)
        shown = self.shown(order)["groups"][0]
        values = sorted([*range(100), *range(1000), *range(200), *range(500), *range(300), *range(3000)])
        self.assertEqual(shown["sequence"]["sum"], sum(values))
        for name, part in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)):
            exact = values[int(part * len(values))]
            self.assertAlmostEqual(shown["sequence"][name], exact, delta=0.03 * exact)

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
        groups = support.json.loads(out)["groups"]
        counts = {(group["key"]["host"], group["key"]["route"]): group["count"] for group in groups}
        lost = support.json.loads(out)["lost"]
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
        self.wait_until(lambda: "hist" in self.asked(order))
        collector.terminate()
        self.assertEqual(collector.wait(timeout=support.TIMEOUT_S), 0)
        self.assertEqual(self.sum_of(order), 70)

    def asked(self, order):
        """What a collector says: bytes as text, in which the trigger stands."""
        client = NatsClient(self.port)
        client.subscribe(b"answer")
        client.say(b"PUB landtrace.ask answer %d" % len(order), order.encode())
        heard = []
        self.wait_until(lambda: heard.extend(client.ping()) or heard)
        client.close()
        return heard[0][1].decode("latin1")


class Users(FleetCase):
    """With the users of examples/fleet/nats.conf."""

    def start_server(self):
        file = os.path.join(os.path.dirname(__file__), "../../examples/fleet/nats.conf")
        config = os.path.join(self.folder, "nats.conf")
        with open(file, encoding="utf-8") as example, open(config, "w", encoding="utf-8") as own:
            own.write(example.read().replace("port: 4222", f"listen: 127.0.0.1:{self.port}")
                      .replace("/var/lib/nats/landtrace", os.path.join(self.folder, "nats")))
        self.server = self.start_program("nats-server", "-c", config, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_until(self.server_answers)
        self.url = self.url_of("host", "host-secret")
        self.environment["LANDTRACE_FLEET"] = self.url_of("operator", "operator-secret")

    def url_of(self, user, password):
        return f"nats://{user}:{password}@127.0.0.1:{self.port}"

    def test_only_operators_give_orders(self):
        host = Host(self, "web-1")
        order = self.order(*HIST)
        host.emit(30)
        self.wait_until(lambda: self.sum_of(order) == 30)
        for user in ("host", "reader"):
            status, _, err = self.landtrace("fleet", *HIST, "--fleet", self.url_of(user, user + "-secret"))
            self.assertEqual(status, 1)
            self.assert_one_line(err, "may this user give orders?")
        self.assertEqual([one["id"] for one in self.hosts()["web-1"]["orders"]], [order])
        reader = ("--fleet", self.url_of("reader", "reader-secret"))
        self.assertEqual(list(self.hosts(*reader)), ["web-1"])
        self.assertEqual(self.shown(order, *reader)["hits"], 30)
        status, _, err = self.landtrace("fleet", "end", order, *reader)
        self.assertEqual(status, 1, err)
        self.assertEqual([one["state"] for one in self.hosts()["web-1"]["orders"]], ["applied"])

    def test_a_wrong_password_is_said(self):
        status, _, err = self.landtrace("fleet", "hosts", "--fleet", self.url_of("operator", "wrong"))
        self.assertEqual(status, 1)
        self.assert_one_line(err, "uthori")
        self.assertNotIn("wrong", err)


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
