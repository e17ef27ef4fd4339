"""Programs, owners and recorders that are killed while probes come and go."""
import json
import os
import random
import re
import signal
import subprocess

import support
from support import read_text

PROBED = support.copied(os.environ["PROBED"], "probed")
SOURCES = 40  # functions of libc whose patching wants the other threads out of the way


class Killed(support.Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(12)
        self.daemon = self.serve()

    def write(self, file, text):
        status, _, err = self.landtrace("write", "-a", file, text)
        self.assertEqual(status, 0, err)

    def read(self, file):
        status, out, err = self.landtrace("cat", file)
        self.assertEqual(status, 0, err)
        return out

    def functions(self, path):
        status, out, err = self.landtrace("functions", "--json", path)
        self.assertEqual(status, 0, err)
        return [json.loads(line) for line in out.splitlines()]

    def quiet_places(self):
        """Lines that define one event at many places, which are patched while other threads are kept out of them."""
        quiet = [function["name"] for function in self.functions("libc.so.6") if function["entry"] == "quiet"]
        return [f"p:k/quiet libc.so.6:{name}" for name in quiet[:SOURCES]] + [f"p:k/quiet {PROBED}:handle_request"]

    def kill_at_some_time(self, process, *words):
        """While `landtrace WORDS` is at work."""
        command = self.start(*words)
        try:
            command.wait(self.random.uniform(0, 0.03))
        except subprocess.TimeoutExpired:
            pass  # it is in the middle of it
        self.stop(process, signal.SIGKILL)
        command.communicate()

    def processes_of_domain(self):
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/environ", "rb") as environment:
                    if os.fsencode(self.folder) in environment.read():
                        found.append(os.readlink(f"/proc/{process}/exe"))
            except OSError:
                pass  # it has ended
        return found

    def code_of(self, process, function):
        """What stands there in the program now, and in its file."""
        line = next(line for line in read_text(f"/proc/{process.pid}/maps").splitlines() if line.endswith(PROBED))
        begin, offset = (int(word, 16) for word in re.match(r"(\w+)-\w+ \S+ (\w+)", line).groups())
        codes = []
        for file, at in ((f"/proc/{process.pid}/mem", begin - offset), (PROBED, 0)):
            with open(file, "rb") as bytes_:
                bytes_.seek(at + function["offset"])
                codes.append(bytes_.read(8))
        return codes


class Programs(Killed):
    def test_others_do_not_notice(self):
        expected = self.landtrace("run", "--", PROBED, "20000")[1]
        for line in self.quiet_places():
            self.write("uprobe_events", line)
        witness = self.start("run", "--", PROBED, "20000")
        for i in range(20):
            victim = self.start("run", "--", PROBED, "1000000")
            value = "10"[i % 2]
            self.kill_at_some_time(victim, "write", "events/k/quiet/enable", value)
            self.assertEqual(self.read("events/k/quiet/enable"), value + "\n")
        calling = self.start("run", "--", PROBED, "1000000")  # by now the witness may have ended
        self.write("events/k/quiet/enable", "1")
        before = self.hits()
        self.wait_until(lambda: self.hits() > before)
        self.stop(calling, signal.SIGKILL)
        self.write("events/k/quiet/enable", "0")
        status, out, err = witness.wait(), *witness.communicate()
        self.assertEqual((status, out), (0, expected), err)
        self.wait_until(lambda: PROBED not in self.processes_of_domain())

    def hits(self):
        return sum(int(line.split()[-1]) for line in self.read("uprobe_profile").splitlines())


class Owners(Killed):
    def test_the_next_one_goes_on_wherever_the_last_one_was(self):
        function = next(each for each in self.functions(PROBED) if each["name"] == "handle_request")
        lines = self.quiet_places()
        shown = None
        running = self.start("run", "--", PROBED, "1000000")
        self.wait_until(lambda: os.readlink(f"/proc/{running.pid}/exe") == PROBED)
        for i in range(10):
            if i % 2 == 0:
                self.kill_at_some_time(self.daemon, "write", "-a", "uprobe_events", "\n".join(lines))
            else:
                self.kill_at_some_time(self.daemon, "write", "events/k/quiet/enable", "1")
            self.daemon = self.serve()
            shown = self.read("uprobe_events").splitlines()
            self.assertEqual(shown, lines[:len(shown)])
            self.assertIsNone(running.poll())
            if len(shown) < len(lines):
                self.write("uprobe_events", "\n".join(lines[len(shown):]))
        self.write("events/k/quiet/enable", "1")
        self.wait_until(lambda: "quiet: " in self.read("trace"))
        self.write("events/k/quiet/enable", "0")
        self.wait_until(lambda: len(set(self.code_of(running, function))) == 1)
        self.assertIsNone(running.poll())

    def test_a_recorders_probes_are_not_the_next_ones(self):
        self.write("uprobe_events", f"p:k/own {PROBED}:handle_request")
        recorder = self.start_recording("-p", PROBED + ":countdown", "-p", PROBED + ":handle_request")
        self.wait_until(lambda: "probes/handle_request" in self.read("uprobe_events"))
        self.stop(self.daemon, signal.SIGKILL)
        self.stop(recorder, signal.SIGINT)
        self.daemon = self.serve()
        self.assertEqual(self.read("uprobe_events"), f"p:k/own {PROBED}:handle_request\n")


if __name__ == "__main__":
    support.main_with_probes()
