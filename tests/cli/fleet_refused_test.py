"""Many hosts: orders that a host refuses, and many of them."""
import json
import os
import subprocess
import time
import unittest

from fleet_case import PROGRAM, FleetCase, Host, NatsClient, skip_without_nats


class Refused(FleetCase):
    def setUp(self):
        super().setUp()
        self.client = NatsClient(self.port)
        self.addCleanup(self.client.close)

    def put(self, name, **changes):
        """An order that no host can take, as somebody writes it to the bucket."""
        order = {"id": name, "kind": "hist", "event": f"fleet_{name}:f", "triggers": ["hist:keys=common_pid"],
                 "probe": {"object": "nowhere.so", "place": "f", "name": "f"}, **changes}
        self.client.publish(b"$KV.landtrace_orders." + name.encode(), json.dumps(order).encode())

    def orders(self, host="a"):
        """What it says of them, by their ids."""
        return {one["id"]: one["state"] for one in self.hosts().get(host, {"orders": []})["orders"]}


class Ended(Refused):
    def test_an_order_is_not_purged_but_deleted(self):
        """Servers before 2.10.11 pass over what else is new where one is purged."""
        Host(self, "a")
        client = NatsClient(self.port, headers=True)
        self.addCleanup(client.close)
        order = self.order("hist", "job", "--keys", "source", "--detach")
        client.subscribe(b"$KV.landtrace_orders.>")
        self.fleet("end", order)
        heard = self.awaited(client.ping)
        self.assertEqual({subject for subject, _ in heard}, {b"$KV.landtrace_orders." + order.encode()})
        for _, message in heard:  # sent again where the server is late to answer
            self.assertIn(b"KV-Operation: DEL\r\n", message)
            self.assertNotIn(b"Rollup", message)

    def test_who_mistypes_an_order_is_told_and_the_others_end(self):
        Host(self, "a")
        order = self.order("hist", "job", "--keys", "source", "--detach")
        for names, unknown in ((["nosuch", order, "no such"], "nosuch, no such"), ([order], order)):
            status, out, err = self.landtrace("fleet", "end", *names)
            self.assertEqual((status, out), (1, ""))
            self.assert_one_line(err, f"there is no order {unknown}: landtrace fleet orders lists them")
            self.assertNotIn(order, self.landtrace("fleet", "orders")[1])


class Forgotten(Refused):
    """An agent that tells of what has ended for half a second more, in place of ten minutes."""

    def setUp(self):
        super().setUp()
        self.serve()
        options = {"socket": self.socket, "address": {"servers": self.url}, "host": "a", "domain": "d", "interval_ms": 200,
                   "ended_kept_ms": 500}
        agent = self.start_program(PROGRAM, "agent",
                                   env=dict(self.environment, LANDTRACE_FLEET_OPTIONS=json.dumps(options)))
        self.addCleanup(self.stop, agent)
        self.wait_until(lambda: self.host_state("a") == "here")

    def test_a_refused_order_that_was_ended_is_not_told_of_for_ever(self):
        names = [f"o{number}" for number in range(20)]
        for name in names:
            self.put(name)
        self.wait_until(lambda: self.orders() == dict.fromkeys(names, "refused"))
        self.fleet("end", *names[1:])
        self.wait_until(lambda: self.orders() == {"o0": "refused"})

    def test_nor_are_those_that_somebody_purges(self):
        """The server passes over some of them."""
        client = NatsClient(self.port, headers=True)
        self.addCleanup(client.close)
        names = [f"o{number}" for number in range(50)]
        for name in names:
            self.put(name)
        self.wait_until(lambda: self.orders() == dict.fromkeys(names, "refused"))
        head = b"NATS/1.0\r\nKV-Operation: PURGE\r\nNats-Rollup: sub\r\n\r\n"
        client.file.write(b"".join(b"HPUB $KV.landtrace_orders.%s %d %d\r\n%s\r\n" % (name.encode(), len(head), len(head), head)
                                   for name in names[1:]))
        client.ping()
        self.wait_until(lambda: self.orders() == {"o0": "refused"})

    def test_nor_is_one_whose_time_is_over(self):
        self.client.subscribe(b"landtrace.*.*.status")

        def is_told(seconds):
            soon, stays = f"soon{int(10 * seconds)}", f"stays{int(10 * seconds)}"  # is told of behind it
            self.put(soon, until_ns=time.time_ns() + int(seconds * 10**9))
            self.put(stays)
            self.wait_until(lambda: stays in (orders := self.orders()) and soon not in orders)
            told = [order for _, status in self.client.ping() for order in json.loads(status)["orders"]]
            return any(one["id"] == soon and one["state"] == "refused" for one in told)

        self.given_time(is_told)


class Many(Refused):
    def start_server(self):
        config = os.path.join(self.folder, "nats.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"listen: 127.0.0.1:{self.port}\nmax_payload: 4096\njetstream {{ store_dir: \"{self.folder}/nats\" }}\n")
        self.server = self.start_program("nats-server", "-c", config, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_until(self.server_answers)

    def test_what_a_message_has_no_room_for_is_left_out_of_a_status(self):
        Host(self, "a")
        for number in range(100):
            self.put(f"refused{number}")
        self.client.ping()
        self.wait_until(lambda: len(self.orders()) > 10)
        order = self.order("hist", "job", "--keys", "source", "--detach")
        self.wait_until(lambda: self.orders().get(order) == "applied" and len(self.orders()) > 10)
        self.assertEqual(self.hosts()["a"]["unsent"], 0)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
