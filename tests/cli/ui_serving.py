"""What the tests of the live page share: a domain, `landtrace ui`, and a browser that looks at it."""
import http.client
import json
import os
import shutil
import unittest
import urllib.parse

import browser
import support
from support import PRODUCER

PROGRAM = os.path.join(os.path.dirname(os.environ["SHIM"]), "landtrace-ui")
if os.path.exists(PROGRAM):
    shutil.copy(PROGRAM, os.path.join(os.path.dirname(support.LANDTRACE), "..", "lib", "landtrace"))


def main():
    """unittest.main() where there is a live page."""
    if os.path.exists(PROGRAM):
        unittest.main()
    print("SKIPPED: built without libmicrohttpd")


needs_browser = unittest.skipUnless(browser.find_browser(), "SKIPPED: no chromium here")


class Asking:
    """For a test case: `landtrace ui`, and requests to it."""

    def start_ui(self, *words):
        self.ui = self.start("ui", *words)
        self.page_url = self.ui.stdout.readline().strip()
        self.assertRegex(self.page_url, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
        self.host, _, self.token = self.page_url[len("http://"):-1].partition("/")

    def ask(self, method, path, body=None, **headers):
        """(status, text)"""
        connection = http.client.HTTPConnection(self.host, timeout=support.TIMEOUT_S)
        self.addCleanup(connection.close)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    def begin_stream(self):
        """A page that only listens."""
        connection = http.client.HTTPConnection(self.host, timeout=support.TIMEOUT_S)
        connection.request("GET", f"/{self.token}/stream")
        return connection, connection.getresponse()

    def next_news(self, answer):
        while True:
            line = answer.readline().decode()
            self.assertNotEqual(line, "", "the stream has ended")
            if line.startswith("data: "):
                return json.loads(line[6:])

    def run_command(self, **parameters):
        headers = {"Origin": f"http://{self.host}", "X_Landtrace": "1"}
        return self.ask("POST", f"/{self.token}/run?{urllib.parse.urlencode(parameters)}", "", **headers)


class Served(Asking, support.Case):
    def setUp(self):
        super().setUp()
        self.daemon = self.serve()
        self.start_ui()

    def write(self, path, text, append=0, **headers):
        headers = {"Origin": f"http://{self.host}", "X_Landtrace": "1"} | headers
        return self.ask("POST", f"/{self.token}/write?path={path}&append={append}", text, **headers)

    def emit(self, *words):
        """A producer that goes on until it is stopped."""
        program = self.start_program(support.LANDTRACE, "run", "--", PRODUCER, "--abi", "--count", "100000000", "--pause", "1000", *words)
        self.wait_until(lambda: "user_events:" in self.landtrace("list")[1])
        return program


class InBrowser:
    """For a test case in a browser, of which there is one for each class."""

    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self):
        self.browser.mistakes.clear()
        self.browser.open(self.page_url)
        self.browser.wait_until("landtraceLive.isConnected")
        return self.browser

    def tearDown(self):
        # What the kernel refuses is an answer, too.
        self.assertEqual([mistake for mistake in self.browser.mistakes if "422" not in mistake], [])
        self.assertTrue(all(address.startswith(self.page_url) for address in self.browser.requests), self.browser.requests)
        self.browser.open("about:blank")
        self.browser.requests.clear()

    def check_contact(self, page, told):
        """That the line of the state says `told` again, once a new stream has begun; and meanwhile not that something failed."""
        connection, answer = self.begin_stream()
        self.addCleanup(connection.close)
        greeting = self.next_news(answer)
        page.wait_until(f"document.getElementById('state').innerText.startsWith({told!r})")
        lost = "landtraceLive.state.tell('no contact', true); landtraceLive.state.complain('failed')"
        self.assertEqual(self.state_after(page, f"(async () => {{ {lost} }})()"), "no contact")
        taken = self.state_after(page, f"(async () => {{ {lost}; landtraceLive.take({json.dumps(greeting)}) }})()")
        self.assertTrue(taken.startswith(told), taken)

    def state_after(self, page, promise):
        """What its line says right behind that."""
        return page.run(f"({promise}).then(() => document.getElementById('state').innerText)")

    def set(self, page, name, text):
        """Types into a field."""
        page.run(f"document.getElementById('{name}').value = ''; document.getElementById('{name}').focus()")
        page.type(text)

    def commands(self, page):
        return page.run("document.getElementById('commands').innerText").splitlines()

    def press(self, page, text, where="document"):
        """The button that is called so, once it is there."""
        button = f"[...{where}.querySelectorAll('button')].find((each) => each.innerText === {text!r})"
        page.wait_until(f"{button} !== undefined")
        page.run(f"{button}.click()")


@needs_browser
class PageCase(InBrowser, Served):
    def choose(self, page, name):
        page.wait_until("document.querySelectorAll('.event').length > 0")
        page.run(f"[...document.querySelectorAll('.event button')].find((each) => each.innerText === {name!r}).click()")
        page.wait_until("document.getElementById('filter') !== null")

    def switch_on(self, page):
        page.wait_until("document.querySelectorAll('.event').length > 0")
        page.run("document.querySelector('.event input').click()")
        page.wait_until("document.getElementById('lines').innerText.includes(': job: ')")
