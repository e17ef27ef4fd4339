"""Formats of whole files, read back by protoc and babeltrace2; and recordings that are written in a format at once."""
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

import browser
import support
from support import LANDTRACE, PRODUCER, needs

HERE = os.path.dirname(os.path.abspath(__file__))


class Exported(support.Case):
    def exported(self, *words):
        """Its last line."""
        status, out, err = self.landtrace("export", self.file, *words)
        self.assertEqual((status, out), (0, ""), err)
        return err.splitlines()[-1]

    def record_requests(self):
        self.assertEqual(self.landtrace("record", "-o", self.file, "--", os.environ["REQUESTS"])[0], 0)

    def record_stacks(self):
        program = shutil.copy(os.environ["STACK_PROGRAM"], os.path.join(self.folder, "stacks"))
        self.assertEqual(self.landtrace("record", "-o", self.file, "--", program)[0], 0)
        return program

    def run_in_folder(self, *words, **options):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, timeout=support.TIMEOUT_S, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode(), done.stderr.decode()


def message(lines):
    """protobuf's text form as {name: [values]}."""
    fields = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            return fields
        if line.endswith(" {"):
            fields.setdefault(line[:-2], []).append(message(lines))
        else:
            name, _, value = line.partition(": ")
            fields.setdefault(name, []).append(json.loads(value) if value[0] == '"' and "\\" not in value else value.strip('"'))
    return fields


