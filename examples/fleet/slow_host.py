#!/usr/bin/env python3
"""Which of many hosts is slow? Three NATS servers, a daemon for each host in a namespace with its own host name, and a
service of two processes on each, slow on one of them; one command finds that. Where clickhouse-server is installed, what was
counted is kept there, and shown again when it is over.

    examples/fleet/slow_host.py [--hosts 20] [--servers 3] [--for 10s] [--build build]

Needs nats-server, clickhouse-server for the store, and root or user namespaces.
"""
import argparse
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time

STORE = """<yandex>
  <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
  <http_port>{port}</http_port><listen_host>127.0.0.1</listen_host>
  <path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
  <users_config>users.xml</users_config><default_profile>default</default_profile>
  <default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>
</yandex>"""
USERS = """<yandex>
  <profiles><default/></profiles><quotas><default/></quotas>
  <users><default><password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
</yandex>"""
TAKEN_PORTS = []  # until this process ends
NAMES = "landtrace fleet latency --from req_start --to req_done --key id --per host".split()


def free_ports():
    """Below those that connections have as their own ends, and none that a test has taken (tests/cli/fleet_case.py)."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as given:
        begin = int(given.read().split()[0])
    for port in random.sample(range(begin // 2, begin), begin // 2):
        taken = socket.socket(socket.AF_UNIX)
        try:
            taken.bind(f"\0landtrace-test-port-{port}")
            with socket.socket() as listening:
                listening.bind(("127.0.0.1", port))
        except OSError:
            taken.close()
            continue
        TAKEN_PORTS.append(taken)
        yield port


def ns_of(text):
    """"850 ns", "1.2 us" as a number."""
    number, unit = text.split()
    return float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


class Example:
    def __init__(self, options):
        self.folder = tempfile.mkdtemp(prefix="landtrace-fleet-")
        self.bin = os.path.join(options.build, "bin")
        self.requests = os.path.join(options.build, "examples", "example_requests")
        self.programs = []
        self.free_ports = free_ports()
        self.ports = [next(self.free_ports) for _ in range(options.servers)]
        self.environment = dict(os.environ, LANDTRACE_FLEET=",".join(f"nats://127.0.0.1:{port}" for port in self.ports))

    def start(self, *words, **options):
        options.setdefault("stdout", subprocess.DEVNULL)
        self.programs.append(subprocess.Popen([str(word) for word in words], process_group=0, **options))
        return self.programs[-1]

    def start_servers(self):
        routes = [next(self.free_ports) for _ in self.ports]
        for number, port in enumerate(self.ports):
            cluster = ["--cluster_name", "fleet", "-cluster", f"nats://127.0.0.1:{routes[number]}", "-routes",
                       ",".join(f"nats://127.0.0.1:{route}" for route in routes)] if len(self.ports) > 1 else []
            self.start("nats-server", "-js", "-n", f"n{number}", "-sd", f"{self.folder}/n{number}", "-a", "127.0.0.1", "-p", port,
                       *cluster, stderr=subprocess.DEVNULL)
        self.wait_for("the servers", lambda: self.landtrace("fleet", "hosts", "--json").returncode == 0)

    def start_collector(self):
        words = []
        self.has_store = (shutil.which("clickhouse-server") is not None and
                          os.path.exists(os.path.join(self.bin, "..", "lib", "landtrace", "landtrace-collect")))
        if self.has_store:
            folder, port = os.path.join(self.folder, "store"), next(self.free_ports)
            os.mkdir(folder)
            for name, text in (("config.xml", STORE), ("users.xml", USERS)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text.format(folder=folder, port=port))
            self.start("clickhouse-server", f"--config-file={folder}/config.xml", stderr=subprocess.DEVNULL)
            words = ["--store", f"clickhouse://127.0.0.1:{port}"]
        self.start(os.path.join(self.bin, "landtrace"), "collect", *words, env=self.environment)

    def landtrace(self, *words):
        return subprocess.run([os.path.join(self.bin, "landtrace"), *words], env=self.environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for(self, what, is_there):
        end = time.monotonic() + 120
        while not is_there():
            if time.monotonic() > end:
                sys.exit(f"{what}: waited in vain")
            time.sleep(0.2)

    def start_host(self, number, is_slow):
        """The daemon takes the machine's name, which is its namespace's own."""
        name, path = f"host-{number}", os.path.join(self.folder, f"{number}.sock")
        own_name = ["unshare", "--uts", *([] if os.geteuid() == 0 else ["--map-root-user"])]
        self.start(*own_name, "sh", "-c", 'hostname "$1" && shift && exec "$@"', "sh", name,
                   os.path.join(self.bin, "landtraced"), "--socket", path, "--fleet", self.environment["LANDTRACE_FLEET"],
                   "--fleet-interval", 1)
        service = 'while "$1" "$2"; do :; done'
        self.start("sh", "-c", service, "sh", self.requests, 3000 if is_slow else 0,
                   env=dict(self.environment, LANDTRACE_SOCKET=path))

    def end(self):
        for program in reversed(self.programs):
            try:
                os.killpg(program.pid, 15)
            except ProcessLookupError:
                pass
        for program in self.programs:
            program.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def finds(example, slow, hosts, words):
    """Whether the command shows that it is this one."""
    print("$", *NAMES, *words, flush=True)
    found = example.landtrace(*NAMES[1:], *words)
    print(found.stderr + found.stdout)
    groups = {line.split(":")[0]: line for line in found.stdout.splitlines() if line.startswith("host=")}
    p50 = {host: line.split("p50 ")[1].split(",")[0] for host, line in groups.items()}
    slowest = max(p50, key=lambda host: ns_of(p50[host]), default="none")
    print(f"{slowest} has the highest p50; host-{slow} was made slow", flush=True)
    return len(groups) == hosts and slowest == f"host=host-{slow}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--for", dest="lasts", default="10s")
    parser.add_argument("--build", default="build")
    options = parser.parse_args()
    slow = random.randrange(options.hosts)
    example = Example(options)
    try:
        example.start_servers()
        example.start_collector()
        for number in range(options.hosts):
            example.start_host(number, number == slow)
        example.wait_for("the hosts", lambda: example.landtrace("fleet", "hosts").stdout.count(" here ") == options.hosts)
        is_right = finds(example, slow, options.hosts, ["--for", options.lasts])
        if example.has_store:
            example.wait_for("the store", lambda: example.landtrace("fleet", "history", "--last", "5m").returncode == 0)
            is_right = finds(example, slow, options.hosts, ["--last", "5m"]) and is_right
        return 0 if is_right else 1
    finally:
        example.end()


if __name__ == "__main__":
    sys.exit(main())
