"""Many hosts: who may do what, by users of the server."""
import os
import subprocess
import unittest

from fleet_case import FleetCase, Host, skip_without_nats

HIST = ("hist", "job", "--keys", "source", "--vals", "sequence.log2=32", "--detach")


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


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