@needs("protoc")
class Perfetto(Exported):
    def packets(self, path="trace.pftrace"):
        with open(os.path.join(self.folder, path), "rb") as file:
            out, err = self.run_in_folder("protoc", f"--proto_path={HERE}", "--decode=perfetto.protos.Trace",
                                          os.path.join(HERE, "perfetto.proto"), stdin=file)
        self.assertEqual(err, "")
        # What has another number or type than the messages say would be decoded as a bare number.
        self.assertIsNone(re.search(r"^ *\d+: ", out, re.M), out)
        return message(iter(out.splitlines()))["packet"]

    def names(self, packets, table):
        found = {}
        for packet in packets:
            for data in packet.get("interned_data", []):
                for entry in data.get(table, []):
                    self.assertNotIn(entry["iid"][0], found)
                    found[entry["iid"][0]] = (entry.get("name") or entry.get("str") or [entry])[0]
        return found

    def events(self, packets, kind):
        return [packet for packet in packets if packet.get("track_event", [{}])[0].get("type") == [kind]]

    def test_every_event_with_its_fields_in_its_threads_track(self):
        self.record("--abi")
        self.assertEqual(self.exported("--format", "perfetto"), "landtrace: 10 events in trace.pftrace")
        packets = self.packets()
        names, annotations = self.names(packets, "event_names"), self.names(packets, "debug_annotation_names")
        tracks = {packet["track_descriptor"][0]["uuid"][0]: packet["track_descriptor"][0]
                  for packet in packets if "track_descriptor" in packet}
        instants = self.events(packets, "TYPE_INSTANT")
        events, _ = self.report_json()
        self.assertEqual(len(instants), 10)
        for packet, event in zip(instants, events):
            instant = packet["track_event"][0]
            self.assertEqual(int(packet["timestamp"][0]), event["time"])
            self.assertEqual(names[instant["name_iid"][0]], "job")
            values = {annotations[each["name_iid"][0]]: int(each["uint_value"][0]) for each in instant["debug_annotations"]}
            self.assertEqual(values, event["fields"])
            track = tracks[instant["track_uuid"][0]]
            self.assertEqual(track["thread"][0], {"pid": [str(event["tgid"])], "tid": [str(event["pid"])],
                                                  "thread_name": [event["comm"]]})
            process = tracks[track["parent_uuid"][0]]["process"][0]
            self.assertEqual(process, {"pid": [str(event["tgid"])], "process_name": [event["comm"]]})
        self.assertEqual(packets[0]["clock_snapshot"][0]["primary_trace_clock"], ["BUILTIN_CLOCK_MONOTONIC"])

    def test_the_time_of_day_is_in_it(self):
        self.record()
        self.exported("--format", "perfetto")
        clocks = {clock["clock_id"][0]: int(clock["timestamp"][0])
                  for clock in self.packets()[0]["clock_snapshot"][0]["clocks"]}
        (line, *_) = self.report("--json", "--utc").splitlines()
        utc = json.loads(line)["utc"]
        ours = subprocess.run(["date", "-u", "-d", f"@{clocks['1'] // 10**9}", "+%Y-%m-%dT%H:%M:%S"], capture_output=True,
                              text=True, check=True).stdout.strip()
        self.assertEqual(clocks["3"], json.loads(line)["time"])
        self.assertEqual(ours, utc[:19])

    def test_spans_lead_to_where_they_end(self):
        self.record_requests()
        self.exported("--format", "perfetto", "--span", "req_start,req_done,id", "--counter", "req_start.id")
        packets = self.packets()
        begins, ends = self.events(packets, "TYPE_SLICE_BEGIN"), self.events(packets, "TYPE_SLICE_END")
        self.assertEqual((len(begins), len(ends)), (1000, 1000))
        events, _ = self.report_json()
        start = {event["fields"]["id"]: event for event in events if event["event"] == "req_start"}
        done = {event["fields"]["id"]: event for event in events if event["event"] == "req_done"}
        arrows = {}
        for packet in self.events(packets, "TYPE_INSTANT"):
            for flow in packet["track_event"][0].get("terminating_flow_ids", []):
                arrows[flow] = packet
        last_end = {}
        for begin, end in zip(begins, ends):
            body = begin["track_event"][0]
            key = int(body["debug_annotations"][0]["string_value"][0])
            self.assertEqual(int(begin["timestamp"][0]), start[key]["time"])
            self.assertEqual(int(end["timestamp"][0]), done[key]["time"])
            self.assertEqual(int(arrows[body["flow_ids"][0]]["timestamp"][0]), done[key]["time"])
            track = body["track_uuid"][0]
            self.assertEqual(end["track_event"][0]["track_uuid"], [track])
            self.assertGreaterEqual(start[key]["time"], last_end.get(track, 0), "spans of one track do not overlap")
            last_end[track] = done[key]["time"]
        counters = self.events(packets, "TYPE_COUNTER")
        self.assertEqual([int(packet["track_event"][0]["counter_value"][0]) for packet in counters], list(range(1000)))

    def test_stacks_have_functions_and_build_ids(self):
        program = self.record_stacks()
        self.exported("--format", "perfetto")
        packets = self.packets()
        functions, frames = self.names(packets, "function_names"), self.names(packets, "frames")
        (stack,) = self.names(packets, "callstacks").values()
        names = [functions[frames[frame]["function_name_id"][0]] for frame in stack["frame_ids"]]
        self.assertEqual((names[0], names[-1]), ("_start", "innermost_function"))
        mappings, paths = self.names(packets, "mappings"), self.names(packets, "mapping_paths")
        mapping = mappings[frames[stack["frame_ids"][-1]]["mapping_id"][0]]
        self.assertEqual(paths[mapping["path_string_ids"][0]], program)
        build_id = self.names(packets, "build_ids")[mapping["build_id"][0]]
        self.assertIn(build_id, self.run_in_folder("readelf", "-n", program)[0])

    def test_what_was_lost_is_a_track(self):
        self.landtrace("record", "--buffer-size", "4K", "--overwrite", "-o", self.file, "--", PRODUCER, "--count", "20000")
        _, lost = self.report_json()
        self.exported("--format", "perfetto")
        packets = self.packets()
        names, annotations = self.names(packets, "event_names"), self.names(packets, "debug_annotation_names")
        told = 0
        for packet in self.events(packets, "TYPE_INSTANT"):
            if names[packet["track_event"][0]["name_iid"][0]] == "lost":
                told += sum(int(each["uint_value"][0]) for each in packet["track_event"][0]["debug_annotations"]
                            if annotations[each["name_iid"][0]] == "events")
        self.assertGreater(lost, 0)
        self.assertEqual(told, lost)

    def test_hostile_texts_are_text(self):
        self.record("--text", 'x"\x01\xe9 <b>')
        self.exported("--format", "perfetto")
        self.packets()


