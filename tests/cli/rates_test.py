"""landtrace top: events and programs by how often they occur."""
import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

import support
from support import LANDTRACE, PRODUCER


class InAPipe(support.Case):
    def test_every_event_is_counted(self):
        status, out, err = self.landtrace("top", "--", PRODUCER, "--count", "5000", "--threads", "2")
        self.assertEqual((status, err), (0, "emitted 10000\n"))
        self.assertRegex(out.splitlines()[0], r"events/s  .* 0 lost$")
        self.assertRegex(out, r"\n +[\d,]+ +10,000 +\S+ \w+  user_events:job\n")
        status, out, _ = self.landtrace("top", "--by", "programs", "--", PRODUCER)
        self.assertRegex(out, r"\n +[\d,]+ +10 +\S+ \w+  producer \(\d+\)\n")

    def test_lines_of_json_add_up(self):
        process = self.start("top", "--json", "--interval", "0.1", "--", "sh", "-c",
                             f"{PRODUCER} --count 300 --pause 1000; read x; exit 0", stdin=subprocess.PIPE)
        tables = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        tables += map(json.loads, process.stdout)
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0, process.stderr.read())
        self.assertEqual(sum(table["events"] for table in tables), 300)
        self.assertEqual(sum(table["lost"] for table in tables), 0)
        self.assertEqual(tables[-1]["by_event"], [{"name": "user_events:job", "events": tables[-1]["events"],
                                                   "bytes": tables[-1]["bytes"], "count": 300}])
        self.assertEqual(sum(table["bytes"] for table in tables), 300 * 8)

    def test_so_many_tables_of_a_domain(self):
        self.serve()
        status, out, _ = self.landtrace("top", "--count", "3", "--interval", "0.05")
        self.assertEqual((status, out.count("PER SECOND")), (0, 3))

    def test_loss_is_in_it(self):
        process = self.start("top", "--json", "--buffer-size", "256K", "--interval", "0.01", "--", "sh", "-c",
                             f"{PRODUCER} --count 100000 >{self.folder}/count; read x", stdin=subprocess.PIPE)
        self.wait_until(lambda: os.path.exists(self.folder + "/count") and support.read_text(self.folder + "/count"))
        process.stdin.close()
        process.stdin = None
        out, _ = process.communicate(timeout=support.TIMEOUT_S)
        tables = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(sum(table["events"] + table["lost"] for table in tables), 100000)

    def test_a_reader_that_goes_away(self):
        process = self.start("top", "--interval", "0.02", "--", "sleep", "1000")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0)

    def test_what_cannot_be(self):
        for words in (["--by", "x"], ["--sort", "x"], ["--interval", "0"], ["--count", "-1"], ["--rows", "x"]):
            self.assertEqual(self.landtrace("top", *words, "--", "true")[0], 2, words)
        self.assertEqual(self.landtrace("top", "--", "no-such-program")[0], 127)
        status, _, err = self.landtrace("top", "-e", "jbo", "--", PRODUCER)
        self.assertEqual(status, 1)
        self.assertIn("did you mean user_events:job?", err)


