"""Many hosts: who is there, orders, and what `landtrace fleet` says of both."""
import json
import os
import random
import re
import signal
import subprocess
import threading
import unittest

import support
from fleet_case import PROGRAM, FleetCase, Host, NatsClient, skip_without_nats
from support import LANDTRACE, LANDTRACED

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
        self.assertRegex(text, r"(?m)^web-1 +user-\d+:/\S+/web-1/domain\.sock +here .*role=web,zone=a$")
        db.kill()
        self.wait_until(lambda: self.host_state("db-1") == "away")
        self.assertEqual(self.host_state("web-1"), "here")

    def test_a_host_may_have_any_name(self):
        for name in ('we"b', "ba\\ck", "a.b c*>"):
            Host(self, name)
            self.assertIn(name, self.hosts())

    def test_two_domains_of_a_user_are_told_apart(self):
        Host(self, "a")
        twin = os.path.join(self.folder, "twin.sock")
        daemon = self.start_program(LANDTRACED, "--socket", twin, "--fleet", self.url, "--fleet-host", "a")
        self.addCleanup(self.stop, daemon)
        domains = lambda: sorted(host["domain"] for host in json.loads(self.fleet("hosts", "--json")))
        self.wait_until(lambda: len(domains()) == 2)
        self.assertEqual(list(self.hosts("--where", f"domain=*{twin}")), ["a"])

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
        self.assert_one_line(err, "nobody answers at nats://127.0.0.1:1: is a nats-server running there?")
        self.assertNotIn(".c:", err)
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

    def ended_when_applied(self, *words):
        """By its command: (status, stdout, stderr)."""
        command = self.start("fleet", *words)
        self.assertRegex(command.stderr.readline(), r"^landtrace: order [a-z0-9]{8}: applied by 2 hosts\n$")
        return self.stop(command)

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
        Host(self, "late-1")
        self.wait_until(lambda: self.states(order).get("late-1") == "ended")
        self.assertRegex(self.fleet("orders"), rf"(?m)^{order}: late-1: its time was over when it came here$")

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

    def test_an_event_that_no_host_has_is_told(self):
        program = self.web.start_program(support.PRODUCER, "--count", 100000, "--pause", 10000)
        self.addCleanup(program.kill)
        self.wait_until(lambda: self.hosts()["web-1"]["events"] == 1)
        for words, said in ((("hist", "jbo", "--keys", "source"), "no event 'jbo' registered at any host; did you mean "
                                                                  "user_events:job?"),
                            (("hist", "job", "--keys", "nosuch"), "web-1: user_events:job: the trigger 'hist:keys=nosuch"),
                            (("tail", "jbo"), "no event 'jbo' registered at any host; did you mean user_events:job?"),
                            (("latency", "--from", "jbo", "--to", "job", "--key", "source"),
                             "no event 'user_events:jbo' registered at any host")):
            status, out, err = self.ended_when_applied(*words)
            self.assertEqual(status, 1, (words, out, err))
            self.assertIn(said, err)
        self.assertEqual(self.ended_when_applied("hist", "job", "--keys", "source")[0], 0)

    def test_of_many_refusals_some_are_told_and_how_many_more(self):
        for i in range(40):
            self.landtrace("write", "--socket", self.web.socket, "-a", "dynamic_events", f"u:many{i} u32 a")
        self.wait_until(lambda: self.hosts()["web-1"]["events"] >= 40)
        hist = ("hist", "many*", "--keys", "nosuch")
        status, out, err = self.ended_when_applied(*hist)
        self.assertEqual(status, 1, (out, err))
        self.assertEqual(err.count("landtrace: web-1: user_events:many"), 32, err)
        self.assertIn("landtrace: 8 more were refused: landtrace fleet hosts --json has all", err)
        order = self.order(*hist, "--detach")
        refusals = lambda: [one["refusals"] for one in self.hosts()["web-1"]["orders"] if one["id"] == order]
        self.wait_until(lambda: [len(one) for one in refusals()] == [40])

    def test_fields_that_are_left_out_do_not_travel(self):
        secret = Host(self, "secret-1", "role=secret", "--fleet-redact", "source,sequence")
        order = self.order("hist", "job", "--keys", "source", "--detach", "--where", "role=secret")
        secret.emit(20)
        self.wait_until(lambda: self.sum_of(order) == 20)
        self.assertEqual([group["key"] for group in self.groups(order)], [{"source": "(left out)"}])
        order = self.landtrace("fleet", *HIST, "--where", "role=secret")[1].split(":")[0]
        self.wait_until(lambda: self.states(order) == {"secret-1": "refused"})
        self.assertIsNone(self.shown(order))


    def test_go_on_when_an_agent_was_killed(self):
        order = self.order(*HIST, "--where", "role=web")
        counted = self.web.emit(40)
        self.wait_until(lambda: self.sum_of(order) == counted)
        started = self.hosts()["web-1"]["started"]
        os.kill(self.web.agent(), signal.SIGKILL)
        self.assertIn("ended by SIGKILL: it is started again", self.web.daemon.stderr.readline())
        self.wait_until(lambda: self.hosts()["web-1"]["started"] > started and self.states(order) == {"web-1": "applied"})
        counted += self.web.emit(60)
        self.wait_until(lambda: self.sum_of(order) == counted)

    def test_are_told_however_many_have_ended(self):
        kept = self.order("enable", "job", "--detach")
        client = NatsClient(int(self.port), headers=True)
        self.addCleanup(client.close)
        mark = b"NATS/1.0\r\nKV-Operation: DEL\r\n\r\n"
        for number in range(5000):
            client.say(b"HPUB $KV.landtrace_orders.ended%d %d %d" % (number, len(mark), len(mark)), mark)
        client.ping()
        self.assertRegex(self.fleet("orders"), rf"(?m)^{kept} ")
        self.fleet("end", self.order("enable", "job", "--detach"))


