"""landtrace view: a recording as a page, looked at in a browser."""
import base64
import hashlib
import json
import math
import os
import re
import statistics
import struct
import subprocess
import unittest

import browser
import support
from support import PRODUCER

needs_browser = unittest.skipUnless(browser.find_browser(), "SKIPPED: no chromium here")
SPAN = ("--span", "req_start,req_done,id")


class Pages(support.Case):
    def view(self, *words, file=None):
        """What it says; the page is in self.page."""
        status, out, err = self.landtrace("view", file or self.file, *words)
        self.assertEqual((status, out), (0, ""), err)
        self.page = os.path.join(self.folder, "trace.html")
        return err

    def files(self):
        return sorted(name for name in os.listdir(self.folder) if name != "landtrace")


class Page(Pages):
    """The file."""

    def test_it_lies_beside_the_recording(self):
        self.record()
        self.assertEqual(self.view(), f"landtrace: 10 events in {self.folder}/trace.html\n")
        self.assertEqual(self.files(), ["trace.dat", "trace.html"])
        os.rename(self.file, f"{self.folder}/other")
        self.assertIn("10 events in other.html\n", self.view(file="other"))

    def test_only_what_its_policy_names_runs_in_it(self):
        self.record()
        self.view()
        page = support.read_text(self.page)
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
        self.assertTrue(policy.startswith("default-src 'none'; "), policy)
        for tag in ("script", "style"):
            (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertIn(f"{tag}-src 'sha256-{digest}'", policy)
        self.assertNotRegex(page, r"https?://|\bon\w+=\"|style=|\beval\(|innerHTML")

    def test_modules_do_not_share_names(self):
        """They are one script; of two functions with one name the second would silently count."""
        self.record()
        self.view()
        names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", support.read_text(self.page), re.MULTILINE)
        self.assertGreater(len(names), 100)
        self.assertEqual(sorted(names), sorted(set(names)))

    def test_another_page_is_replaced_and_kept(self):
        self.record()
        self.view()
        first = support.read_text(self.page)
        self.assertIn("what was there is ", self.view("--limit", "3"))
        self.assertEqual(support.read_text(self.page + ".old"), first)

    def test_another_file_is_not_replaced_unless_forced(self):
        self.record()
        page = os.path.join(self.folder, "trace.html")
        for text in ("mine", "<!DOCTYPE html>\n<!-- mine, and not a page of landtrace view -->\n"):
            with open(page, "w", encoding="utf-8") as file:
                file.write(text)
            status, _, err = self.landtrace("view", self.file)
            self.assertEqual(status, 1)
            self.assert_one_line(err, page, "no page of landtrace view", "--force")
            self.assertEqual(support.read_text(page), text)
            self.view("--force")
            self.assertEqual(support.read_text(page + ".old"), text)
        self.assertEqual(self.landtrace("view", self.file, "-o", self.file, "--force")[0], 1)
        self.assertEqual(self.landtrace("report", self.file)[0], 0)

    def test_through_pipes(self):
        self.record()
        self.view()
        script = f"{support.LANDTRACE} view - -o - <trace.dat"
        out = subprocess.run(["sh", "-c", script + " | cat"], cwd=self.folder, capture_output=True, check=True).stdout
        self.assertTrue(out.startswith(b"<!DOCTYPE html>\n<!-- A page of landtrace view -->\n"))
        self.assertTrue(out.endswith(b"</html>\n"))
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {script} | head -c 9"], cwd=self.folder, capture_output=True, check=True)
        self.assertEqual((done.stdout, done.stderr), (b"<!DOCTYPE", b""))

    def test_a_full_disk_leaves_nothing(self):
        self.record()
        status, _, err = self.landtrace("view", self.file, "-o", "/dev/full")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "/dev/full", "No space left on device")

    def test_what_is_wrong_is_said(self):
        self.record()
        for words, status, part in ((["--span", "job"], 2, "want FROM,TO,KEY"), (["--span", "job,jbo"], 1, "did you mean"),
                                    (["--counter", "job.sequense"], 1, "sequence"), (["--span", "job,job,cpu"], 1, "has no field 'cpu'"), (["--filter", "sequence >"], 2, "--filter"),
                                    (["-o", "no/such/folder.html"], 1, "no/such/folder.html")):
            done, _, err = self.landtrace("view", self.file, *words)
            self.assertEqual(done, status, err)
            self.assertIn(part, err)
        self.assertEqual(self.files(), ["trace.dat"])


