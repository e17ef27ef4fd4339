"""Many hosts: who may do what, by users and by certificates."""
import json
import os
import signal
import subprocess
import unittest

import support
from fleet_case import FleetCase, Host, NatsClient, skip_without_nats
from support import LANDTRACED

HIST = ("hist", "job", "--keys", "source", "--vals", "sequence.log2=32", "--detach")

# May look at orders, and ask collectors.
ASKER = """
  asker = {
    publish: {
      allow: [
        "landtrace.ask", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.INFO.>", "$JS.API.STREAM.MSG.GET.LANDTRACE",
        "$JS.API.CONSUMER.CREATE.KV_landtrace_orders", "$JS.API.CONSUMER.CREATE.KV_landtrace_orders.>",
        "$JS.API.CONSUMER.INFO.KV_landtrace_orders.>", "$JS.API.CONSUMER.DELETE.KV_landtrace_orders.>", "$JS.FC.>"
      ]
    }
    subscribe: { allow: ["_INBOX.asker.>"] }
  }
"""


class Users(FleetCase):
    """With the users of examples/fleet/nats.conf."""

    def start_server(self):
        file = os.path.join(os.path.dirname(__file__), "../../examples/fleet/nats.conf")
        config = os.path.join(self.folder, "nats.conf")
        with open(file, encoding="utf-8") as example, open(config, "w", encoding="utf-8") as own:
            own.write(example.read().replace("port: 4222", f"listen: 127.0.0.1:{self.port}")
                      .replace("/var/lib/nats/landtrace", os.path.join(self.folder, "nats"))
                      .replace("  users = [", ASKER + '  users = [{ user: asker, password: "asker-secret", permissions: $asker }'))
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
        self.assertEqual(status, 1)
        self.assert_one_line(err, "may this user give orders?")
        status, _, err = self.landtrace("fleet", "end", "nosuch")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "there is no order nosuch")
        self.assertEqual([one["state"] for one in self.hosts()["web-1"]["orders"]], ["applied"])

    def test_collectors_answer_for_who_may_not_read_all(self):
        host = Host(self, "web-1")
        order = self.order(*HIST)
        host.emit(30)
        self.wait_until(lambda: self.sum_of(order) == 30)
        asker = ("--fleet", self.url_of("asker", "asker-secret"))
        status, _, err = self.landtrace("fleet", "show", order, *asker)
        self.assertEqual(status, 1, err)
        collector = self.start("collect", "--fleet", self.url_of("reader", "reader-secret"))
        self.wait_until(lambda: self.shown(order, *asker) is not None)
        for count in range(1, 6):
            host.emit(1)
            self.wait_until(lambda: self.sum_of(order) == 30 + count)
            shown = self.awaited(lambda: self.shown(order, *asker))
            self.assertEqual(shown["hits"], 30 + count, "what is in the stream is in the answer")
        self.assertEqual({group["key"]["host"] for group in self.groups(order, "--per", "host", *asker)}, {"web-1"})
        # One that does not answer holds nobody up for long.
        collector.send_signal(signal.SIGSTOP)
        self.assertIsNone(self.shown(order, *asker))
        shown = self.awaited(lambda: self.shown(order, "--fleet", self.url_of("reader", "reader-secret")))
        self.assertEqual(shown["hits"], 35)
        collector.send_signal(signal.SIGCONT)
        self.assertEqual(self.stop(collector)[0], 0)

    def test_hosts_may_send_lines(self):
        host = Host(self, "web-1")
        tail = self.start("fleet", "tail", "job")
        self.assertIn("applied by 1 host", tail.stderr.readline())
        host.emit(3)
        self.assertIn(" web-1 ", tail.stdout.readline())
        self.assertEqual(self.stop(tail)[0], 0)

    def test_hosts_may_send_snapshots_and_operators_ask_for_them(self):
        host = Host(self, "web-1")
        self.order("enable", "job")
        host.emit(30)
        file = os.path.join(self.folder, "fleet.dat")
        status, out, err = self.landtrace("fleet", "snapshot", "--json", "-o", file)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(json.loads(out)["hosts"][0]["events"], 30)
        self.assertIsNotNone(json.loads(out)["hosts"][0]["bound_ns"], "its clock was compared")
        for user in ("reader", "host"):
            status, _, err = self.landtrace("fleet", "snapshot", "-o", file, "--fleet", self.url_of(user, user + "-secret"))
            self.assertEqual(status, 1, err)
            self.assertNotIn("secret", err)

    def test_a_host_hears_nothing_that_others_are_sent(self):
        host = Host(self, "web-1")
        self.order("enable", "job")
        host.emit(30)
        spy = NatsClient(self.port, "host", "host-secret")
        self.addCleanup(spy.close)
        spy.say(b"SUB _INBOX.> 1")
        spy.say(b"SUB _INBOX.operator.> 2")
        spy.say(b"SUB _INBOX.host.> 3")
        self.assertEqual(spy.ping(), [])
        self.assertEqual(len(spy.refused), 2, spy.refused)
        status, out, err = self.landtrace("fleet", "snapshot", "--json", "-o", os.path.join(self.folder, "fleet.dat"))
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(json.loads(out)["hosts"][0]["events"], 30)
        self.hosts()
        # Orders come under the subjects that they have in the bucket.
        for_hosts = (b"_INBOX.host.", b"$KV.landtrace_orders.")
        self.assertEqual([subject for subject, _ in spy.ping() if not subject.startswith(for_hosts)], [])

    def test_a_wrong_password_is_said(self):
        status, _, err = self.landtrace("fleet", "hosts", "--fleet", self.url_of("operator", "wrong"))
        self.assertEqual(status, 1)
        self.assert_one_line(err, "uthori")
        self.assertNotIn("wrong", err)


