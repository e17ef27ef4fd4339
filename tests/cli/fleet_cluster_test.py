"""Many hosts behind three servers of NATS, of which the one that leads is killed in the middle."""
import json
import os
import signal
import subprocess
import unittest

import support
from fleet_case import FleetCase, Host, NatsClient, free_port, skip_without_nats

HIST = ("hist", "job", "--keys", "source", "--vals", "sequence.log2=32", "--detach")


class Cluster(FleetCase):
    def start_server(self):
        self.ports = [free_port() for _ in range(3)]
        self.routes = [free_port() for _ in range(3)]
        self.url = ",".join(f"nats://127.0.0.1:{port}" for port in self.ports)
        self.environment["LANDTRACE_FLEET"] = self.url
        self.servers = [self.start_one(number) for number in range(3)]
        self.wait_until(lambda: self.landtrace("fleet", "hosts", "--json")[0] == 0)

    def start_one(self, number):
        return self.start_program("nats-server", "-js", "-n", f"n{number}", "-sd", os.path.join(self.folder, f"nats{number}"),
                                  "-a", "127.0.0.1", "-p", self.ports[number], "--cluster_name", "fleet",
                                  "-cluster", f"nats://127.0.0.1:{self.routes[number]}",
                                  "-routes", ",".join(f"nats://127.0.0.1:{route}" for route in self.routes),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stream(self):
        """What a server that runs says of the stream."""
        for port, server in zip(self.ports, self.servers):
            if server.poll() is not None:
                continue
            client = NatsClient(port)
            client.subscribe(b"answer")
            client.say(b"PUB $JS.API.STREAM.INFO.LANDTRACE answer 0", b"")
            heard = []
            self.wait_until(lambda: heard.extend(client.ping()) or heard)
            client.close()
            return json.loads(heard[0][1])
        return None

    def test_the_sum_is_exact_though_the_leader_is_killed(self):
        hosts = [Host(self, name) for name in ("a", "b", "c")]
        order = self.order(*HIST)
        counted = sum(host.emit(200) for host in hosts)
        self.wait_until(lambda: self.sum_of(order) == counted)
        said = self.stream()
        self.assertEqual(said["config"]["num_replicas"], 3)
        leader = int(said["cluster"]["leader"][1:])
        self.servers[leader].send_signal(signal.SIGKILL)
        self.servers[leader].wait()
        counted += sum(host.emit(1000) for host in hosts)
        self.wait_until(lambda: self.sum_of(order) == counted)
        self.servers[leader] = self.start_one(leader)
        counted += sum(host.emit(100) for host in hosts)
        self.wait_until(lambda: self.sum_of(order) == counted)
        self.assertEqual(self.hosts()["a"]["unsent"], 0)


class Example(support.Case):
    def test_the_slow_host_is_found(self):
        own_name = ["unshare", "--uts", *([] if os.geteuid() == 0 else ["--map-root-user"]), "true"]
        if not support.works(*own_name):
            self.skipTest("no namespaces")
        script = os.path.join(os.path.dirname(__file__), "../../examples/fleet/slow_host.py")
        done = subprocess.run([script, "--hosts", "3", "--servers", "1", "--for", "3s", "--build", os.environ["BUILD"]],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=4 * support.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
