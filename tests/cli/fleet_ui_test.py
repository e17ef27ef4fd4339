"""landtrace ui --fleet: many hosts in a browser, live."""
import json
import os
import re
import subprocess
import sys
import unittest
import urllib.parse

import support
import ui_serving
from fleet_case import FleetCase, Host, NatsClient, skip_without_nats
from ui_serving import Asking, InBrowser

HOSTILE = "<img src=x onerror=hurt()>\u202e"


class FleetAsking(Asking, FleetCase):
    def get(self, path, **arguments):
        return self.ask("GET", f"/{self.token}/{path}?{urllib.parse.urlencode(arguments)}")

    def states(self):
        """Of the orders at all hosts."""
        return [order["state"] for host in self.hosts().values() for order in host["orders"]]

    def helpers(self):
        """Programs that the page's server has started."""
        out = subprocess.run(["ps", "-o", "args=", "--ppid", str(self.ui.pid)], capture_output=True, text=True, check=False).stdout
        return out.splitlines()


class Server(FleetAsking):
    """What it lets in and what not, and what it costs."""

    def setUp(self):
        super().setUp()
        Host(self, "web-1", "role=web")
        Host(self, "db-1", "role=db")
        self.start_ui("--fleet")

    def news_with(self, answer, wanted):
        while True:
            news = self.next_news(answer)
            if wanted(news):
                return news

    def test_other_sites_and_guessers_stay_out(self):
        page = f"/{self.token}/"
        for status, path, headers in ((200, page, {}), (403, "/", {}), (403, f"/{'0' * 32}/", {}), (403, page, {"Host": "evil.example"}),
                                      (403, page, {"Origin": "http://evil.example"}), (404, page + "read?path=available_events", {})):
            self.assertEqual(self.ask("GET", path, **headers)[0], status, (path, headers))
        for headers in ({"Origin": "http://evil.example"}, {"Origin": ""}, {"X_Landtrace": ""}):
            headers = {"Origin": f"http://{self.host}", "X_Landtrace": "1"} | headers
            self.assertEqual(self.ask("POST", f"{page}run?command=enable&event=job", "", **headers)[0], 403, headers)
        for command in ({"command": "up"}, {"command": "enable"}, {"command": "hist", "event": "-p", "keys": "a"},
                        {"command": "end", "order": "--help"}):
            self.assertEqual(self.run_command(**command)[0], 422, command)
        for order in ("", ">", "a\nb", "a b", "*"):
            self.assertEqual(self.get("counts", order=order, by="host")[0], 422, order)
        self.assertNotIn("enable", self.fleet("orders"))

    def test_its_policy_runs_its_own_script_alone(self):
        _, page = self.ask("GET", f"/{self.token}/")
        self.assertRegex(page, r'Content-Security-Policy" content="default-src \'none\'; script-src \'sha256-\S+\'; style-src \'sha256-')
        names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", page, re.MULTILINE)
        self.assertGreater(len(names), 40)
        self.assertEqual(sorted(names), sorted(set(names)))

    def test_hosts_come_and_are_chosen(self):
        connection, answer = self.begin_stream()
        self.addCleanup(connection.close)
        numbers = {}

        def has_both(news):
            numbers.update((host["host"], host["number"]) for host in news["hosts"])
            return len(numbers) == 2
        self.news_with(answer, has_both)
        self.assertEqual(self.get("choose", where="role=web"), (200, f"[{numbers['web-1']}]"))
        self.assertEqual(sorted(json.loads(self.get("choose", where="")[1])), sorted(numbers.values()))
        self.assertEqual(self.get("choose", where="role=web && ("),
                         (422, "--where: want the name of a label here\n  role=web && (\n" + " " * 15 + "^"))

    def test_nobody_looks_and_nothing_is_done(self):
        self.assertEqual(self.helpers(), [])
        connection, answer = self.begin_stream()
        self.news_with(answer, lambda news: news["isConnected"] and news["hosts"])
        self.assertEqual([words.split()[1] for words in self.helpers()], ["follow"])
        answer.close()
        connection.close()
        self.wait_until(lambda: self.helpers() == [])

    def test_who_follows_and_is_killed_is_begun_anew(self):
        connection, answer = self.begin_stream()
        self.addCleanup(connection.close)
        self.news_with(answer, lambda news: news["isConnected"])
        subprocess.run(["pkill", "-KILL", "-P", str(self.ui.pid)], check=True)
        self.news_with(answer, lambda news: not news["isConnected"] and "has ended" in news["said"])
        self.news_with(answer, lambda news: news["isConnected"])

    def test_where_no_server_is(self):
        status, out, err = self.landtrace("ui", "--fleet", "nats://127.0.0.1:1")
        self.assertEqual((status, out), (1, ""))
        self.assert_one_line(err, "nobody answers at nats://127.0.0.1:1")
        status, _, err = self.landtrace("ui", "--fleet", "http://x")
        self.assertEqual(status, 2)
        self.assert_one_line(err, "--fleet: want nats://HOST")
        status, _, err = self.landtrace("ui", "--fleet", "--socket", "/nowhere")
        self.assertEqual(status, 2)
        self.assert_one_line(err, "--socket is of one domain")

    def test_its_end_ends_what_it_has_started(self):
        connection, answer = self.begin_stream()
        self.addCleanup(connection.close)
        self.assertEqual(self.run_command(command="tail", event="job")[0], 200)
        self.news_with(answer, lambda news: any("applied by" in task["err"] for task in news["tasks"]))
        self.wait_until(lambda: self.states() == 2 * ["applied"])  # a host that is late is not counted
        self.assertEqual(self.stop(self.ui)[0], 0)
        self.wait_until(lambda: "tail job" not in self.orders())