@needs("babeltrace2")
class Ctf(Exported):
    LINE = re.compile(r"\[(\d+)\.(\d{9})\] \(\S+\) \S+ (\S+): \{ cpu_id = (\d+) \}, \{ vpid = (\d+), vtid = (\d+), "
                      r"procname = \"(\S+)\" \}, \{ (.*) \}")

    def read(self, path="trace.ctf"):
        return self.run_in_folder("babeltrace2", "--clock-seconds", path)

    def test_every_event_with_its_thread_and_fields(self):
        self.record("--abi")
        self.assertEqual(self.exported("--format", "ctf"), "landtrace: 10 events in trace.ctf")
        out, err = self.read()
        self.assertEqual(err, "")
        events, _ = self.report_json()
        offset = None
        for line, event in zip(out.splitlines(), events, strict=True):
            seconds, ns, name, cpu, pid, tid, comm, fields = self.LINE.fullmatch(line).groups()
            self.assertEqual((name, int(cpu), int(pid), int(tid), comm),
                             ("user_events:job", event["cpu"], event["tgid"], event["pid"], event["comm"]))
            self.assertEqual(fields, ", ".join(f"{name} = {value}" for name, value in event["fields"].items()))
            offset = offset or int(seconds) * 10**9 + int(ns) - event["time"]
            self.assertEqual(int(seconds) * 10**9 + int(ns) - event["time"], offset)

    def test_types_of_fields(self):
        self.record("--types")
        self.exported("--format", "ctf")
        out, _ = self.read()
        events, _ = self.report_json()
        self.assertRegex(out.splitlines()[0], r"\{ change = -2, load = 0, share = 0\.25 \}")
        self.assertEqual([int(value) for value in re.findall(r"change = (-?\d+)", out)],
                         [event["fields"]["change"] for event in events])

    def test_hostile_texts_are_text(self):
        self.record("--text", 'x"\n\x01\xe9 %s')
        self.exported("--format", "ctf")
        out, err = self.read()
        self.assertEqual((out.count("user_events:job"), err), (10, ""))

    def test_the_reader_writes_it_again(self):
        self.record_requests()
        self.exported("--format", "ctf")
        self.run_in_folder("babeltrace2", "trace.ctf", "--output-format=ctf", "--output=again")
        ours, again = self.read()[0], self.read("again")[0]
        self.assertEqual(len(ours.splitlines()), 2000)
        self.assertEqual(again, ours)

    def test_what_was_lost_is_told_by_the_reader(self):
        self.landtrace("record", "--buffer-size", "4K", "--overwrite", "-o", self.file, "--", PRODUCER, "--count", "20000")
        events, lost = self.report_json()
        self.exported("--format", "ctf")
        out, err = self.read()
        self.assertEqual(len(out.splitlines()), len(events))
        self.assertEqual(sum(int(count) for count in re.findall(r"discarded (\d+) events?", err)), lost)

    def test_stacks_are_addresses(self):
        self.record_stacks()
        self.exported("--format", "ctf")
        (event,), _ = self.report_json("-e", "user_stack")
        out, _ = self.read()
        addresses = [int(word, 16) for word in re.findall(r"\[\d+\] = (0x[0-9A-F]+)", out)]
        self.assertEqual(addresses, [int(frame["address"], 16) for frame in event["fields"]["caller"]])

    def test_an_empty_recording(self):
        self.landtrace("record", "-o", self.file, "--", "true")
        self.exported("--format", "ctf")
        self.assertEqual(os.listdir(self.folder + "/trace.ctf"), ["metadata"])

    def test_a_recording_in_which_nothing_happens_is_read(self):
        self.assertEqual(self.landtrace("record", "--format", "ctf", "-o", "trace.ctf", "--", "true")[0], 0)
        self.assertEqual(self.read(), ("", ""))

    def test_an_older_one_is_kept_and_nothing_else_is_touched(self):
        self.record()
        self.exported("--format", "ctf")
        self.assertEqual(self.exported("--format", "ctf"),
                         "landtrace: 10 events in trace.ctf; what was there is trace.ctf.old")
        self.exported("--format", "ctf", "-o", "trace.ctf/")
        self.assertEqual(sorted(name for name in os.listdir(self.folder) if "ctf" in name), ["trace.ctf", "trace.ctf.old"])
        with open(self.folder + "/trace.ctf/mine", "w", encoding="ascii"):
            pass
        for words, said in ((["-o", "trace.ctf"], "it has a file mine"), (["-o", self.file], "is no folder"),
                            (["-o", "-"], "a folder of files"), (["-o", "/nosuch/x"], "No such file")):
            status, _, err = self.landtrace("export", self.file, "--format", "ctf", *words)
            self.assertEqual(status, 1, words)
            self.assert_one_line(err, said)
        self.assertTrue(os.path.exists(self.folder + "/trace.ctf/mine"))


