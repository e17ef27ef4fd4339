"""tail, top and flame --pid: of programs that run already, and of these alone."""
import json
import signal
import subprocess

import support
from attaching import Attach
from support import PRODUCER

MINE, OTHERS = support.copied(PRODUCER, "mine"), support.copied(PRODUCER, "others")


class OfPrograms(Attach):
    """Two programs of a domain, each of which emits an event a millisecond."""

    def setUp(self):
        super().setUp()
        self.serve()
        self.mine, self.others = self.emitting(MINE, "job"), self.emitting(OTHERS, "other")
        # Both have events before somebody looks.
        look = self.start("tail", "--json")
        seen = set()
        while seen != {self.mine.pid, self.others.pid}:
            seen.add(json.loads(look.stdout.readline())["pid"])
        self.stop(look, signal.SIGINT)

    def emitting(self, program, event):
        return self.start("run", "--", program, "--event", event, "--count", 100000000, "--pause", 1000,
                          stdout=subprocess.DEVNULL)

    def end_of(self, process):  # pylint: disable=arguments-differ
        """Of one that ends by itself: the output that is not read yet."""
        out, err = process.stdout.read(), process.stderr.read()
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0, err)
        return out

    def test_tail_until_it_ends(self):
        process = self.start("tail", "--json", "--pid", self.mine.pid)
        lines = [process.stdout.readline() for _ in range(50)]
        self.mine.kill()
        lines += self.end_of(process).splitlines()
        self.assertEqual({(event["pid"], event["event"]) for event in map(json.loads, lines) if "lost" not in event},
                         {(self.mine.pid, "job")})

    def test_tail_of_several_until_the_last_ends(self):
        process = self.start("tail", "--json", "--pid", self.mine.pid, "--pid", self.others.pid)
        process.stdout.readline()
        self.mine.kill()
        self.mine.wait()
        self.others.kill()
        self.end_of(process)

    def test_top(self):
        for by, name in (("programs", f"mine ({self.mine.pid})"), ("events", "user_events:job")):
            def attempt(seconds):
                out = self.end_of(self.start("top", "--json", "--interval", seconds / 2, "--count", 5, "--by", by, "--pid",
                                             self.mine.pid))
                tables = [json.loads(line) for line in out.splitlines()]
                counted = {row["name"]: row["count"] for row in tables[-1]["by_" + by[:-1]] if row["count"] > 0}
                return counted and (counted, sum(table["events"] for table in tables))

            counted, events = self.given_time(attempt)
            self.assertEqual(counted, {name: events})

    def test_top_until_it_ends(self):
        process = self.start("top", "--interval", "0.1", "--pid", self.mine.pid)
        process.stdout.readline()
        self.mine.kill()
        self.assertIn("user_events:job", self.end_of(process))

    def test_flame(self):
        process = self.start("flame", "--pid", self.mine.pid)
        self.assertIn("watching", process.stderr.readline())
        self.assertIn("is attached", process.stderr.readline())
        # What it has seen by then is what it tells.
        self.start("tail", "-e", "job", "--json", "--pid", self.mine.pid).stdout.readline()
        self.mine.kill()
        lines = self.end_of(process).splitlines()
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertRegex(line, r"^mine;_start;.*;main;.* \d+$")

    def test_what_cannot_be(self):
        for command in ("tail", "top", "flame"):
            for words, status, said in ((("--pid", "x"), 2, "want the number of a process"),
                                        (("--pid", self.mine.pid, "--", "true"), 2, "not both"),
                                        (("--pid", 2**31 - 1), 1, "there is no process")):
                got, out, err = self.landtrace(command, *words)
                self.assertEqual((got, out), (status, ""), (command, words, err))
                self.assert_one_line(err, said)


class OfFunctions(Attach):
    """A program that knows nothing of tracing."""

    def setUp(self):
        super().setUp()
        self.serve()
        self.ticking = self.program("tick")

    def until_it_ends(self, *words):
        """What is said of calls of tick(), of which there are some."""
        process = self.start(*words, "-p", "tick number=$arg1", "--pid", self.ticking.pid)
        self.assertIn("watching", process.stderr.readline())
        self.assertIn("is attached", process.stderr.readline())
        # Probes come into the program in their order.
        look = self.start("tail", "-p", "tick number=$arg1", "--pid", self.ticking.pid)
        self.assertRegex(look.stdout.readline(), r" tick\w*: \(")
        self.ticking.stdin.close()
        self.ticking.wait(timeout=support.TIMEOUT_S)
        self.ticking.stdin = None
        out, err = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 0, err)
        return out

    def test_tail(self):
        self.assertRegex(self.until_it_ends("tail"), r"attached-\d+ .* tick: \(\w+\) number=0x[0-9a-f]+\n")

    def test_top(self):
        self.assertRegex(self.until_it_ends("top"), r" [\d,]+ +[\d.]+ \w+  \w+:tick\n")

    def test_flame(self):
        self.assertRegex(self.until_it_ends("flame"), r"(?m)^attached;_start;.*;tick \d+$")


if __name__ == "__main__":
    support.main_with_probes()
