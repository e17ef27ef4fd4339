"""landtrace collect --metrics: a fleet for a scraper."""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest

import support
from fleet_case import FleetCase, Host, skip_without_nats

PROGRAM = os.path.join(os.path.dirname(os.environ["SHIM"]), "landtrace-fleet-metrics")
if os.path.exists(PROGRAM):
    shutil.copy(PROGRAM, os.path.join(os.path.dirname(support.LANDTRACE), "..", "lib", "landtrace"))


class Metrics(FleetCase):
    def collect(self, *words):
        self.collector = self.start("collect", "--metrics", "127.0.0.1:0", *words)
        said = self.collector.stderr.readline()
        found = re.fullmatch(r"landtrace: metrics are at http://127\.0\.0\.1:(\d+)/metrics\n", said)
        self.assertIsNotNone(found, said)
        self.metrics_port = int(found[1])

    def get(self, **headers):
        """(status, text)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.metrics_port, timeout=support.TIMEOUT_S)
        connection.request("GET", "/metrics", headers=headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def values(self):
        """By name and labels, as they stand there, without the domain's label."""
        status, text = self.get()
        if status != 200:
            return {}
        lines = [re.sub(r',domain="[^"]*"', "", line) for line in text.splitlines() if not line.startswith("#")]
        return dict(line.rsplit(" ", 1) for line in lines)

    def wait_for(self, **series):
        """Until each has its value."""
        self.wait_until(lambda: all(self.values().get(name) == value for name, value in series["all"].items()))

    def test_hosts_orders_and_what_they_count(self):
        hosts = [Host(self, "web-1", "role=web"), Host(self, "<b>web-2", "role=web"), Host(self, "db-1", "role=db")]
        self.collect("--metrics-by", "role,source")
        self.wait_for(all={'landtrace_fleet_hosts{state="here"}': "3", 'landtrace_fleet_host_up{host="<b>web-2"}': "1",
                           "landtrace_fleet_connected": "1"})
        info = [name for name in self.values() if name.startswith('landtrace_fleet_host_info{host="db-1"')]
        self.assertEqual(len(info), 1)
        self.assertRegex(info[0], r',version="[^"]+",role="db"\}$')
        order = self.order("hist", "job", "--keys", "source", "--vals", "sequence.log2=32", "--where", "role=web", "--interval", "1s", "--detach")
        for host in hosts[:2]:
            host.emit(100)
        labels = f'order="{order}",event="user_events:job",of="sequence",role="web",source="0"'
        self.wait_for(all={f"landtrace_fleet_histogram_count{{{labels}}}": "200",
                           f'landtrace_fleet_order_hosts{{order="{order}",kind="hist",state="applied"}}': "2",
                           f'landtrace_fleet_order_events_total{{order="{order}",kind="hist"}}': "200"})
        values = self.values()
        self.assertEqual(values[f"landtrace_fleet_histogram_sum{{{labels}}}"], str(2 * sum(range(100))))
        for upper, count in (("1.0", 4), ("3.0", 8), ("7.0", 16), ("63.0", 128), ("127.0", 200), ("+Inf", 200)):
            self.assertEqual(values[f'landtrace_fleet_histogram_bucket{{{labels},le="{upper}"}}'], str(count), upper)
        self.assertNotIn('role="db",source', str(values))
        self.check_with_promtool()
        self.fleet("end", order)
        self.wait_until(lambda: order not in str(self.values()))

    def check_with_promtool(self):
        """The field's own opinion of all of it, where that is installed."""
        if shutil.which("promtool") is None:
            return
        checked = subprocess.run(["promtool", "check", "metrics"], input=self.get()[1], capture_output=True, text=True, check=False,
                                 timeout=support.TIMEOUT_S)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)

    def test_hosts_go_away_and_the_server_is_killed(self):
        host = Host(self, "web-1")
        Host(self, "web-2")
        self.collect()
        order = self.order("hist", "job", "--keys", "source", "--interval", "1s", "--detach")
        host.emit(10)
        counted = f'landtrace_fleet_hits_total{{order="{order}",event="user_events:job",host="web-1"}}'
        self.wait_for(all={counted: "10"})
        self.kill_server()
        self.wait_for(all={"landtrace_fleet_connected": "0", counted: "10"})
        host.emit(10)
        self.start_server()
        self.wait_for(all={"landtrace_fleet_connected": "1", counted: "20"})
        host.kill()
        self.wait_for(all={'landtrace_fleet_hosts{state="away"}': "1", 'landtrace_fleet_host_up{host="web-1"}': "0", counted: "20"})
        # Who follows the fleet for it, and is killed, is begun anew.
        programs = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout.splitlines()
        served = next(line.split()[0] for line in programs if line.split()[1] == str(self.collector.pid))
        follower = next(line.split()[0] for line in programs if line.split()[1] == served)
        self.assertIn(f"\0LANDTRACE_PARENT={served}\0", "\0" + support.read_text(f"/proc/{follower}/environ"))
        os.kill(int(follower), signal.SIGKILL)
        self.wait_for(all={"landtrace_fleet_connected": "1", counted: "20"})

    def test_it_collects_as_ever_and_ends_with_its_programs(self):
        Host(self, "a")
        self.collect()
        self.wait_for(all={"landtrace_fleet_connected": "1"})
        status, text = self.get(Accept="application/openmetrics-text; version=1.0.0")
        self.assertEqual((status, text[-6:]), (200, "# EOF\n"))
        self.assertEqual(self.get(Host="evil.example")[0], 403)
        self.assertEqual(self.stop(self.collector)[0], 0)

        def answers():
            try:
                return self.get()
            except OSError:
                return None
        self.wait_until(lambda: answers() is None)

    def test_it_ends_where_the_collector_is_gone_already(self):
        options = {**self.environment, "LANDTRACE_FLEET_OPTIONS": json.dumps({"servers": self.url})}
        fleet = os.path.join(os.path.dirname(PROGRAM), "landtrace-fleet")
        with socket.create_server(("127.0.0.1", 0)) as listening:
            at = listening.fileno()
            self.assert_ends_without_its_starter(PROGRAM, fleet, "", 10, "host", at, env=options, pass_fds=[at])

    def test_what_is_wrong_is_said(self):
        for words, said in ((("--metrics", "nowhere"), "--metrics: want HOST:PORT or /PATH, not 'nowhere'"),
                            (("--metrics-by", "role"), "--metrics-by: want --metrics, too")):
            status, out, err = self.landtrace("collect", *words)
            self.assertEqual((status, out), (2, ""), err)
            self.assert_one_line(err, said)
        self.collect()
        status, _, err = self.landtrace("collect", "--metrics", f"127.0.0.1:{self.metrics_port}")
        self.assertEqual(status, 1)
        self.assert_one_line(err, f"127.0.0.1:{self.metrics_port}", "in use")


if __name__ == "__main__":
    skip_without_nats()
    if os.path.exists(PROGRAM):
        unittest.main()
    print("SKIPPED: built without libmicrohttpd")
