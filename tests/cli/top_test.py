"""landtrace top-functions: which functions are called most, and how long they take."""
import json
import os
import re
import signal
import subprocess
import time

import support
from support import LANDTRACE, needs_root

PROBED = support.copied(os.environ["PROBED"], "probed")
STATIC = support.copied(os.environ["PROBED_STATIC"], "probed_static")


class Top(support.Case):
    def top(self, *words):
        """By function, and the whole."""
        status, out, err = self.landtrace("top-functions", "--json", *words)
        self.assertEqual(status, 0, err)
        whole = json.loads(out.splitlines()[-1])
        return {row["function"]: row for row in whole["functions"]}, whole

    def refused(self, *words, status=1):
        found, out, err = self.landtrace("top-functions", *words)
        self.assertEqual((found, out), (status, ""), err)
        self.assert_one_line(err)
        return err


class Counting(Top):
    def test_all_functions_of_the_program(self):
        rows, whole = self.top("--", PROBED, "50")
        self.assertEqual((rows["handle_request"]["calls"], rows["shop::Server::run(int)"]["calls"]), (50, 1))
        self.assertEqual(rows["countdown"]["calls"], 5)
        self.assertEqual(whole["calls"], sum(row["calls"] for row in rows.values()))
        self.assertNotIn("_start", rows)

    def test_times(self):
        rows, _ = self.top("--", PROBED, "20")
        request, run = rows["handle_request"], rows["shop::Server::run(int)"]
        self.assertEqual(request["measured"], 20)
        self.assertGreater(request["mean_ns"], 100_000)
        self.assertAlmostEqual(request["mean_ns"] * 20, request["total_ns"], delta=20)
        self.assertLessEqual(request["mean_ns"], request["max_ns"])
        self.assertLessEqual(request["max_ns"], request["total_ns"])
        self.assertGreaterEqual(run["total_ns"], request["total_ns"])  # it calls it
        self.assertEqual(run["max_ns"], run["total_ns"])
        # Calls within calls are measured, too.
        self.assertEqual((rows["countdown"]["calls"], rows["countdown"]["measured"]), (5, 5))

    def test_functions_by_pattern_and_of_a_library(self):
        rows, whole = self.top("libc.so.6:usl*p", "probed:handle_*", "--", PROBED, "7")
        self.assertEqual({name: row["calls"] for name, row in rows.items()}, {"usleep": 7, "handle_request": 7})
        self.assertEqual(rows["handle_request"]["object"], PROBED)
        self.assertLessEqual(whole["watched"], 4)

    def test_processes_with_other_addresses_are_added_up(self):
        rows, _ = self.top("handle_request", "--", PROBED, "6", "exec")
        self.assertEqual(rows["handle_request"]["calls"], 12)

    def test_the_order(self):
        status, out, err = self.landtrace("top-functions", "--sort", "max", "--rows", "2", "--", PROBED, "9")
        self.assertEqual(status, 0, err)
        table = out.splitlines()
        names = [line.split()[-1] for line in table if re.match(r" *\d+ .* (ns|us|ms|s)  \S+$", line)]
        self.assertEqual(len(names), 2)
        self.assertIn("main", names)
        self.assertIn("and ", table[-2] + table[-1])

    def test_a_table_in_a_pipe(self):
        status, out, err = self.landtrace("top-functions", "handle_*", "--", PROBED, "9")
        self.assertEqual((status, err), (0, ""))
        lines = [line for line in out.splitlines() if not line.endswith(" " + "45")]
        head = next(i for i, line in enumerate(lines) if line.startswith("9 calls of 1 of 1 functions"))
        self.assertEqual(lines[head + 1].split(), ["calls", "total", "mean", "p50", "p99", "max", "function"])
        self.assertRegex(lines[head + 2], r"^ +9 .* (us|ms)  handle_request$")

    def test_a_reader_that_goes_away(self):
        process = subprocess.run(["sh", "-c", '"$0" top-functions --interval 0.1 -- "$1" 5000 | head -1', LANDTRACE, PROBED],
                                 env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=support.TIMEOUT_S)
        self.assertEqual(process.stderr, "")


class Watching(support.OnTerminal, Top):
    rows, columns = 8, 40

    def test_a_running_domain_until_interrupted(self):
        self.serve()
        process = self.start("top-functions", PROBED + ":handle_request", "--json")
        process.stderr.readline()  # that it watches, when it has begun to count
        self.assertIn("top_returns", self.landtrace("cat", "uprobe_events")[1])
        self.assertEqual(self.landtrace("run", "--", PROBED, "11")[0], 0)
        time.sleep(0.1)
        status, out, err = self.stop(process, signal.SIGINT)
        self.assertEqual(status, 0, err)
        self.assertEqual(json.loads(out)["functions"][0]["calls"], 11)
        self.assertEqual(self.landtrace("cat", "uprobe_events", "synthetic_events")[1], "")

    def test_on_a_small_terminal(self):
        def are_two_drawn(output):
            whole = output.split(b"\033[H\033[2J")[1:-1]
            return len(whole) >= 2 and b"handle_request" in whole[-1]

        status, out = self.on_terminal(LANDTRACE, "top-functions", "--interval", "0.2", "handle_*", "countdown", "main",
                                       "--", PROBED, "100000000", stop_when=are_two_drawn)
        self.assertEqual(status, 130)
        screens = out.split("\033[H\033[2J")
        for screen in screens[1:-1]:
            lines = screen.split("\n")
            self.assertLess(len(lines), self.rows + 1, screen)
            self.assertLessEqual(max(map(len, lines)), self.columns, screen)
        self.assertIn("handle_request", screens[-2])

    @needs_root
    def test_without_any_rights(self):
        os.chmod(self.folder, 0o777)
        words = [*support.AS_NOBODY, LANDTRACE, "top-functions", "--json",
                 "--", PROBED, "5"]
        process = self.start_program(*words)
        out, err = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn('"function":"handle_request"', out)


class Mistakes(Top):
    def test_what_is_not_there(self):
        self.assertIn("no function of " + PROBED + " matches 'handle_reqest*'",
                      self.refused("handle_reqest*", "--", PROBED))
        self.assertIn("did you mean libc.so.6", self.refused("libc.so.7:*", "--", PROBED))
        self.assertIn("/nonexistent: No such file", self.refused("--", "/nonexistent"))
        self.assertIn("linked statically", self.refused("--", STATIC))

    def test_too_many(self):
        err = self.refused("libc.so.6:*", "--", PROBED)
        self.assertRegex(err, r"\d,\d{3} functions of \S*libc.so.6 match, more than 2000: name some of them")
        self.assertIn("more than 3", self.refused("--limit", "3", "--", PROBED))

    def test_what_makes_no_sense(self):
        for words in (["--sort", "name", "--", PROBED], ["--limit", "0", "--", PROBED], ["f%return", "--", PROBED], []):
            self.refused(*words, status=2)

    def test_the_commands_status_is_passed_on(self):
        self.assertEqual(self.landtrace("top-functions", "libc.so.6:getppid", "--", "sh", "-c", "exit 7")[0], 7)


if __name__ == "__main__":
    support.main_with_probes()
