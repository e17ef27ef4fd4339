"""A browser without a screen, for tests of pages: Debian's chromium-headless-shell or chromium, by its DevTools protocol through a pipe."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

TIMEOUT_S = 60


def find_browser():
    """None: there is none."""
    return next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium"))), None)


class Browser:
    """One page in it. What goes wrong in the page is in `mistakes`, what it asks the network for in `requests`."""

    def __init__(self, width=1200, height=760):
        self.folder = tempfile.mkdtemp(prefix="landtrace-browser-")
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        # The protocol's descriptors are 3 and 4.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        # Its own sandbox needs name spaces, which containers and root often do not have. A group, and no session, which would be
        # an autogroup of its own: beside busy ones Linux 6.18 lets such a one wait for seconds before it runs for the first time.
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", find_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0,
            env=dict(os.environ, HOME=self.folder))
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.mistakes = []
        self.requests = []
        self.loaded = 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.input)
        os.close(self.output)
        # Its other processes write there until the last of them has ended.
        end_time = time.monotonic() + TIMEOUT_S
        while os.path.exists(self.folder) and time.monotonic() < end_time:
            shutil.rmtree(self.folder, ignore_errors=True)
            time.sleep(0.01)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _message(self):
        end_time = time.monotonic() + TIMEOUT_S
        while b"\0" not in self.buffer:
            if not select.select([self.input], [], [], max(0, end_time - time.monotonic()))[0]:
                raise RuntimeError("the browser does not answer")
            more = os.read(self.input, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.buffer += more
        one, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(one)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method, told):
        if method == "Page.loadEventFired":
            self.loaded += 1
        elif method == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.mistakes.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and told["entry"]["level"] == "error":
            self.mistakes.append(told["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    def open(self, path):
        """A file, or an address."""
        self.requests.clear()
        self._load("Page.navigate", url=f"file://{path}" if path.startswith("/") else path)

    def reload(self):
        self._load("Page.reload")

    def _load(self, method, **parameters):
        before = self.loaded
        self.call(method, **parameters)
        while self.loaded == before:
            self._message()

    def run(self, script):
        """The value of an expression in the page."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"].get("exception", {}).get("description", done["exceptionDetails"]["text"]))
        return done["result"].get("value")

    def wait_until(self, script):
        end_time = time.monotonic() + TIMEOUT_S
        while not self.run(script):
            if time.monotonic() > end_time:
                raise RuntimeError(f"waited in vain: {script}")
            time.sleep(0.02)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def key(self, key, modifiers=0):
        """As the keyboard has it: "a", "Enter", "ArrowLeft"."""
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35,
                 "Tab": 9, "Backspace": 8}
        pressed = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())), "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **pressed)
        self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.drag(x, y, x, y)

    def drag(self, x, y, to_x, to_y):
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        if (x, y) != (to_x, to_y):
            self.mouse("mouseMoved", (x + to_x) // 2, (y + to_y) // 2, button="left", buttons=1)
            self.mouse("mouseMoved", to_x, to_y, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)

    def screenshot(self, path=None):
        """PNG bytes."""
        picture = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path:
            with open(path, "wb") as file:
                file.write(picture)
        return picture
