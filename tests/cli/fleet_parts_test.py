"""Many hosts: frames that are larger than a message of the server may be."""
import os
import random
import subprocess
import unittest

from fleet_case import FleetCase, Host, NatsClient, skip_without_nats

# A row for each event.
ROWS = ("hist", "job", "--keys", "source,sequence", "--detach")


class Parts(FleetCase):
    most_bytes = 4096

    def start_server(self):
        config = os.path.join(self.folder, "nats.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"listen: 127.0.0.1:{self.port}\nmax_payload: {self.most_bytes}\n"
                       f"jetstream {{ store_dir: \"{self.folder}/nats\" }}\n")
        self.server = self.start_program("nats-server", "-c", config, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_until(self.server_answers)

    def restart_server(self, most_bytes):
        self.kill_server()
        self.most_bytes = most_bytes
        self.start_server()

    def unsent(self):
        return sum(host["unsent"] for host in self.hosts().values())

    def test_the_sum_over_hosts_is_what_they_counted(self):
        hosts = [Host(self, name) for name in "ab"]
        client = NatsClient(self.port)
        client.subscribe(b"landtrace.*.*.hist.>")
        order = self.order(*ROWS)
        counted = sum(host.emit(600 * (i + 1)) for i, host in enumerate(hosts))
        self.wait_until(lambda: self.sum_of(order) == counted)
        self.assertEqual(len(self.groups(order)), 1200)
        parts = client.ping()
        self.assertGreater(len({subject for subject, _ in parts}), 4)
        self.assertTrue(all(len(payload) <= self.most_bytes for _, payload in parts))

        by_subject = {}
        for subject, payload in parts:
            by_subject.setdefault(subject, []).append(payload)
        # The stream keeps eight of each.
        again = [(subject, payload) for subject, payloads in by_subject.items() for payload in 2 * payloads[-2:]]
        random.Random(3).shuffle(again)
        for subject, payload in again:
            client.publish(subject, payload)
        for subject, payloads in by_subject.items():
            client.publish(subject, payloads[-1][:-1] + b"x")
            client.publish(subject + b"9", random.Random(4).randbytes(100))
        client.ping()
        client.close()
        self.assertEqual(self.sum_of(order), counted)

        for most_bytes in (2048, 1 << 20, 4096):
            self.restart_server(most_bytes)
            counted += hosts[0].emit(50)
            self.wait_until(lambda: self.sum_of(order) == counted)
        self.fleet("end", order)
        self.wait_until(lambda: {one["state"] for host in self.hosts().values() for one in host["orders"]} == {"ended"})
        self.assertEqual(self.sum_of(order), counted)
        self.assertEqual(self.unsent(), 0)

    def test_collectors_put_them_together(self):
        host = Host(self, "a")
        order = self.order(*ROWS)
        counted = host.emit(900)
        self.wait_until(lambda: self.sum_of(order) == counted)
        self.restart_server(1 << 20)
        collector = self.start("collect")
        self.wait_until(lambda: len(self.asked(f"0 {order} ")) > 4096)
        self.assertEqual(self.sum_of(order), counted)
        self.assertEqual(self.stop(collector)[0], 0)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