class Flame(Exported):
    def test_a_line_a_stack(self):
        program = self.record_stacks()
        folded = self.report("--flame")
        self.assertRegex(folded, r"^stacks;_start;(.*;)?main;(.*;)?sorting_function;(.*;)?innermost_function 1\n$")
        # Of the program itself, in one step; it has a stack of its own, and gets one.
        status, out, err = self.landtrace("flame", "--", program)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^stacks;_start;(.*;)?innermost_function(;.*)? 1\n$")

    def test_a_picture_with_each_frame(self):
        self.record_stacks()
        status, _, err = self.landtrace("report", self.file, "--flame", "-o", "flame.svg")
        self.assertEqual((status, err), (0, "landtrace: 1 event in flame.svg\n"))
        folded = self.report("--flame").rsplit(" ", 1)[0].split(";")
        tree = xml.etree.ElementTree.parse(self.folder + "/flame.svg")
        titles = [title.text for title in tree.iter("{http://www.w3.org/2000/svg}title")]
        self.assertEqual(titles, [f"{name} (1 event, 100.00 %)" for name in ["all", *folded]])
        text = support.read_text(self.folder + "/flame.svg")
        self.assertNotIn("http", text.replace("http://www.w3.org/2000/svg", ""), "it needs nothing from elsewhere")

    def test_of_a_command_by_event(self):
        status, out, _ = self.landtrace("flame", "job", "--", PRODUCER, "--count", "7")
        self.assertEqual(status, 0)
        self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in out.splitlines()), 7)
        self.assertIn("main", out)
        status, out, err = self.landtrace("flame", "jbo", "--", PRODUCER)
        self.assertEqual((status, out), (1, ""))
        self.assertIn("did you mean user_events:job?", err)

    def test_markup_in_names_is_text(self):
        program = shutil.copy(PRODUCER, os.path.join(self.folder, "<b>&'\""))
        status, _, err = self.landtrace("flame", "-o", "f.svg", "--", program)
        self.assertEqual(status, 0, err)
        tree = xml.etree.ElementTree.parse(self.folder + "/f.svg")
        titles = [title.text for title in tree.iter("{http://www.w3.org/2000/svg}title")]
        self.assertIn("<b>&'\" (10 events, 100.00 %)", titles)
        self.assertEqual(list(tree.iter("{http://www.w3.org/2000/svg}b")), [])

    def test_without_stacks_it_says_what_to_do(self):
        self.record()
        status, out, err = self.landtrace("report", self.file, "--flame")
        self.assertEqual((status, out), (1, ""))
        self.assert_one_line(err, "has no stacks", "--trigger stacktrace", "landtrace flame")

    def test_a_wrong_one_leaves_nothing(self):
        status, _, err = self.landtrace("flame", "-p", "nosuch_function", "-o", "f.svg", "--", PRODUCER)
        self.assertEqual(status, 1)
        self.assertIn("nosuch_function", err)
        self.assertFalse(os.path.exists(self.folder + "/f.svg"))
        self.assertEqual(self.landtrace("report", self.file, "-o", "x.svg")[0], 2)


@unittest.skipUnless(browser.find_browser(), "SKIPPED: no chromium here")
class InABrowser(Exported):
    WIDTHS = "Object.fromEntries(frames.filter(f => f.g.style.display !== 'none').map(f => [f.name, Math.round(f.rect.getBoundingClientRect().width)]))"

    def open(self, *words):
        status, _, err = self.landtrace("flame", "-o", "f.svg", *words)
        self.assertEqual(status, 0, err)
        page = browser.Browser()
        self.addCleanup(page.close)
        page.open(self.folder + "/f.svg")
        self.assertEqual(page.requests, [f"file://{self.folder}/f.svg"], "it needs nothing from elsewhere")
        return page

    def click(self, page, name):
        x, y = page.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])(frames.find(f => f.name === '{name}')"
                        ".rect.getBoundingClientRect())")
        page.click(x, y)

    def test_frames_can_be_zoomed_into_and_searched(self):
        script = f"{PRODUCER} --count 30 >/dev/null; {support.copied(PRODUCER, 'other')} --count 10 >/dev/null"
        page = self.open("job", "--", "sh", "-c", script)
        before = page.run(self.WIDTHS)
        self.assertEqual((before["all"], before["producer"], before["other"]), (1180, 885, 295))
        self.click(page, "other")
        zoomed = page.run(self.WIDTHS)
        self.assertEqual((zoomed["all"], zoomed["other"]), (1180, 1180))
        self.assertNotIn("producer", zoomed)
        page.key("Escape")
        self.assertEqual(page.run(self.WIDTHS), before)
        page.run("window.prompt = () => 'OTHER'")
        page.key("/")
        self.assertEqual(page.run("hint.textContent"), "OTHER: 25.0 %")
        self.assertEqual(page.run("frames.filter(f => f.rect.classList.contains('found')).map(f => f.name)"), ["other"])
        self.assertEqual(page.mistakes, [])

    def test_markup_in_names_stays_text(self):
        program = support.copied(PRODUCER, "<img src=x>")
        page = self.open("--", program)
        self.assertEqual(page.run("document.querySelectorAll('img').length"), 0)
        self.assertIn("<img src=x>", page.run("frames.map(f => f.name)"))
        self.assertEqual(page.mistakes, [])


