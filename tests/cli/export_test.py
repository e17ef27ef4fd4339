"""landtrace export: recordings in other formats, read by others' programs."""
import csv
import io
import json
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import time
import unittest

import support
from support import PRODUCER, needs


class Export(support.Case):
    def exported(self, *words, file=None):
        """Its last line."""
        status, out, err = self.landtrace("export", file or self.file, *words)
        self.assertEqual((status, out), (0, ""), err)
        return err.splitlines()[-1]

    def run_in_folder(self, *words, **options):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=support.TIMEOUT_S, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode(errors="replace")


@needs("perf")
class Perf(Export):
    def script(self, *words):
        # It takes names of functions from the files; none of the user's settings.
        return self.run_in_folder("perf", "script", *words, env=dict(os.environ, HOME=self.folder))

    def test_every_event_with_its_thread_and_fields(self):
        self.record("--abi")
        self.assertEqual(self.exported("--format", "perf"), "landtrace: 10 events in perf.data")
        lines = self.script().splitlines()
        self.assertEqual(len(lines), 10)
        ours = [line for line in self.report().splitlines() if not line.startswith("#")]
        for line, our in zip(lines, ours):
            comm, pid, cpu, time, name, fields = re.fullmatch(
                r" *(\S+) +(\d+) \[(\d+)\] +([\d.]+): user_events:(\w+): (.*)", line).groups()
            self.assertRegex(our, rf"{comm}-{pid} +\[{cpu}\] \.{{5}} +[\d.]+: {name}: ")
            self.assertAlmostEqual(float(time), float(re.search(r" ([\d.]+): ", our)[1]), delta=2e-6)
            self.assertEqual(re.findall(r"sequence=(\d+)", fields), re.findall(r"sequence=(?:0x\w+ \()?(\d+)", our))

    def test_only_what_is_wanted(self):
        self.record("--abi")
        self.assertEqual(self.exported("--format", "perf", "-e", "job", "--limit", "3"), "landtrace: 3 events in perf.data")
        self.assertEqual(len(self.script().splitlines()), 3)
        status, _, err = self.landtrace("export", self.file, "--format", "perf", "-e", "jbo")
        self.assertEqual(status, 1)
        self.assertIn("did you mean user_events:job?", err)

    def test_through_a_pipe(self):
        self.record("--abi")
        pipe = subprocess.Popen([support.LANDTRACE, "export", self.file, "--format", "perf", "-o", "-"], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(pipe.stderr.close)
        out = self.run_in_folder("perf", "script", "-i", "-", stdin=pipe.stdout)
        pipe.stdout.close()
        self.assertEqual(pipe.wait(timeout=support.TIMEOUT_S), 0)
        self.assertEqual(len(out.splitlines()), 10)

    def test_names_that_perf_cannot_read(self):
        """A single one would keep it from reading the file."""
        names = ["ev-dash", "ev,dash", "ev_dash", 'ev"quote', "ev=sign", "ev\x1b[31m", "\xe9t\xe9", "a&b", "0digit"]
        self.record_emitted(*((f"{name} u32 x-y;u32 x_y;struct a-b 0.z 4", struct.pack("=III", 1, 2, 3)) for name in names))
        self.exported("--format", "perf")
        lines = re.findall(r"user_events:(\S+): +(.*)", self.script())
        self.assertEqual([name for name, _ in lines], ["ev_dash", "ev_dash_", "ev_dash__", "ev_quote", "ev_sign", "ev__31m", "__t__",
                                                      "a_b", "0digit"])
        self.assertEqual({fields for _, fields in lines}, {lines[0][1]})
        self.assertRegex(lines[0][1], "^x_y=1 x_y_=2 0_z=")
        # The recording has the true ones.
        self.assertEqual([event["event"] for event in self.report_json()[0]], names)

    def test_stacks_have_the_functions_of_their_objects(self):
        program = shutil.copy(os.environ["STACK_PROGRAM"], os.path.join(self.folder, "stacks"))
        self.assertEqual(self.landtrace("record", "-o", self.file, "--", program)[0], 0)
        self.exported("--format", "perf")
        frames = [line.split() for line in self.script("-F", "comm,ip,sym,dso").splitlines() if line.startswith("\t")]
        self.assertEqual((frames[0][1], frames[0][2]), ("innermost_function", f"({program})"))
        names = [frame[1] for frame in frames]
        self.assertLess(names.index("sorting_function"), names.index("main"))
        self.assertEqual(names[-1], "_start")
        self.assertIn("libc.so.6", " ".join(frame[2] for frame in frames))

    def test_converted_further(self):
        self.record("--abi")
        self.exported("--format", "perf")
        self.run_in_folder("perf", "data", "convert", "--to-json", "out.json")
        self.assertEqual(support.read_text(f"{self.folder}/out.json").count('"timestamp"'), 10)
        self.run_in_folder("perf", "data", "convert", "--to-ctf", "out.ctf")

    def test_an_empty_recording(self):
        self.landtrace("record", "-o", self.file, "--", "true")
        self.assertEqual(self.exported("--format", "perf"), "landtrace: 0 events in perf.data")
        self.assertEqual(self.run_in_folder("perf", "script"), "")


class Text(Export):
    """What goes to standard output."""

    def text(self, form, *words, said=""):
        status, out, err = self.landtrace("export", self.file, "--format", form, *words)
        self.assertEqual((status, err), (0, said))
        return out

    def record_stacks(self):
        program = shutil.copy(os.environ["STACK_PROGRAM"], os.path.join(self.folder, "stacks"))
        self.assertEqual(self.landtrace("record", "-o", self.file, "--", program)[0], 0)

    def record_requests(self):
        self.assertEqual(self.landtrace("record", "-o", self.file, "--", os.environ["REQUESTS"])[0], 0)

    def test_a_table(self):
        self.record("--text", 'a "b", c\nd')
        rows = list(csv.DictReader(io.StringIO(self.text("csv"), newline="")))
        events, _ = self.report_json()
        self.assertEqual(len(rows), 10)
        for row, event in zip(rows, events):
            self.assertEqual(row.pop("time").replace(".", ""), str(event["time"]))
            self.assertEqual(row.pop("event"), event["system"] + ":" + event["event"])
            self.assertEqual((row.pop("pid"), row.pop("tid")), (str(event["tgid"]), str(event["pid"])))
            self.assertEqual((row.pop("cpu"), row.pop("comm"), row.pop("lost")), (str(event["cpu"]), event["comm"], ""))
            self.assertEqual(row, {name: str(value) for name, value in event["fields"].items()})
        self.assertIn('a "b", c\nd', rows[0].values())

    def test_what_a_table_has_of_odd_texts_and_numbers(self):
        texts = [b"=1+1", b"\xff\xfe bad \xc3", "\xe9t\xe9, \u2028".encode(), b'"q"\r\n\x1b']
        reals = [math.inf, -math.inf, math.nan, -math.nan]
        self.record_emitted(*(("odd char[16] text;struct double d 8;struct float f 4", struct.pack("=16sdf", text, real, real))
                              for text, real in zip(texts, reals)), comm="\udcff")
        out = os.path.join(self.folder, "out.csv")
        self.assertEqual(self.landtrace("export", self.file, "--format", "csv", "-o", out)[0], 0)
        with open(out, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["text"] for row in rows], ["=1+1", "\ufffd\ufffd bad \ufffd", "\xe9t\xe9, \u2028", '"q"\r\n\x1b'])
        for name in "df":
            self.assertEqual([row[name] for row in rows], ["inf", "-inf", "nan", "nan"])
        self.assertEqual({row["comm"] for row in rows}, {"\ufffd"})

    def test_a_column_for_each_field_of_any_event(self):
        self.record_requests()
        rows = list(csv.DictReader(io.StringIO(self.text("csv"), newline="")))
        starts = [row for row in rows if row["event"] == "user_events:req_start"]
        self.assertEqual((len(rows), len(starts)), (2000, 1000))
        self.assertEqual({row["route"] for row in starts}, {""})
        self.assertEqual({row["route"] for row in rows}, {"", "/", "/login", "/search"})

    def test_lines_of_json(self):
        self.record()
        self.assertEqual(self.text("json"), self.report("--json"))

    def test_stacks_in_each_format(self):
        self.record_stacks()
        folded = self.text("folded")
        match = re.fullmatch(r"stacks;_start;(.*;)?main;(.*;)?sorting_function;(.*;)?innermost_function 1\n", folded)
        self.assertIsNotNone(match, folded)
        functions = folded.split(" ")[0].split(";")[1:]
        (line,) = [json.loads(line) for line in self.text("json").splitlines()]
        self.assertEqual(line["stack"]["caller"][0]["function"], "innermost_function")
        (row,) = csv.DictReader(io.StringIO(self.text("csv"), newline=""))
        self.assertEqual(row["stack"].split(";"), functions)
        scope = json.loads(self.text("speedscope"))
        self.assertEqual(scope["$schema"], "https://www.speedscope.app/file-format-schema.json")
        (profile,) = scope["profiles"]
        names = [scope["shared"]["frames"][frame]["name"] for frame in profile["samples"][0]]
        self.assertEqual((names, profile["weights"], profile["endValue"]), (functions, [1], 1))
        trace = json.loads(self.text("chrome"))
        (event,) = [event for event in trace["traceEvents"] if event["ph"] == "i"]
        names, frame = [], trace["stackFrames"][event["sf"]]
        while frame:
            names.insert(0, frame["name"])
            frame = trace["stackFrames"].get(frame.get("parent"))
        self.assertEqual(names, functions)

    def test_events_without_stacks_are_counted_by_name(self):
        self.record_requests()
        lines = self.text("folded").splitlines()
        self.assertEqual([line.split(";")[1] for line in lines], ["user_events:req_done 1000", "user_events:req_start 1000"])
        scope = json.loads(self.text("speedscope"))
        self.assertEqual([profile["endValue"] for profile in scope["profiles"]], [1000, 1000])

    def test_chrome(self):
        self.record_requests()
        trace = json.loads(self.text("chrome", "--span", "req_start,req_done,id", "--counter", "req_start.id"))
        of = {phase: [event for event in trace["traceEvents"] if event["ph"] == phase] for phase in "iCMbsfeX"}
        self.assertEqual({phase: len(events) for phase, events in of.items()},
                         {"i": 2000, "C": 1000, "M": 4, "b": 1000, "s": 1000, "f": 1000, "e": 1000, "X": 0})
        starts = {event["args"]["id"]: event for event in of["i"] if event["name"] == "req_start"}
        dones = {event["args"]["id"]: event for event in of["i"] if event["name"] == "req_done"}
        ends = {event["id"]: event for event in of["e"]}
        for begin in of["b"]:
            key = int(begin["args"]["id"])
            self.assertEqual((begin["ts"], begin["pid"]), (starts[key]["ts"], starts[key]["pid"]))
            self.assertEqual((ends[begin["id"]]["ts"], ends[begin["id"]]["pid"]), (dones[key]["ts"], begin["pid"]))
        self.assertEqual({event["pid"] for event in of["f"]}, {dones[0]["pid"]}, "the arrow leads to the other process")
        self.assertEqual([event["args"]["value"] for event in of["C"]], list(range(1000)))
        self.assertEqual({event["name"] for event in of["M"]}, {"process_name", "thread_name"})

    def test_spans_of_one_thread_are_in_its_lane(self):
        self.record()
        trace = json.loads(self.text("chrome", "--span", "job,job",
                                     said="landtrace: spans without an end: 1; ends without a begin: 0\n"))
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        times = [event["ts"] for event in trace["traceEvents"] if event["ph"] == "i"]
        self.assertEqual([span["ts"] for span in spans], times[:-1])
        for span, end in zip(spans, times[1:]):
            self.assertAlmostEqual(span["ts"] + span["dur"], end, places=2)

    def test_calls_of_calls_are_nested(self):
        """enter, enter, leave, leave: the end of the inner one is not that of the outer."""
        order = ["enter", "enter", "leave", "enter", "leave", "leave"]
        self.record_emitted(*((name, b"") for name in order))
        trace = json.loads(self.text("chrome", "--span", "enter,leave"))
        times = [event["ts"] for event in trace["traceEvents"] if event["ph"] == "i"]
        spans = [event for event in trace["traceEvents"] if event["ph"] in "Xb"]
        self.assertEqual([(span["ph"], span["ts"]) for span in spans], [("X", times[i]) for i in (1, 3, 0)])
        for span, end in zip(spans, (2, 4, 5)):
            self.assertAlmostEqual(span["ts"] + span["dur"], times[end], places=2)

    def test_rules_that_do_not_fit(self):
        self.record_requests()
        for words, said in ((["chrome", "--span", "req_strt,req_done,id"], "did you mean user_events:req_start?"),
                            (["chrome", "--span", "req_start,req_done,route"], "req_start has no field 'route'"),
                            (["chrome", "--span", "req_start"], "want FROM,TO,KEY"),
                            (["chrome", "--counter", "req_start.ix"], "has no field 'ix'"),
                            (["chrome", "--counter", "req_start"], "want EVENT.FIELD"),
                            (["chrome", "--counter", "req_done.route"], "--counter: user_events:req_done.route is no number"),
                            (["perfetto", "-o", "-", "--counter", "req_start.cpu"], "req_start has no field 'cpu'"),
                            (["chrome", "--span", "req_start,req_done,common_pid"], "has no field 'common_pid'"),
                            (["csv", "--counter", "req_start.id"], "perfetto and chrome have")):
            status, out, err = self.landtrace("export", self.file, "--format", *words)
            self.assertIn(status, (1, 2), words)
            self.assertEqual(out, "")
            self.assertIn(said, err)

    def test_what_does_not_fit_ends_a_recording_as_soon_as_it_is_known(self):
        for rule, said in (("req_done.route", "--counter: user_events:req_done.route is no number; the recording ends here\n"),
                           ("req_done.rout", "has no field 'rout'")):
            status, out, err = self.landtrace("record", "--format", "chrome", "-o", "-", "--counter", rule, "--", os.environ["REQUESTS"])
            self.assertEqual(status, 1)
            self.assertIn(said, err)
            self.assertNotIn('"ph":"C"', out)

    def test_counters_are_of_finite_numbers(self):
        reals = [0.5, math.inf, -math.inf, math.nan, -2]
        self.record_emitted(*(("sample struct double v 8; struct float f 4; u8 b", struct.pack("=dfB", value, value, 1)) for value in reals))
        said = ["--counter", "sample.v", "--counter", "sample.f", "--counter", "sample.b"]
        trace = json.loads(self.text("chrome", *said))
        values = {name: [event["args"]["value"] for event in trace["traceEvents"] if event["ph"] == "C" and event["name"].endswith(name)]
                  for name in (".v", ".f", ".b")}
        self.assertEqual(values, {".v": [0.5, -2], ".f": [0.5, -2], ".b": [1] * 5})

    def test_a_reader_that_goes_away(self):
        self.record("--count", "20000")
        process = self.start("export", self.file, "--format", "csv")
        self.assertTrue(process.stdout.readline().startswith("time,cpu,"))
        process.stdout.close()
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0)
        self.assertEqual(process.stderr.read(), "")

    def test_what_was_lost_stands_where_it_is_missing(self):
        self.landtrace("record", "--buffer-size", "4K", "--overwrite", "-o", self.file, "--", PRODUCER, "--count", "20000")
        _, lost = self.report_json()
        self.assertGreater(lost, 0)
        rows = list(csv.DictReader(io.StringIO(self.text("csv"), newline="")))
        self.assertEqual(sum(int(row["lost"] or 0) for row in rows), lost)
        trace = json.loads(self.text("chrome"))
        self.assertEqual(sum(event["args"]["events"] for event in trace["traceEvents"] if event["name"] == "lost"), lost)
        status, _, err = self.landtrace("export", self.file, "--format", "folded")
        self.assertEqual((status, err), (0, f"landtrace: {lost} events were lost, and are in no count\n"))