@needs_browser
class InABrowser(Pages):
    """The page, as its reader sees it."""

    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self, *words):
        self.view(*words)
        self.browser.resize(1200, 760)
        self.browser.open(self.page)
        self.assertEqual(self.browser.mistakes, [])
        self.assertEqual(self.browser.requests, [f"file://{self.page}"])
        return self.browser

    def tearDown(self):
        self.assertEqual(self.browser.mistakes, [])

    def record_requests(self):
        self.assertEqual(self.landtrace("record", "-o", self.file, "--", os.environ["REQUESTS"])[0], 0)

    def rows(self):
        return self.browser.run("[...document.querySelectorAll('#rows .row')].map((row) => row.innerText)")

    def test_events_are_those_of_the_report(self):
        self.record("--types", "--count", "100", options=["--buffer-size", "1M"])
        page = self.open()
        events, _ = self.report_json()
        shown = page.run("""(() => { const {trace} = landtrace; return Array.from({length: trace.count}, (_, i) => {
            const type = trace.types[trace.type[i]]; const thread = trace.threads[trace.thread[i]];
            return [String(trace.base + BigInt(trace.time[i])), type.fullName, thread.name, thread.tid, thread.pid, trace.cpu[i],
              Object.fromEntries(type.fields.map((field) => [field.name, field.values[trace.row[i]]]))]; }); })()""")
        self.assertEqual(shown, [[str(event["time"]), f"{event['system']}:{event['event']}", event["comm"], event["pid"], event["tgid"],
                                  event["cpu"], event["fields"]] for event in
                                 json.loads(json.dumps(events), parse_float=float32_as_double)])

    def test_zoom_and_pan_by_keys(self):
        self.record_requests()
        page = self.open()
        whole = page.run("landtrace.view.end - landtrace.view.begin")
        page.key("+")
        page.key("+")
        self.assertAlmostEqual(page.run("landtrace.view.end - landtrace.view.begin"), whole * 0.36, delta=whole / 100)
        before = page.run("landtrace.view.begin")
        page.key("ArrowRight")
        self.assertGreater(page.run("landtrace.view.begin"), before)
        page.key("0")
        self.assertAlmostEqual(page.run("landtrace.view.end - landtrace.view.begin"), whole, delta=whole / 100)

    def test_a_frame_does_not_draw_each_of_many_spans(self):
        """Nor one for each pixel, where a row of them is full: a page of a million events would not move."""
        self.record_requests()
        page = self.open(*SPAN)
        drawn = """((spans) => {
          const {view, lanes, timeline, trace} = landtrace;
          const row = lanes.processes.flatMap((process) => process.lanes).find((lane) => lane.spanRows.length > 0).spanRows[0];
          const step = (view.end - view.begin) / spans;
          row.spans = new Uint32Array(spans);
          row.begins = Float64Array.from(row.spans, (_, i) => view.begin + i * step);
          row.ends = row.begins.map((begin) => begin + step * 0.9);
          const {fillRect} = CanvasRenderingContext2D.prototype;
          let count = 0;
          CanvasRenderingContext2D.prototype.fillRect = function (...where) { ++count; return fillRect.apply(this, where); };
          timeline.draw();
          CanvasRenderingContext2D.prototype.fillRect = fillRect;
          return count; })"""
        none, many, few = (page.run(f"{drawn}({spans})") for spans in (0, 200_000, 40))
        self.assertLess(many - none, 10)
        self.assertEqual(few - none, 40)

    def test_figures_of_all_and_of_a_part(self):
        self.record_requests()
        page = self.open(*SPAN)
        events, _ = self.report_json()
        begun = {event["fields"]["id"]: event["time"] for event in events if event["event"] == "req_start"}
        done = [(event["time"], event["time"] - begun[event["fields"]["id"]]) for event in events if event["event"] == "req_done"]
        self.check_figures(page, [took for _, took in done])
        # Half of what is shown, by the pointer.
        page.drag(700, 300, 1199, 300)
        begin, end = page.run("[landtrace.selection.begin, landtrace.selection.end]")
        base = events[0]["time"]
        part = [took for time, took in done if time - base >= begin and time - base - took <= end]
        self.assertTrue(0 < len(part) < 1000)
        self.check_figures(page, part)
        rows = page.run("[...document.querySelectorAll('.figures tr')].map((row) => row.innerText.trim().split(/\\s*\\t\\s*/))")
        self.assertEqual(rows[1][:2], ["■req_start → req_done", f"{len(part)}"])
        page.key("Escape")
        self.check_figures(page, [took for _, took in done])

    def test_values_from_the_least_to_below_the_most_can_be_selected(self):
        self.record_requests()
        page = self.open(*SPAN)
        for name in ("req_start → req_done: duration", "req_start.id"):
            whole = page.run(f"landtrace.figures('{name}')")
            page.run(f"""landtrace.select(new landtrace.selection.constructor({{low: {whole["least"]}, high: {whole["most"]},
                subject: landtrace.subjects.find((each) => each.name === '{name}')}}))""")
            part = page.run(f"landtrace.figures('{name}')")
            self.assertEqual((part["least"], part["count"]), (whole["least"], 999))
            self.assertLess(part["most"], whole["most"])
            page.key("Escape")

    def check_figures(self, page, values):
        figures = page.run("landtrace.figures('req_start → req_done: duration')")
        values = sorted(values)
        self.assertEqual((figures["count"], figures["sum"]), (len(values), sum(values)))
        self.assertEqual((figures["least"], figures["most"]), (values[0], values[-1]))
        self.assertAlmostEqual(figures["mean"], statistics.fmean(values))
        nearest = [values[-(-len(values) * part // 1000) - 1] for part in (500, 900, 990, 999)]
        self.assertEqual(figures["percentiles"], nearest)

    def test_search(self):
        self.record_requests()
        page = self.open()
        for text, hits in (("login", 333), ("route=/login", 333), ("route~log id<10", 3), ("req_start", 1000), ("id>=998", 4),
                           ("comm=nobody", 0), ("event!=req_start", 1000)):
            page.key("/")
            page.run("document.getElementById('search').value = ''")
            page.type(text)
            page.wait_until(f"document.getElementById('hits').textContent === '{hits:,} hits'")
            page.key("Escape")
        page.key("/")
        page.type("id=7")
        page.key("Enter")
        self.assertEqual(page.run("landtrace.trace.fieldsText(landtrace.current)"), "id=7")
        page.key("Enter")
        self.assertEqual(page.run("landtrace.trace.fieldsText(landtrace.current)"), "id=7 route=/login")
        page.run("document.getElementById('search').value = ''")
        page.type("idd>7")
        page.wait_until("document.getElementById('hits').textContent === \"no event has a field 'idd'\"")

    def test_numbers_without_a_sign_are_whole(self):
        """In each way in which a column is written: all equal, varying within 53 bits of their 64, and all over."""
        most, text = 2**64 - 1, 0xffffffff81000000
        all_values = {"equal": [text] * 40, "ones": [most] * 3, "near": [text + i * i % 7 for i in range(40)], "mixed": [5, most, 5, most - 1],
                      "wide": [1, 2**63, most, 2**62]}
        self.record_emitted(*((f"{name} u64 v", struct.pack("=Q", value)) for name, values in all_values.items() for value in values))
        page = self.open()
        for name, values in all_values.items():
            shown = page.run(f"""((type) => [type.fields[0].values.join(),
                Array.from(type.events, (_, row) => landtrace.trace.valueText(type.fields[0], row)).join()])
                (landtrace.trace.types.find((type) => type.name === '{name}'))""")
            self.assertEqual(shown[1], ",".join(map(str, values)))
            self.assertEqual([float(value) for value in shown[0].split(",")], list(map(float, values)))
            figures = page.run(f"landtrace.figures('{name}.v')")
            self.assertEqual((figures["least"], figures["most"]), (float(min(values)), float(max(values))))
        counts = {}
        for query in (f"v={most}", f"v={hex(most)}", f"v={most - 1}", f"v={hex(text)}", f"v={text + 1}", "v>100", "v<0", f"v>={2**63}"):
            page.run(f"landtrace.setQuery('{query}')")
            counts[query] = page.run("landtrace.hits.length")
        every = [value for values in all_values.values() for value in values]
        self.assertEqual(list(counts.values()), [every.count(most), every.count(most), every.count(most - 1), every.count(text),
                                                 every.count(text + 1), sum(value > 100 for value in every), 0,
                                                 sum(value >= 2**63 for value in every)])
        page.run("landtrace.setQuery('')")
        # A bar of what is that large can be selected, in the histogram and in the heat map.
        for name in ("equal", "ones", "near"):
            for panel in ("heat map", "histogram"):
                page.run(f"landtrace.lookAt(landtrace.subjects.find((each) => each.name === '{name}.v'), '{panel}')")
            self.assertEqual(page.run("landtrace.panels[2].counts.reduce((sum, each) => sum + each, 0)"), len(all_values[name]))
            page.run("document.querySelector('#content canvas').focus()")
            page.key("ArrowRight")
            page.key("Enter")
            self.assertGreater(page.run("landtrace.chosen.events.length"), 0)
            page.key("Escape")
            self.assertEqual(page.run("landtrace.panels[1].first"), page.run("landtrace.panels[2].first"))

    def test_a_counter_leaves_out_what_is_not_finite(self):
        reals = [0.5, math.inf, -math.inf, math.nan, -2]
        self.record_emitted(*(("sample struct double v 8; u8 b", struct.pack("=dB", value, 1)) for value in reals),
                            *[("never struct double v 8", struct.pack("=d", math.nan))])
        page = self.open("--counter", "sample.v", "--counter", "sample.b", "--counter", "never.v")
        self.assertEqual(page.run("landtrace.timeline.counters.map(({name, least, most, times, values}) => [name, least, most, times.length, ...values])"),
                         [["sample.v", -2, 0.5, 2, 0.5, -2], ["sample.b", 1, 1, 5] + [1] * 5])
        self.assertEqual(page.run("landtrace.figures('sample.v').count"), 2)
        for tab in "123":
            page.key(tab)
        self.assertEqual(page.run("landtrace.panels[2].counts.reduce((sum, each) => sum + each, 0)"), 2)

    def test_the_table_has_all_and_makes_few(self):
        self.record_requests()
        page = self.open()
        page.key("5")
        rows = self.rows()
        self.assertTrue(5 < len(rows) < 60)
        self.assertRegex(rows[0], r"req_start\s+id=0$")
        page.run("document.getElementById('rows').focus()")
        page.key("End")
        page.wait_until("[...document.querySelectorAll('#rows .row')].some((row) => row.innerText.includes('id=999 route=/'))")
        self.assertEqual(page.run("landtrace.current"), 1999)

    def test_a_bar_of_the_histogram_can_be_selected(self):
        self.record_requests()
        page = self.open(*SPAN)
        page.key("3")
        page.run("document.querySelector('#content canvas').focus()")
        page.key("ArrowRight")
        page.key("Enter")
        count = page.run("landtrace.panels[2].counts.reduce((sum, each) => sum + each, 0)")
        low, high = page.run("[landtrace.selection.low, landtrace.selection.high]")
        figures = page.run("landtrace.figures('req_start → req_done: duration')")
        self.assertEqual(figures["count"], count)
        self.assertTrue(low <= figures["least"] <= figures["most"] < high)
        # Of the spans in it, what their threads did meanwhile.
        self.assertGreaterEqual(page.run("landtrace.chosen.events.length"), 2 * count)

    def test_the_heat_map_counts_each_value(self):
        self.record_requests()
        page = self.open(*SPAN)
        page.key("2")
        self.assertEqual(page.run("landtrace.panels[1].cells.reduce((sum, each) => sum + each, 0)"), 1000)

    def test_stacks_as_a_flame_graph(self):
        self.assertEqual(self.landtrace("record", "-o", self.file, "--", os.environ["STACK_PROGRAM"])[0], 0)
        page = self.open()
        page.key("4")
        names = page.run("landtrace.panels[3].boxes.map((box) => landtrace.panels[3].nameOf(box.node))")
        self.assertEqual(names[0], "all")
        self.assertLess(names.index("main"), names.index("sorting_function"))
        self.assertLess(names.index("sorting_function"), names.index("innermost_function"))

    def test_what_was_lost_is_marked_where_it_was(self):
        summary = self.record("--count", "300000", "--threads", "3", options=["--overwrite", "--buffer-size", "256K"])
        self.assertGreater(summary.lost, 0)
        page = self.open()
        losses = page.run("landtrace.trace.losses")
        self.assertEqual(sum(loss["count"] for loss in losses), summary.lost)
        # From the CPU's event before, or the beginning, to the one behind.
        lines = [json.loads(line) for line in self.report("--json").splitlines()]
        base = next(line["time"] for line in lines if "lost" not in line)
        before, expected = {}, []
        for line, following in zip(lines, lines[1:]):
            if "lost" not in line:
                before[line["cpu"]] = line["time"] - base
            elif following.get("cpu") == line["cpu"]:
                expected.append([line["cpu"], before.get(line["cpu"], 0), following["time"] - base])
        self.assertGreater(len(expected), 0)
        self.assertEqual([[loss["cpu"], loss["begin"], loss["end"]] for loss in losses][:len(expected)], expected)
        self.assertIn(f"{summary.lost:,} events were lost", page.run("document.getElementById('notice').innerText"))
        self.assertEqual(sum(int(re.search(r"([\d,]+) lost", text)[1].replace(",", "")) for text in
                             page.run("landtrace.merged(1000, true).map((each) => each.text)")), summary.lost)
        page.key("5")
        # The CPU that lost some may have no event among the first ones.
        page.run("""(() => { const {rows, body, frame} = landtrace.panels[4]; let at = 0;
            while (rows.event(at) >= 0) ++at;
            frame.scrollTop = at / rows.length * body.clientHeight; })()""")
        self.wait_until(lambda: any("were lost before this" in row for row in self.rows()))

    def test_what_is_not_in_the_page_is_said(self):
        self.record()
        self.assertIn("7 more are counted in it and not shown", self.view("--limit", "3"))
        self.browser.open(self.page)
        self.assertEqual(self.browser.run("[landtrace.trace.count, landtrace.more]"), [3, 7])
        self.assertIn("7 more events are not in this page", self.browser.run("document.getElementById('notice').innerText"))

    def test_a_damaged_recording_is_said_in_the_page(self):
        """It is the page that is passed on, without what the command said."""
        # The file has one CPU after the other: on two of them the first events could be those that are cut off.
        pin = ("taskset", "-c", str(min(os.sched_getaffinity(0))))
        self.assertEqual(self.landtrace("record", "-o", self.file, "--", *pin, PRODUCER, "--count", "20000")[0], 0)
        whole = os.path.getsize(self.file)
        os.truncate(self.file, whole - 200000)
        self.assertEqual(self.landtrace("view", self.file)[0], 1)
        self.browser.open(os.path.join(self.folder, "trace.html"))
        shown = self.browser.run("landtrace.trace.count")
        self.assertTrue(0 < shown < 20000)
        self.assertIn(f"⚠ the recording is damaged: the file ends at {whole - 200000}, within a page; {shown:,} events could be read",
                      self.browser.run("document.getElementById('notice').innerText"))
        # Whatever is chosen of it.
        self.landtrace("view", self.file, "--filter", "sequence < 3")
        self.browser.open(os.path.join(self.folder, "trace.html"))
        self.assertEqual(self.browser.run("landtrace.trace.count"), 3)
        self.assertIn(f"; {shown:,} events could be read", self.browser.run("document.getElementById('notice').innerText"))

    def test_no_text_becomes_markup(self):
        text = '</script><img src=x onerror=hurt()>\x1b[31m\u2028\u202e"\'&amp;'
        producer = support.copied(PRODUCER, "<img src=x>")
        status, _, err = self.landtrace("record", "-o", self.file, "--", producer, "--text", text, "--event", "<b>job")
        self.assertEqual(status, 0, err)
        page = self.open()
        for tab in "123456":
            page.key(tab)
            if tab == "5":
                page.run("document.getElementById('rows').focus()")
                page.key("End")
                self.assertTrue(any("</script><img src=x onerror=hurt()>\\x1b[31m\\u2028\\u202e" in row for row in self.rows()))
        page.mouse("mouseMoved", 600, 150)
        self.assertEqual(page.run("document.querySelectorAll('img, b:not(#tip b)').length"), 0)
        self.assertIn("<b>job", page.run("document.getElementById('content').innerText"))
        self.assertEqual(page.run("landtrace.trace.threads[0].name"), "<img src=x>")

    def test_bytes_that_are_no_text(self):
        self.landtrace("record", "-o", self.file, "--", PRODUCER, "--text", b"\xff\xfea\xc3\xa4\xc3".decode(errors="surrogateescape"))
        page = self.open()
        self.assertIn(r"\xff\xfea\xc3\xa4\xc3", page.run("landtrace.trace.fieldsText(0)"))

    def test_light_and_dark(self):
        self.record()
        page = self.open()
        back = "getComputedStyle(document.body).backgroundColor"
        page.prefer("light")
        page.wait_until("document.documentElement.dataset.theme === 'light'")
        light = page.run(back)
        page.prefer("dark")
        page.wait_until("document.documentElement.dataset.theme === 'dark'")
        dark = page.run(back)
        self.assertNotEqual(dark, light)
        page.key("t")
        self.assertEqual(page.run(back), light)

    def test_a_small_window(self):
        self.record_requests()
        page = self.open(*SPAN)
        page.resize(400, 300)
        page.wait_until("document.getElementById('lanes').width === 400")
        sizes = page.run("['overview', 'lanes', 'content', 'search'].map((id) => document.getElementById(id).getBoundingClientRect().toJSON())")
        for size in sizes:
            self.assertGreater(size["width"], 50)
            self.assertGreater(size["height"], 15)
            self.assertLessEqual(size["right"], 400)
        self.assertLessEqual(sizes[2]["bottom"], 300)
        self.assertEqual(page.run("document.documentElement.scrollWidth"), 400)

    def test_an_empty_recording(self):
        self.landtrace("record", "-o", self.file, "--", "true")
        page = self.open()
        for key in ["+", "ArrowRight", "ArrowDown", ".", "]", "f", "m", "1", "2", "3", "4", "5", "6"]:
            page.key(key)
        self.assertEqual(page.run("landtrace.trace.count"), 0)

    def test_every_tab_is_reached_by_keys(self):
        self.record_requests()
        page = self.open(*SPAN)
        page.run("document.querySelector('#tabs button').focus()")
        names = []
        for _ in range(6):
            names.append(page.run("document.activeElement.innerText"))
            page.key("ArrowRight")
        self.assertEqual(names, ["Figures", "Heat map", "Histogram", "Flame graph", "Events", "Details"])
        page.key("?")
        self.assertTrue(page.run("document.getElementById('help').open"))
        page.key("Escape")
        self.assertFalse(page.run("document.getElementById('help').open"))


def float32_as_double(text):
    """The report prints as many digits as tell one float from another."""
    return struct.unpack("f", struct.pack("f", float(text)))[0]


if __name__ == "__main__":
    unittest.main()