class Hostile(FleetCase):
    """Whoever may send, sends what they like."""

    def setUp(self):
        super().setUp()
        self.host = Host(self, "a")
        self.client = NatsClient(self.port)
        self.addCleanup(self.client.close)

    def own_status(self):
        """As it is sent, with its subject."""
        self.client.subscribe(b"landtrace.*.*.status")
        heard = []
        self.wait_until(lambda: heard.extend(self.client.ping()) or heard)
        self.client.say(b"UNSUB 1")
        return heard[0]

    def test_a_status_under_another_name_is_left_out(self):
        subject, status = self.own_status()
        other = subject.replace(b".a.", b".evil.")
        self.client.publish(other, status)
        self.client.publish(subject.replace(b".a.", b".%."), re.sub(rb'"host":"a"', b'"host":""', status))
        self.client.ping()
        code, out, err = self.landtrace("fleet", "hosts")
        self.assertEqual((code, len(out.splitlines())), (0, 2), out)
        self.assertEqual(err, f"landtrace: 2 messages make no sense and are left out: {subject.replace(b'.a.', b'.%.').decode()}, "
                              f"{other.decode()}\n")

    def test_an_order_that_makes_no_sense_hides_no_other(self):
        order = self.order("enable", "job")
        self.client.publish(b"$KV.landtrace_orders.evil", b"no\nsense")
        self.client.ping()
        code, out, err = self.landtrace("fleet", "orders")
        self.assertEqual((code, err), (0, "landtrace: 1 order makes no sense and is left out: evil\n"))
        self.assertRegex(out, rf"(?m)^{order} .* enable job$")
        self.fleet("end", "evil")
        self.assertEqual(self.landtrace("fleet", "orders")[2], "")

    def test_a_flood_ends_no_command(self):
        subject, status = self.own_status()
        is_over = threading.Event()

        def flood():
            chance = random.Random(7)
            while not is_over.is_set():
                for number in range(50):
                    self.client.publish(subject.replace(b".a.", b".evil%d." % number), chance.randbytes(100))
                    self.client.publish(subject.replace(b".a.", b".evil%d." % number), status)
                self.client.ping()

        flooding = threading.Thread(target=flood)
        flooding.start()
        try:
            for _ in range(5):
                self.assertEqual(list(self.hosts()), ["a"])
            order = self.order(*HIST)
            self.host.emit(10)
            self.wait_until(lambda: self.sum_of(order) == 10)
            self.fleet("end", order)
        finally:
            is_over.set()
            flooding.join()


class Trial(FleetCase):
    def start_server(self):
        pass

    def has_ended(self, pid):
        """Also where nobody waits for it."""
        try:
            return "(zombie)" in support.read_text(f"/proc/{pid}/status")
        except FileNotFoundError:
            return True

    def test_is_one_command(self):
        trial = self.start("fleet", "up", "--listen", f"127.0.0.1:{self.port}", "--store", os.path.join(self.folder, "st"))
        self.assertIn(self.url, trial.stdout.readline())
        Host(self, "a")
        self.assertEqual(list(self.hosts()), ["a"])
        status, _, err = self.stop(trial)
        self.assertEqual((status, err), (0, ""))
        self.wait_until(lambda: not self.server_answers())

    def test_nothing_is_left_of_one_that_was_killed(self):
        trial = self.start("fleet", "up", "--listen", f"127.0.0.1:{self.port}", "--store", os.path.join(self.folder, "st"))
        self.assertIn(self.url, trial.stdout.readline())
        children = support.read_text(f"/proc/{trial.pid}/task/{trial.pid}/children").split()
        self.assertGreaterEqual(len(children), 2)
        self.stop(trial, signal.SIGKILL)
        self.wait_until(lambda: all(self.has_ended(pid) for pid in children))


class Ending(FleetCase):
    def test_programs_end_where_who_has_started_them_is_gone_already(self):
        host = Host(self, "a")
        told = dict(variable.split("=", 1) for variable in support.read_text(f"/proc/{host.agent()}/environ").split("\0")[:-1])
        self.assertEqual(told["LANDTRACE_PARENT"], str(host.daemon.pid))
        self.assert_ends_without_its_starter(PROGRAM, "agent", env=told)
        address = dict(self.environment, LANDTRACE_FLEET_OPTIONS=json.dumps(json.loads(told["LANDTRACE_FLEET_OPTIONS"])["address"]))
        self.assert_ends_without_its_starter(PROGRAM, "follow", env=address, stdin=subprocess.PIPE)
        self.assert_ends_without_its_starter(PROGRAM, "tail", "0", 2, env=address)
        self.assert_ends_without_its_starter(PROGRAM, "snapshot", "0", "{}", self.folder, 1000, env=address)


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