class Tls(FleetCase):
    """The server wants a certificate of who comes, and shows one of its own."""

    def start_server(self):
        self.make_certificate("ca", "-x509", "-days", "2", "-addext", "basicConstraints=critical,CA:TRUE")
        self.make_certificate("other", "-x509", "-days", "2", "-addext", "basicConstraints=critical,CA:TRUE")
        for name in ("server", "own"):
            self.make_certificate(name)
            self.openssl("x509", "-req", "-in", self.path(name), "-CA", self.path("ca"), "-CAkey", self.path("ca", "key"),
                         "-CAcreateserial", "-days", "2", "-out", self.path(name, "crt"), "-extfile", self.write_names())
        self.server = self.start_program("nats-server", "-js", "-sd", os.path.join(self.folder, "nats"), "-a", "127.0.0.1",
                                         "-p", self.port, "--tlsverify", "--tlscacert", self.path("ca"),
                                         "--tlscert", self.path("server", "crt"), "--tlskey", self.path("server", "key"),
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_until(self.server_answers)
        self.url = self.environment["LANDTRACE_FLEET"] = f"tls://localhost:{self.port}"
        self.options = ["--fleet-ca", self.path("ca"), "--fleet-cert", self.path("own", "crt"),
                        "--fleet-key", self.path("own", "key")]

    def path(self, name, kind="pem"):
        return os.path.join(self.folder, f"{name}.{kind}")

    def write_names(self):
        with open(self.path("names"), "w", encoding="utf-8") as file:
            file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
        return self.path("names")

    def openssl(self, *words):
        subprocess.run(["openssl", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=support.TIMEOUT_S)

    def make_certificate(self, name, *words):
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                     "-keyout", self.path(name, "key"), "-out", self.path(name), *words)

    def test_hosts_and_servers_know_each_other(self):
        words = [LANDTRACED, "--socket", os.path.join(self.folder, "d.sock"), "--fleet", self.url, "--fleet-host", "a",
                 "--fleet-interval", "1", *self.options]
        daemon = self.start_program(*words)
        self.addCleanup(self.stop, daemon)
        self.wait_until(lambda: list(self.hosts(*self.options)) == ["a"])
        for wrong in (["--fleet-ca", self.path("other"), *self.options[2:]], self.options[:2]):
            status, _, err = self.landtrace("fleet", "hosts", *wrong)
            self.assertEqual(status, 1)
            self.assert_one_line(err, f"tls://localhost:{self.port}")


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