class Chosen(Export):
    """The options that report and export share."""

    def setUp(self):
        super().setUp()
        self.assertEqual(self.landtrace("record", "-o", self.file, "--", os.environ["REQUESTS"])[0], 0)

    def rows(self, *words):
        status, out, err = self.landtrace("export", self.file, "--format", "csv", *words)
        self.assertEqual((status, err), (0, ""))
        rows = list(csv.DictReader(io.StringIO(out, newline="")))
        self.assertEqual(len(rows), len(self.report_json(*words)[0]), "as report has it")
        return rows

    def test_by_filter(self):
        rows = self.rows("--filter", 'route == "/login" && id < 100')
        self.assertEqual([int(row["id"]) for row in rows], list(range(1, 100, 3)))
        self.assertEqual(len(self.rows("--filter", "id == 5")), 2)
        for command in (("report", self.file), ("export", self.file, "--format", "csv")):
            for expression, said in (("id == 5 && nosuch == 1", "Field not found"), ("id ==", "")):
                status, out, err = self.landtrace(*command, "--filter", expression)
                self.assertIn(status, (1, 2))
                self.assertEqual(out, "")
                self.assertIn(said, err)
                self.assertIn("--filter: ", err)
                self.assertIn("^", err)

    def test_a_file_behind_an_option_is_none_of_its_values(self):
        os.rename(self.file, self.folder + "/requests.dat")
        for words in (["--comm", "example*"], ["--fields", "id"], ["--comm", "a,example*", "--comm", "b"]):
            status, out, err = self.landtrace("report", "--json", *words, "requests.dat")
            self.assertEqual((status, len(out.splitlines())), (0, 2000), err)

    def test_by_who(self):
        events, _ = self.report_json()
        pids = sorted({event["tgid"] for event in events})
        self.assertEqual(len(pids), 2)
        for pid in pids:
            self.assertEqual({row["pid"] for row in self.rows("--pid", str(pid))}, {str(pid)})
            self.assertEqual({row["tid"] for row in self.rows("--tid", str(pid))}, {str(pid)})
        self.assertEqual(len(self.rows("--pid", ",".join(map(str, pids)))), 2000)
        self.assertEqual(len(self.rows("--comm", "example*")), 2000)
        self.assertEqual(self.rows("--comm", "other"), [])
        cpus = {event["cpu"] for event in events}
        self.assertEqual(sum(len(self.rows("--cpu", str(cpu))) for cpu in cpus), 2000)

    def test_a_filter_for_an_event_that_comes_later(self):
        self.file = os.path.join(self.folder, "late.dat")
        recorder = self.start("record", "-o", self.file, "--", "sh", "-c",
                              f"{os.environ['REQUESTS']}; until [ -e {self.folder}/go ]; do sleep 0.02; done; "
                              f"{PRODUCER} --count 10")
        self.wait_until(lambda: os.path.exists(self.file) and "req_start" in self.landtrace("report", self.file)[1])
        status, _, err = self.landtrace("report", self.file, "--filter", "sequence >= 5")
        self.assertEqual(status, 1)
        self.assertIn("Field not found", err)
        follower = self.start("report", "--follow", self.file, "--filter", "sequence >= 5")
        open(f"{self.folder}/go", "w", encoding="utf-8").close()
        self.assertEqual(recorder.wait(timeout=support.TIMEOUT_S), 0)
        out, err = follower.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual((follower.returncode, err, out.count(" job: ")), (0, "", 5))

    def test_a_stack_goes_with_its_event(self):
        self.landtrace("record", "-o", self.file, "-e", "job", "--trigger", "stacktrace", "--", PRODUCER, "--abi")
        self.assertEqual(self.report().count("<user stack trace>"), 10)
        shown = self.report("--filter", "sequence >= 7")
        self.assertEqual((shown.count(" job: "), shown.count("<user stack trace>")), (3, 3))

    def test_counts(self):
        self.assertEqual(self.report("--count"), "       1,000 user_events:req_done\n       1,000 user_events:req_start\n")
        self.assertEqual(self.report("--count", "--filter", "id < 10", "-e", "req_done"), "          10 user_events:req_done\n")

    def test_times(self):
        times = [float(re.search(r" ([\d.]+): ", line)[1]) for line in self.report("--relative").splitlines()
                 if not line.startswith("#")]
        gaps = [float(re.search(r" ([\d.]+): ", line)[1]) for line in self.report("--delta").splitlines()
                if not line.startswith("#")]
        self.assertEqual((times[0], gaps[0]), (0, 0))
        self.assertEqual(times, sorted(times))
        self.assertAlmostEqual(sum(gaps), times[-1], delta=2000 * 1e-6)