@ui_serving.needs_browser
class Page(InBrowser, FleetAsking):
    def setUp(self):
        super().setUp()
        self.quick = [Host(self, "web-1", "role=web,zone=a"), Host(self, "web-2", "role=web,zone=b")]
        self.slow = Host(self, HOSTILE, "role=<b>db</b>")
        self.start_ui("--fleet", self.url)

    def open(self):
        page = super().open()
        page.wait_until("document.querySelectorAll('.host').length === 3")
        return page

    def text(self, page, name):
        return page.run(f"document.getElementById('{name}').innerText")

    def says(self, page, name, text):
        page.wait_until(f"document.getElementById('{name}')?.innerText.includes({json.dumps(text)})")

    def give(self, page, kind, **values):
        page.run("document.getElementById('form-tab').click()")
        page.run(f"document.getElementById('form-kind').value = '{kind}'; document.getElementById('form-kind').dispatchEvent(new Event('change'))")
        for name, value in values.items():
            self.set(page, f"form-{name}", value)
        page.wait_until("!document.getElementById('give').disabled")
        # A second press would be a second order.
        self.assertTrue(page.run("(({give}) => (give.click(), give.disabled))(landtraceLive.form)"))

    def count_orders(self, kind):
        return len(re.findall(rf" {kind} ", self.orders()))

    def test_hosts_by_an_expression_whose_mistake_has_its_place(self):
        page = self.open()
        self.assertRegex(self.text(page, "host-count"), r"^3 hosts, \d away$")
        self.set(page, "where", "role=web && zone!=b")
        self.says(page, "host-count", "1 of 3 hosts")
        self.assertEqual(page.run("[...document.querySelectorAll('.host b')].map((each) => each.innerText.split('  ')[0])"), ["web-1"])
        self.set(page, "where", "role=web && zone!")
        page.wait_until("!document.getElementById('where-mistake').hidden")
        lines = page.run("document.getElementById('where-mistake').textContent").split("\n")
        self.assertEqual(lines[1:], ["  role=web && zone!", " " * 18 + "^"])
        page.wait_until("document.getElementById('give').disabled")
        self.assertRegex(self.text(page, "host-count"), r"^1 of 3 hosts, \d away$")
        self.set(page, "where", "zone=b")
        page.wait_until("document.getElementById('where-mistake').hidden && !document.getElementById('give').disabled")
        page.wait_until("document.getElementById('commands').innerText.includes('landtrace fleet hosts --where=zone=b')")
        self.assertEqual(self.commands(page)[0], f"export LANDTRACE_FLEET={self.url}")
        # As long as nobody has said whom an expression means, no order goes to those of the one before it.
        typed = "where.input.value = 'zone=a'; where.input.dispatchEvent(new Event('input'))"
        self.assertTrue(page.run(f"(({{form, hosts: {{where}}}}) => {{ {typed}; return form.give.disabled; }})(landtraceLive)"))
        page.wait_until("!document.getElementById('give').disabled")
        self.assertIn("zone=a", self.text(page, "form-where"))

    def test_an_order_is_given_counted_and_ended_and_the_slow_host_is_marked(self):
        page = self.open()
        self.give(page, "hist", event="job", keys="source", vals="sequence.log2=32")
        self.says(page, "counts-said", "Nothing was counted yet.")
        for host in self.quick:
            host.emit(50)
        self.slow.emit(5000)
        self.says(page, "counts-said", "5,100 counted at 3 hosts")
        self.assertRegex(self.text(page, "slowest"), r"^▲ Slow: <img src=x onerror=hurt\(\)>\\u202e, p99 4,\d\d\d; the p99 in the middle is \d\d$")
        self.assertRegex(self.text(page, "counts-figures"), r"^p50 2,\d\d\d   p90 4,\d\d\d   p99 4,\d\d\d   p99\.9 ")
        self.assertGreater(page.run("document.querySelectorAll('#all-bars i').length"), 5)
        self.slow.emit(100)
        self.says(page, "counts-said", "5,200 counted at 3 hosts")
        order = page.run("document.getElementById('counts-order').value")
        page.run("document.getElementById('counts-by').value = 'role'; document.getElementById('counts-by').dispatchEvent(new Event('change'))")
        page.wait_until("landtraceLive.counts.seen?.events[0].groups.length === 2")
        self.assertEqual(page.run("landtraceLive.counts.seen.events[0].groups.map(({ key }) => key[0])"), ["<b>db</b>", "web"])
        self.assertIn(f"landtrace fleet show {order} --per=role", self.commands(page))
        given = next(line for line in self.commands(page) if "fleet hist" in line)
        self.assertEqual(given, "landtrace fleet hist job --keys=source --vals=sequence.log2=32 --interval=1s --for=10m --detach")
        page.run("document.getElementById('orders-tab').click()")
        self.press(page, "End", "document.getElementById('orders')")
        self.wait_until(lambda: self.count_orders("hist") == 0)
        self.says(page, "orders", "There is no order.")
        self.says(page, "commands", f"landtrace fleet end {order}")  # once the command has ended

    def test_the_commands_do_the_same(self):
        page = self.open()
        self.give(page, "enable", event="job", filter="sequence > 5")
        page.wait_until("document.getElementById('commands').innerText.includes('fleet enable')")
        self.wait_until(lambda: self.count_orders("enable") == 1)
        command = next(line for line in self.commands(page) if "fleet enable" in line)
        script = command.replace("landtrace", support.LANDTRACE, 1)
        done = subprocess.run(["sh", "-c", script], env=self.environment, capture_output=True, text=True, timeout=support.TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.wait_until(lambda: self.count_orders("enable") == 2)

    def test_what_hosts_refuse_is_said_with_its_reason(self):
        program = self.quick[0].start_program(support.PRODUCER, "--count", 100000, "--pause", 10000)
        self.addCleanup(program.kill)
        self.wait_until(lambda: self.hosts()["web-1"]["events"] == 1)
        page = self.open()
        self.set(page, "where", "role=web")
        self.says(page, "host-count", "2 of 3 hosts")
        self.give(page, "enable", event="job", filter="nosuch > 5")
        page.wait_until("!document.getElementById('give').disabled")  # a host that is late makes the command fail
        page.run("document.getElementById('orders-tab').click()")
        self.says(page, "orders", "where role=web")
        self.says(page, "orders", "web-1: user_events:job: the filter ")
        page.run("[...document.querySelectorAll('.host')].find((each) => each.innerText.includes('web-1')).click()")
        self.says(page, "host", "nosuch > 5")
        # What its orders are may be heard of behind them.
        page.run("landtraceLive.orders.textOf = () => 'heard of later'; landtraceLive.hosts.draw()")
        self.says(page, "host", "heard of later")
        page.wait_until("document.querySelector('.host .bad')?.innerText.includes('1 ref.')")
        self.set(page, "form-filter", "")
        self.set(page, "where", "role=nobody")
        self.says(page, "host-count", "0 of 3 hosts")
        self.give(page, "enable", event="job")
        page.wait_until("!document.getElementById('form-mistake').hidden")
        self.assertIn("there is no host where role=nobody", self.text(page, "form-mistake"))
        self.give(page, "hist", event="job", keys="", vals="")
        page.wait_until("document.getElementById('form-mistake').innerText.includes('want fields to count by')")

    def test_lines_come_until_they_are_stopped(self):
        page = self.open()
        self.give(page, "tail", event="job", filter="sequence < 3")
        self.says(page, "tail-told", "tail job")
        self.says(page, "form-told", "applied by ")
        self.wait_until(lambda: self.states() == 3 * ["applied"])  # a host that is late is not counted
        self.slow.emit(5)
        self.says(page, "lines", "<img src=x onerror=hurt()>\\u202e producer-")
        self.press(page, "Stop", "document.getElementById('tail-told')")
        self.wait_until(lambda: self.count_orders("tail") == 0)
        self.says(page, "tail-told", "New order, tail")

    def test_no_text_becomes_markup(self):
        client = NatsClient(self.port)
        self.addCleanup(client.close)
        client.publish(b"$KV.landtrace_orders.x1", json.dumps(
            {"id": "x1", "kind": "hist", "event": "<b>e</b>", "where": "host=nobody", "filter": "<img src=x>", "by_whom": "<i>me</i>"}).encode())
        client.publish(b"$KV.landtrace_orders.x2", b"<b>no order</b>")
        client.publish(b"landtrace.d.<b>.status", b'{"host":"<b>other"}')
        client.ping()
        page = self.open()
        page.run("document.getElementById('orders-tab').click()")
        self.says(page, "orders", "x1 hist <b>e</b> if <img src=x>")
        self.says(page, "orders", "by <i>me</i>")
        self.says(page, "orders", "Left out, as they make no sense: x2")
        self.says(page, "state", "left out, speaking for others or making no sense: landtrace.d.<b>.status")
        page.run("[...document.querySelectorAll('.host')].find((each) => each.innerText.includes('<img')).click()")
        self.says(page, "host", "role=<b>db</b>")
        self.press(page, "This one alone")
        self.says(page, "host-count", "1 of 3 hosts")
        self.says(page, "commands", "landtrace fleet hosts '--where=host=")
        self.assertEqual(page.run("document.querySelectorAll('img, i:not(#brand i, .bars i), b:not(.host b)').length"), 0)

    def test_contact_is_lost_and_found(self):
        self.check_contact(self.open(), "the fleet at")

    def test_the_server_is_killed_and_comes_back(self):
        page = self.open()
        self.give(page, "hist", event="job", keys="source", vals="sequence.log2=32")
        self.says(page, "counts-said", "Nothing was counted yet.")
        self.quick[0].emit(10)
        self.says(page, "counts-said", "10 counted at 1 host")
        self.kill_server()
        self.says(page, "state", "nobody answers at")
        self.quick[0].emit(10)
        self.start_server()
        self.says(page, "state", "the fleet at " + self.url)
        self.quick[1].emit(10)
        self.says(page, "counts-said", "30 counted at 2 hosts")
        self.quick[1].kill()
        self.says(page, "host-count", "3 hosts, 1 away")
        self.says(page, "here", "2 here, 1 away")
        page.reload()
        page.wait_until("window.landtraceLive?.isConnected && document.querySelectorAll('.host').length === 3")
        self.says(page, "counts-said", "30 counted at 2 hosts")


if __name__ == "__main__":
    skip_without_nats()
    ui_serving.main()
