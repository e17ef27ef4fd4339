"""Many hosts: orders that are signed, and hosts that take no other ones."""
import json
import math
import os
import signal
import stat
import unittest

from fleet_case import FleetCase, Host, NatsClient, skip_without_nats

HIST = ("hist", "job", "--keys", "source", "--detach")


class Signed(FleetCase):
    def setUp(self):
        super().setUp()
        self.key, self.other = (self.new_key(name) for name in ("operator.key", "other.key"))
        self.host = Host(self, "a", "role=web", "--fleet-trust", self.key + ".pub")
        self.client = NatsClient(self.port)
        self.addCleanup(self.client.close)

    def new_key(self, name):
        path = os.path.join(self.folder, name)
        self.assertIn(".pub: for hosts", self.fleet("key", "new", path))
        return path

    def put(self, name, text):
        """What somebody writes to the bucket."""
        self.client.publish(b"$KV.landtrace_orders." + name.encode(), text.encode())
        self.client.ping()

    def heard(self, *words):
        """The order that is given, as it stands in the bucket."""
        self.client.subscribe(b"$KV.landtrace_orders.*")
        self.landtrace("fleet", *words)
        messages = []
        self.wait_until(lambda: messages.extend(self.client.ping()) or messages)
        self.client.say(b"UNSUB 1")
        self.client.ping()
        return messages[0][0].decode().rsplit(".", 1)[1], messages[0][1].decode()

    def state(self, order):
        return next((one for one in self.hosts()["a"]["orders"] if one["id"] == order), None)

    def taken_and_ended(self, seconds):
        """An order for so long; None where the host has seen it later."""
        name, _ = self.heard(*HIST, "--sign", self.key, "--for", f"{math.ceil(seconds)}s")
        state = self.awaited(lambda: (one := self.state(name)) and one["state"] != "applied" and one["state"])
        return name if state == "ended" else None

    def assert_refused(self, order, said):
        self.wait_until(lambda: self.state(order) is not None)
        self.assertEqual(self.state(order)["state"], "refused")
        self.assertIn(said, self.state(order)["refusals"][0]["reason"])

    def test_a_host_whose_file_is_away_as_its_agent_ends_comes_back_with_it(self):
        self.wait_until(lambda: self.host_state("a") == "here")
        started = self.hosts()["a"]["started"]
        trusted, away = self.key + ".pub", self.key + ".away"
        os.rename(trusted, away)
        daemon = self.host.daemon
        os.kill(self.host.agent(), signal.SIGKILL)
        self.assertIn("it is started again", daemon.stderr.readline())
        self.assertRegex(daemon.stderr.readline(), "operator.key.pub: No such file or directory: tried again in 2 s")
        os.rename(away, trusted)
        self.wait_until(lambda: self.hosts()["a"]["started"] > started)

    def test_keys_are_their_owners_alone(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.key).st_mode), 0o600)
        with open(self.key, "rb") as before:
            content = before.read()
        status, _, err = self.landtrace("fleet", "key", "new", self.key)
        self.assertEqual(status, 1)
        self.assert_one_line(err, "File exists")
        with open(self.key, "rb") as after:
            self.assertEqual(after.read(), content)
        status, _, err = self.landtrace("fleet", *HIST, "--sign", self.key + ".pub")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "want a private key of ed25519")

    def test_orders_of_a_trusted_key_are_taken(self):
        order = self.order(*HIST, "--sign", self.key)
        self.assertEqual(self.state(order)["state"], "applied")
        self.host.emit(20)
        self.wait_until(lambda: self.sum_of(order) == 20)
        Host(self, "b")  # trusts everybody
        self.wait_until(lambda: [one["state"] for one in self.hosts()["b"]["orders"]] == ["applied"])

    def test_others_are_refused_with_the_reason(self):
        for words, said in ((HIST, "it is not signed"), ((*HIST, "--sign", self.other), "no key that this host trusts")):
            status, out, err = self.landtrace("fleet", *words)
            self.assertEqual(status, 1, out)
            self.assertIn("refused by 1 host", out)
            self.assertIn("a: ", err)
            self.assertIn(said, err)
        name, text = self.heard(*HIST, "--sign", self.key, "--where", "role=web")
        self.put("replayed", text)
        self.assert_refused("replayed", f"it was signed as the order '{name}'")
        for number, (old, new) in enumerate((('"event":"job"', '"event":"jab"'), ('"role=web"', '""'))):
            self.assertIn(old, text)
            self.put(f"changed{number}", text.replace(old, new).replace(f'"{name}"', f'"changed{number}"'))
            self.assert_refused(f"changed{number}", "it was changed since")

    def test_what_has_ended_does_not_begin_again(self):
        name, text = self.heard(*HIST, "--sign", self.key)
        self.assertEqual(self.awaited(lambda: self.state(name))["state"], "applied")
        self.fleet("end", name)
        self.wait_until(lambda: self.state(name)["state"] == "ended")
        self.put(name, text)
        self.put("later", text)  # a host takes orders in the order of the bucket
        self.assert_refused("later", "signed as")
        self.assertEqual(self.state(name)["state"], "ended")
        name = self.given_time(self.taken_and_ended)
        late = Host(self, "late", "", "--fleet-trust", self.key + ".pub")
        self.assertIsNotNone(late)
        state = self.awaited(lambda: [one for one in self.hosts()["late"]["orders"] if one["id"] == name])[0]
        self.assertEqual(state["state"], "refused")
        self.assertIn("it had ended before", state["refusals"][0]["reason"])

    def test_snapshots_are_orders(self):
        self.order("enable", "job", "--sign", self.key)
        self.host.emit(5)
        file = os.path.join(self.folder, "fleet.dat")
        status, _, err = self.landtrace("fleet", "snapshot", "-o", file)
        self.assertEqual(status, 1)
        self.assertIn("it is not signed", err)
        status, out, err = self.landtrace("fleet", "snapshot", "-o", file, "--json", "--sign", self.key)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(json.loads(out)["hosts"][0]["events"], 5)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
