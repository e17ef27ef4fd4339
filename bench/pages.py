#!/usr/bin/env python3
"""The figures of the pages, in a browser without a screen: what bench_pages.cc runs. Prints "name value name value …".

    pages.py view BENCH    1,000,000 events in spans, of landtrace view: frames a second while it zooms and pans
    pages.py live LOAD     landtrace ui of a domain with 100,000 events/s: updates a second, and what it takes of a CPU

$LANDTRACE and $SHIM are the programs, as for tests/cli.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "tests", "cli"))
os.environ.setdefault("PRODUCER", os.environ["LANDTRACE"])  # which nothing here runs
import browser  # noqa: E402
import ui_serving  # noqa: E402
from ui_serving import support  # noqa: E402

EVENTS = 1_000_000
FRAMES_S = 4
LIVE_S = 5
PATIENCE_S = 60

# One key each frame, in and out and along, and every few frames the wheel.
MOVE = """new Promise((done) => {
  const keys = ['+', '+', 'ArrowRight', '-', '+', 'ArrowLeft', '-', '-', 'ArrowRight', '+', '-', '0'];
  const lanes = document.getElementById('lanes');
  const begin = performance.now();
  const times = [];
  let moves = 0, last = '';
  const frame = (now) => {
    times.push(now);
    const shown = `${landtrace.view.begin} ${landtrace.view.end}`;
    moves += shown !== last;
    last = shown;
    if (now - begin > SECONDS * 1000) {
      const gaps = times.slice(1).map((time, i) => time - times[i]);
      done({perSecond: gaps.length / (times.at(-1) - times[0]) * 1000, worst: Math.max(...gaps), moves: moves / times.length});
      return;
    }
    const key = keys[times.length % keys.length];
    lanes.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    if (times.length % 5 === 0) {
      lanes.dispatchEvent(new WheelEvent('wheel', {deltaY: times.length % 2 ? 100 : -100, clientX: 400, clientY: 300, bubbles: true, cancelable: true}));
    }
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})"""

# Frames before which the page has changed.
UPDATES = """new Promise((done) => {
  let changed = false, updates = 0;
  const begin = performance.now();
  const observer = new MutationObserver(() => { changed = true; });
  observer.observe(document.body, {subtree: true, childList: true, characterData: true});
  const frame = (now) => {
    if (changed) { ++updates; changed = false; }
    if (now - begin > SECONDS * 1000) {
      observer.disconnect();
      done(updates / (now - begin) * 1000);
    } else {
      requestAnimationFrame(frame);
    }
  };
  requestAnimationFrame(frame);
})"""


class Folder:
    """Where its domain and files are."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="landtrace-bench-")
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.path)
        self.started = []
        return self

    def __exit__(self, *_):
        for process in reversed(self.started):
            process.terminate()
            process.wait()
        shutil.rmtree(self.path, ignore_errors=True)

    def start(self, *words):
        process = subprocess.Popen(words, cwd=self.path, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.started.append(process)
        return process

    def run(self, *words):
        return subprocess.run(words, cwd=self.path, env=self.environment, text=True, check=True, capture_output=True)


def wait_until(condition):
    end_time = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end_time:
            raise RuntimeError("waited in vain")
        time.sleep(0.02)


def with_page(address, use):
    page = browser.Browser()
    try:
        page.open(address)
        return use(page)
    finally:
        page.close()


def view(bench):
    with Folder() as folder:
        file = os.path.join(folder.path, "trace.dat")
        folder.run(support.LANDTRACE, "record", "-o", file, "-e", "page_*", "--", bench, "--role", "page-events", str(EVENTS))
        folder.run(support.LANDTRACE, "view", file, "--span", "page_begin,page_end,id")
        page_file = os.path.join(folder.path, "trace.html")
        begin = time.monotonic()

        def use(page):
            page.wait_until("window.landtrace !== undefined")
            loaded = time.monotonic() - begin
            frames = page.run(MOVE.replace("SECONDS", str(FRAMES_S)))
            if page.mistakes:
                raise RuntimeError(page.mistakes[0])
            if frames["moves"] < 0.5:
                raise RuntimeError("the page does not move")
            return {"frames": frames["perSecond"], "worst": frames["worst"], "loaded": loaded * 1000, "events": page.run("landtrace.trace.count")}

        return with_page(page_file, use)


def cpu_s(process):
    fields = support.read_text(f"/proc/{process.pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def live(load):
    with Folder() as folder:
        folder.start(support.LANDTRACED)
        wait_until(lambda: support.works("env", f"XDG_RUNTIME_DIR={folder.path}", support.LANDTRACE, "list"))
        ui = folder.start(support.LANDTRACE, "ui")
        address = ui.stdout.readline().strip()
        if not address:
            raise RuntimeError(f"no live page: {ui_serving.PROGRAM} is missing, or does not start")
        folder.start(support.LANDTRACE, "run", "--", load, "--rate", "100000", "--seconds", "600")

        def share(measure):
            """Of a CPU, in percent, and what was measured."""
            cpu, begin = cpu_s(ui), time.monotonic()
            measured = measure()
            return (cpu_s(ui) - cpu) / (time.monotonic() - begin) * 100, measured

        def use(page):
            page.wait_until("landtraceLive.isConnected")
            page.wait_until("document.querySelectorAll('.event').length > 0")
            page.run("document.querySelector('.event input').click()")
            page.wait_until("document.getElementById('lines').innerText.includes(': load: ')")
            return share(lambda: page.run(UPDATES.replace("SECONDS", str(LIVE_S))))

        with_cpu, updates = with_page(address, use)
        time.sleep(1)  # until it has seen that nobody looks any more
        alone, _ = share(lambda: time.sleep(LIVE_S))
        return {"updates": updates, "looked_at": with_cpu, "alone": alone}


def main():
    measure = {"view": view, "live": live}[sys.argv[1]]
    print(*(f"{name} {value:.3f}" for name, value in measure(sys.argv[2]).items()))


main()