class Direct(Exported):
    """record --format."""

    def test_lines_through_a_pipe(self):
        status, out, err = self.landtrace("record", "--format", "json", "-o", "-", "--", PRODUCER)
        self.assertEqual((status, err), (0, "emitted 10\nlandtrace: 10 events\n"))
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([event["fields"]["sequence"] for event in events], list(range(10)))

    def test_they_come_while_it_runs(self):
        process = self.start("record", "--format", "json", "-o", "-", "--", "sh", "-c", f"{PRODUCER} --count 2; cat",
                             stdin=subprocess.PIPE)
        # The last event of a thread waits for its stack.
        self.assertEqual(json.loads(process.stdout.readline())["fields"]["sequence"], 0)
        self.assertIsNone(process.poll())
        process.stdin.close()
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0)

    def test_the_same_as_export_makes_of_a_recording(self):
        for form, name in (("chrome", "t.json"), ("folded", "t.txt"), ("speedscope", "t.speedscope")):
            status, _, err = self.landtrace("record", "--format", form, "-o", name, "--", os.environ["REQUESTS"])
            self.assertEqual((status, err.splitlines()[-1]), (0, f"landtrace: 2,000 events in {name}"))
        self.assertEqual(len([event for event in json.loads(support.read_text(self.folder + "/t.json"))["traceEvents"]
                              if event["ph"] == "i"]), 2000)
        self.assertEqual([line.split(";")[1] for line in support.read_text(self.folder + "/t.txt").splitlines()],
                         ["user_events:req_done 1000", "user_events:req_start 1000"])
        json.loads(support.read_text(self.folder + "/t.speedscope"))

    @needs("perf")
    def test_perf_reads_what_was_recorded_for_it(self):
        self.assertEqual(self.landtrace("record", "--format", "perf", "--", PRODUCER, "--abi")[0], 0)
        out, _ = self.run_in_folder("perf", "script", env=dict(os.environ, HOME=self.folder))
        self.assertEqual(out.count("user_events:job"), 10)

    @needs("babeltrace2")
    def test_babeltrace2_reads_what_was_recorded_for_it(self):
        self.assertEqual(self.landtrace("record", "--format", "ctf", "--", PRODUCER, "--threads", "3")[0], 0)
        out, _ = self.run_in_folder("babeltrace2", "trace.ctf")
        self.assertEqual(out.count("user_events:job"), 30)

    @needs("protoc")
    def test_protoc_reads_what_was_recorded_for_it(self):
        words = ["record", "--format", "perfetto", "--span", "req_start,req_done,id", "--", os.environ["REQUESTS"]]
        self.assertEqual(self.landtrace(*words)[0], 0)
        packets = Perfetto.packets(self)
        self.assertEqual(len(Perfetto.events(self, packets, "TYPE_SLICE_END")), 1000)

    def test_a_reader_that_goes_away(self):
        process = self.start("record", "--format", "json", "-o", "-", "--", PRODUCER, "--count", "20000")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0)

    def test_its_status_is_the_commands(self):
        self.assertEqual(self.landtrace("record", "--format", "json", "-o", "x", "--", PRODUCER, "--exit", "7")[0], 7)
        self.assertEqual(self.landtrace("record", "--format", "json", "-o", "y", "--", "no-such-program")[0], 127)
        self.assertFalse(os.path.exists(self.folder + "/y"))

    def test_what_cannot_be(self):
        for words in (["--format", "csv"], ["--format", "nosuch"], ["--format", "json", "--overwrite"],
                      ["--span", "a,b,c"], ["--format", "json", "--span", "a,b,c"]):
            status, _, err = self.landtrace("record", *words, "--", "true")
            self.assertEqual(status, 2, words)
            self.assert_one_line(err)
        status, _, err = self.landtrace("record", "--format", "json", "-o", "/dev/full", "--", PRODUCER, "--count", "20000")
        self.assertEqual(status, 1)
        self.assertIn("/dev/full: write: No space left on device; the recording ends here", err)


if __name__ == "__main__":
    unittest.main()