class OnATerminal(support.Case):
    """A person who looks and types."""

    def open(self, *words, columns=80, rows=24):
        self.leader, self.follower = os.openpty()
        self.addCleanup(os.close, self.leader)
        self.addCleanup(os.close, self.follower)
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(self.follower)

        def lead():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([LANDTRACE, "top", *words], stdin=self.follower, stdout=self.follower,
                                        stderr=self.follower, cwd=self.folder, preexec_fn=lead,
                                        env={**self.environment, "TERM": "xterm"})
        self.addCleanup(support.end, self.process)
        self.seen = ""

    def resize(self, columns, rows):
        fcntl.ioctl(self.follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def more(self):
        if select.select([self.leader], [], [], 0.05)[0]:
            self.seen += os.read(self.leader, 65536).decode(errors="replace")

    def screen(self):
        """What was drawn last, whole."""
        parts = self.seen.split("\x1b[H")
        whole = [part for part in parts[1:] if part.endswith("\x1b[J") or "\x1b[J" in part]
        return re.sub(r"\x1b\[\?\d+[hl]", "", whole[-1].split("\x1b[J")[0]).replace("\x1b[K", "").replace("\r", "") if whole else ""

    def wait_for(self, pattern):
        end_time = time.monotonic() + support.TIMEOUT_S
        while not re.search(pattern, self.screen()):
            self.assertLess(time.monotonic(), end_time, f"{pattern}: {self.seen[-2000:]!r}")
            self.more()

    def type(self, text):
        os.write(self.leader, text.encode())

    def ends(self, status=0):
        end_time = time.monotonic() + support.TIMEOUT_S
        while self.process.poll() is None:
            self.assertLess(time.monotonic(), end_time, "waited in vain")
            self.more()
        while select.select([self.leader], [], [], 0)[0]:
            self.more()
        self.assertEqual(self.process.returncode, status)
        self.assertEqual(termios.tcgetattr(self.follower), self.modes, "the terminal is as it was")
        self.assertEqual(self.seen.count("\x1b[?1049h"), self.seen.count("\x1b[?1049l"))
        self.assertGreater(self.seen.rfind("\x1b[?25h"), self.seen.rfind("\x1b[?25l"))

    def busy(self, *options):
        self.open("--interval", "0.05", *options, "--", "sh", "-c",
                  f"{PRODUCER} --count 1000000 --pause 1000 & {PRODUCER} --event other --count 1000000 --pause 1000; wait")

    def test_keys_switch_sort_and_search(self):
        self.busy()
        self.wait_for(r"EVENT\n(.*\n)*.*[1-9] .*user_events:job")
        self.assertNotIn("emitted", self.seen, "what the command says is not in the picture")
        self.type("\t")
        self.wait_for(r"programs by rate.*\n.*\n.*PROGRAM\n(.*\n)*.*producer \(\d+\)")
        self.type("e")
        self.wait_for(r"events by rate")
        self.type("s")
        self.wait_for(r"events by count")
        self.type("/OTH")
        self.wait_for(r"/OTH_")
        self.type("\n")
        self.wait_for(r"with 'OTH'.*\n.*\n.*EVENT\n.*user_events:other$")
        self.type("\x1b")
        self.wait_for(r"user_events:job")
        self.type("q")
        self.ends()

    def test_a_small_terminal_and_one_that_changes(self):
        self.busy()
        for columns, rows in ((30, 8), (100, 30), (30, 3), (12, 5), (80, 24)):
            self.resize(columns, rows)
            self.wait_for(rf"^(?=.{{{min(columns, 50) - 8},}})")
            lines = self.screen().split("\n")
            end_time = time.monotonic() + support.TIMEOUT_S
            while max(map(len, lines)) > columns or len(lines) > rows:
                self.assertLess(time.monotonic(), end_time, lines)
                self.more()
                lines = self.screen().split("\n")
        self.type("q")
        self.ends()

    def test_it_ends_well_however_it_ends(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.open("--interval", "0.05", "--", "sleep", "1000")
            self.wait_for("EVENT")
            self.process.send_signal(number)
            self.ends(128 + number)
        self.open("--interval", "0.05", "--", "sleep", "1000")
        self.wait_for("EVENT")
        self.type("\x03")
        self.ends(130)
        self.open("--interval", "0.05", "--", "sh", "-c", "until [ -e seen ]; do sleep 0.02; done; kill -SEGV $$")
        self.wait_for("EVENT")
        open(os.path.join(self.folder, "seen"), "w").close()
        self.ends(139)

    def test_what_goes_wrong_is_said_on_the_terminal_as_it_was(self):
        self.open("--", "no-such-program")
        self.ends(127)
        self.assertIn("no-such-program", self.seen[self.seen.rfind("\x1b[?1049l"):])


if __name__ == "__main__":
    unittest.main()