class Files(Export):
    def test_an_older_file_is_kept(self):
        self.record()
        self.exported("--format", "perf")
        self.assertEqual(self.exported("--format", "perf", "-e", "job"),
                         "landtrace: 10 events in perf.data; what was there is perf.data.old")
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if "perf" in name),
                         ["perf.data", "perf.data.old"])

    def test_what_cannot_be(self):
        self.record()
        before = os.stat(self.file)
        for words, said in ((["--format", "nosuch"], "want one of perf"),
                            (["--format", "perf", "-o", self.file], "the recording itself"),
                            (["--format", "perf", "-o", self.folder], "folder"),
                            (["--format", "perf", "-o", "/nosuch/file"], "No such file")):
            status, out, err = self.landtrace("export", self.file, *words)
            self.assertIn(status, (1, 2))
            self.assertEqual(out, "")
            self.assert_one_line(err, said)
        self.assertEqual(os.stat(self.file).st_mtime_ns, before.st_mtime_ns)
        status, _, err = self.landtrace("export", f"{self.folder}/nosuch.dat", "--format", "perf")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "nosuch.dat", "No such file")
        self.assertFalse(os.path.exists(f"{self.folder}/perf.data"))

    def test_a_full_disk_leaves_nothing(self):
        self.record()
        if not os.path.exists("/dev/full"):
            self.skipTest("SKIPPED: no /dev/full here")
        status, _, err = self.landtrace("export", self.file, "--format", "perf", "-o", "/dev/full")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "/dev/full", "No space left")

    def test_one_that_is_killed_leaves_nothing(self):
        self.record("--count", "100000")
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_WRONLY))
        except OSError:
            self.skipTest("SKIPPED: no files without names here")
        for i in range(10):
            process = self.start("export", self.file, "--format", "chrome", "-o", "t.json")
            time.sleep(0.004 * i)
            process.kill()
            process.wait()
            self.assertNotIn("t.json.partial", os.listdir(self.folder))

    def test_a_recording_that_is_not_finished(self):
        recorder = self.start("record", "-o", self.file, "--", "sh", "-c",
                              f"echo $$; exec {PRODUCER} --abi --count 1000000 --pause 100")
        producer = int(recorder.stdout.readline())
        self.addCleanup(os.kill, producer, signal.SIGKILL)
        self.wait_until(lambda: os.path.exists(self.file) and "job" in self.landtrace("export", self.file, "--format", "csv")[1])
        status, out, err = self.landtrace("export", self.file, "--format", "csv")
        self.assertEqual((status, err), (0, f"landtrace: {self.file} is still being recorded\n"))
        recorder.kill()
        recorder.wait()
        status, out, err = self.landtrace("export", self.file, "--format", "csv")
        self.assertEqual(status, 0)
        self.assertGreater(out.count("job"), 0)
        self.assertIn("was not finished by its recorder; `landtrace recover", err)

    def test_options_that_are_mistyped_or_missing(self):
        self.record()
        for words, said in (([self.file], "--format is required: one of perf"),
                            ([self.file, "--fromat", "csv"], "unknown option '--fromat'; did you mean --format"),
                            ([self.file, "--format", ""], "--format: want NAME, not an empty word")):
            status, out, err = self.landtrace("export", *words)
            self.assertEqual((status, out), (2, ""))
            self.assert_one_line(err, said)


if __name__ == "__main__":
    unittest.main()
