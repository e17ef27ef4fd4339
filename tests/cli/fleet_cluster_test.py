"""Many hosts behind three servers of NATS, of which each is killed in the middle, and with them collectors and hosts."""
import os
import signal
import subprocess
import unittest

import support
from fleet_case import ClusterCase, Host, skip_without_nats

HIST = ("hist", "job", "--keys", "source", "--vals", "sequence.log2=32", "--detach")


class Cluster(ClusterCase):
    def test_the_sum_is_exact_though_the_leader_is_killed(self):
        hosts = [Host(self, name) for name in ("a", "b", "c")]
        order = self.order(*HIST)
        counted = sum(host.emit(200) for host in hosts)
        self.wait_until(lambda: self.sum_of(order) == counted)
        self.assertEqual(self.stream()["config"]["num_replicas"], 3)
        leader = self.leader()
        self.kill_one(leader)
        counted += sum(host.emit(1000) for host in hosts)
        self.wait_until(lambda: self.sum_of(order) == counted)
        self.servers[leader] = self.start_one(leader)
        counted += sum(host.emit(100) for host in hosts)
        self.wait_until(lambda: self.sum_of(order) == counted)
        self.assertEqual(self.hosts()["a"]["unsent"], 0)

    def test_the_sum_is_exact_whoever_is_killed(self):
        """Each of the servers in turn, collectors, and a host, while others go on counting."""
        hosts = [Host(self, name) for name in ("a", "b", "c")]
        collectors = [self.start("collect") for _ in range(2)]
        order = self.order(*HIST)
        counted = 0
        for number in range(3):
            server = self.leader() if number == 0 else number
            counting = [host.start_counting(300) for host in hosts]
            self.kill_one(server)
            collectors[number % 2].send_signal(signal.SIGKILL)
            collectors[number % 2].wait()
            collectors[number % 2] = self.start("collect")
            counted += sum(host.finish_counting(program, 300) for host, program in zip(hosts, counting))
            self.wait_until(lambda: self.sum_of(order) == counted)
            hosts[number].kill()  # all that it counted is there
            counted += hosts[number - 1].emit(50)
            self.servers[server] = self.start_one(server)
            hosts[number].start()
            self.wait_until(lambda: "applied" in [one["state"] for one in self.hosts()[hosts[number].name]["orders"]])
            counted += hosts[number].emit(70)
            self.wait_until(lambda: self.sum_of(order) == counted)
        by_host = {group["key"]["host"]: group["count"] for group in self.groups(order, "--per", "host")}
        self.assertEqual(by_host, {"a": 900 + 70 + 50, "b": 900 + 70 + 50, "c": 900 + 70 + 50})


class Example(support.Case):
    def test_the_slow_host_is_found(self):
        own_name = ["unshare", "--uts", *([] if os.geteuid() == 0 else ["--map-root-user"]), "true"]
        if not support.works(*own_name):
            self.skipTest("no namespaces")
        script = os.path.join(os.path.dirname(__file__), "../../examples/fleet/slow_host.py")
        for lasts in ("3s", "12s", "48s"):  # on a busy machine a host may do nothing for seconds
            words = ["--hosts", "3", "--servers", "1", "--for", lasts, "--build", os.environ["BUILD"]]
            done = subprocess.run([script, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=4 * support.TIMEOUT_S)
            if done.returncode == 0:
                return
            print(done.stdout)
        self.fail("the slow host was not found")


if __name__ == "__main__":
    skip_without_nats()
    unittest.main()
