"""landtrace ui: triggers, latencies, probes, programs, the timeline and the snapshot; and record --ui."""
import os
import signal
import unittest

import browser
import support
import ui_serving
from support import PRODUCER
from ui_serving import PageCase, Served

PROBED = support.copied(os.environ["PROBED"], "probed")
REQUESTS = support.copied(os.environ["REQUESTS"], "requests")
JOB = "instances/ui/events/user_events/job"
can_probe = unittest.skipUnless(os.path.exists(support.AGENT), "SKIPPED: functions cannot be probed on this machine yet")


class Commands(Served):
    """What the server runs for a page."""

    def test_only_commands_that_look(self):
        for wrong in ({}, {"command": "record"}, {"command": "latency", "from": "a"},
                      {"command": "functions", "object": "--refused", "name": "a"}):
            self.assertEqual(self.run_command(**wrong)[0], 422, wrong)
        self.assertEqual(self.ask("POST", f"/{self.token}/run?command=functions&object=libc.so.6&name=free")[0], 403)
        self.assertEqual(self.run_command(command="functions", object="libc.so.6", name="free"), (200, "1"))

    def test_it_ends_with_them(self):
        self.emit()
        self.assertEqual(self.run_command(command="latency", **{"from": "user_events:job", "to": "user_events:job", "key": "source"})[0], 200)
        children = f"/proc/{self.ui.pid}/task/{self.ui.pid}/children"
        child = int(support.read_text(children).split()[0])
        self.assertEqual(self.stop(self.ui)[0], 0)
        self.assertFalse(os.path.exists(f"/proc/{child}"))

    def test_probes_are_of_its_own_group_alone(self):
        self.assertEqual(self.write("uprobe_events", "p:other/x /bin/true:0x0", append=1)[0], 422)
        self.assertEqual(self.write("uprobe_events", "p:ui/x /bin/true:0x0\np:other/x /bin/true:0x0", append=1)[0], 422)
        self.assertEqual(self.write("uprobe_events", "p:ui/x /bin/true:0x0")[0], 422)
        self.assertEqual(self.landtrace("cat", "uprobe_events")[1], "")

    def test_a_snapshot_is_what_was_read(self):
        status, text = self.ask("GET", f"/{self.token}/snapshot")
        self.assertEqual((status, text), (200, "# tracer: nop\n#\n"))


class Killed(Served):
    @can_probe
    def test_nothing_is_left_of_one_that_was_killed(self):
        self.emit()
        self.assertEqual(self.write(f"{JOB}/enable", "1")[0], 200)
        self.assertEqual(self.write("uprobe_events", f"p:ui/request {PROBED}:handle_request", append=1)[0], 200)
        self.assertEqual(self.write("instances/ui/events/ui/request/enable", "1")[0], 200)
        self.assertIn("p:ui/request", self.landtrace("cat", "uprobe_events")[1])
        self.stop(self.ui, signal.SIGKILL)
        self.wait_until(lambda: self.landtrace("ls", "instances")[1] == "")
        self.wait_until(lambda: self.landtrace("cat", "uprobe_events")[1] == "")
        self.start_ui()
        self.assertEqual(self.landtrace("ls", "instances")[1], "ui\n")


@ui_serving.needs_browser
class Panels(PageCase):
    def test_a_wrong_trigger_has_its_caret_and_a_right_one_is_listed(self):
        self.emit()
        page = self.open()
        self.choose(page, "job")
        self.set(page, "trigger", "hist:keys=nix")
        page.key("Enter")
        page.wait_until("document.getElementById('trigger-mistake').hidden === false")
        self.assertEqual(page.run("document.getElementById('trigger-mistake').textContent"),
                         "hist:keys=nix\n          ^\nCouldn't find field")
        self.set(page, "trigger", "traceoff if source = 7")
        page.key("Enter")
        page.wait_until("document.getElementById('trigger-mistake').textContent.includes('operator')")
        self.assertEqual(page.run("document.getElementById('trigger-mistake').textContent"),
                         "traceoff if source = 7\n" + " " * 20 + "^\nInvalid operator")
        self.set(page, "trigger", "traceoff if source == 77")
        page.key("Enter")
        page.wait_until("document.getElementById('triggers').innerText.includes('traceoff:unlimited if source == 77')")
        self.assertTrue(page.run("document.getElementById('trigger-mistake').hidden"))
        self.assertIn(f"landtrace write -a {JOB}/trigger 'traceoff if source == 77'", self.commands(page))
        self.press(page, "Remove", "document.getElementById('triggers')")
        page.wait_until("document.getElementById('triggers').children.length === 0")
        self.assertNotIn("source == 77", self.landtrace("cat", f"{JOB}/trigger")[1])

    def test_a_histogram_is_there_again_after_a_reload(self):
        self.emit("--threads", "3")
        page = self.open()
        self.choose(page, "job")
        page.run("document.getElementById('key').value = 'source'; document.getElementById('count').click()")
        page.wait_until("document.querySelectorAll('#bars i').length === 3")
        page = self.open()
        self.choose(page, "job")
        page.wait_until("document.querySelectorAll('#bars i').length === 3")
        self.assertEqual(page.run("document.getElementById('key').value"), "source")

    def test_what_is_done_to_an_event_is_not_done_to_the_one_chosen_behind_it(self):
        self.emit("--threads", "3")
        self.emit("--event", "other")
        page = self.open()
        page.wait_until("document.querySelectorAll('.event').length === 2")
        self.choose(page, "job")
        page.run("document.getElementById('key').value = 'source'; document.getElementById('count').click()")
        page.wait_until("document.querySelectorAll('#bars i').length === 3")
        page.run("document.getElementById('key').value = 'sequence.log2'; document.getElementById('count').click();"
                 "landtraceLive.events.choose('user_events:other')")
        self.wait_until(lambda: "hist:keys=sequence.log2" in self.landtrace("cat", f"{JOB}/trigger")[1])
        page.wait_until("document.querySelector('#event h2')?.textContent === 'user_events:other'")
        self.assertNotIn("hist:", self.landtrace("cat", JOB.replace("job", "other") + "/trigger")[1])
        self.assertIsNone(page.run("landtraceLive.panel.keys"))
        # Nor does an event that is refused take the place of the one behind it.
        page.run("Promise.all([landtraceLive.panel.show('user_events:none'), landtraceLive.panel.show('user_events:job')])")
        page.wait_until("document.querySelector('#event h2')?.textContent === 'user_events:job'")

    def test_a_latency_grows_on_all_pages_until_it_is_stopped(self):
        self.start_program(support.LANDTRACE, "run", "--", "bash", "-c", f"while :; do {REQUESTS}; done")
        self.wait_until(lambda: "req_done" in self.landtrace("list")[1])
        page = self.open()
        page.run("document.getElementById('latency-tab').click()")
        # In one step: events go with their program, which starts again and again.
        page.wait_until("(({from, to}) => from.options.length === 2 && (from.value = 'user_events:req_start', to.value = 'user_events:req_done'))"
                        "(landtraceLive.latency)")
        self.set(page, "latency-key", "id")
        self.set(page, "latency-by", "route")
        page.key("Enter")
        measured = "parseInt(document.querySelector('#latencies .field').innerText.replaceAll(',', ''))"
        page.wait_until(f"document.querySelector('#latencies h3') !== null && {measured} > 10")
        text = page.run("document.getElementById('latencies').innerText")
        self.assertRegex(text, r"route /login: [\d,]+ times\s+p50 [\d.]+ .?s   p90 [\d.]+ .?s   p99 [\d.]+ .?s   p99.9 ")
        before = page.run(measured)
        page.wait_until(f"{measured} > {before}")
        page = self.open()  # what runs is shown again
        page.wait_until(f"document.querySelector('#latencies h3') !== null && {measured} > {before}")
        self.assertIn("landtrace latency --json --interval=0.5 --from=user_events:req_start --to=user_events:req_done --key=id --by=route",
                      self.commands(page))
        self.press(page, "Stop", "document.getElementById('latencies')")
        page.wait_until("document.querySelector('#latencies button').innerText === 'Close'")
        self.press(page, "Close", "document.getElementById('latencies')")
        page.wait_until("document.querySelector('#latencies section') === null")

    def test_what_was_chosen_stays_while_its_program_starts_again(self):
        page = self.open()
        chosen = page.run("(({latency}) => { latency.setEvents(['a:x', 'a:y', 'a:z']); latency.from.value = 'a:z'; latency.to.value = 'a:y';"
                          " latency.setEvents([]); latency.setEvents(['a:x', 'a:y', 'a:z']);"
                          " return [latency.from.value, latency.to.value, latency.to.options.length]; })(landtraceLive)")
        self.assertEqual(chosen, ["a:z", "a:y", 3])

    @can_probe
    def test_functions_are_found_and_probed(self):
        program = self.start_program(support.LANDTRACE, "run", "--", PROBED, "1000000")
        self.wait_until(lambda: support.read_text(f"/proc/{program.pid}/comm") == "probed\n")
        page = self.open()
        page.run("document.getElementById('probe-tab').click()")
        self.set(page, "probe-object", str(program.pid))
        self.set(page, "probe-name", "handle_re?uest")
        page.key("Enter")
        page.wait_until("document.querySelectorAll('.function').length === 1")
        self.assertIn(f"landtrace functions --json {program.pid} 'handle_re?uest'", self.commands(page))
        self.set(page, "probe-arguments", "n=$arg1:s32 nix")
        self.press(page, "Calls")
        page.wait_until("document.getElementById('probe-mistake').hidden === false")
        said = page.run("document.getElementById('probe-mistake').textContent").split("\n")
        self.assertEqual(len(said), 3, said)
        self.assertEqual(said[0].rindex("nix"), said[1].index("^"), said)
        self.set(page, "probe-arguments", "n=$arg1:s32")
        self.press(page, "Calls")
        page.wait_until("document.getElementById('lines').innerText.includes(': handle_request: ')")
        path = os.path.realpath(PROBED)
        self.assertIn(f"landtrace write -a uprobe_events 'p:ui/handle_request {path}:handle_request n=$arg1:s32'", self.commands(page))
        self.assertRegex(page.run("document.getElementById('lines').innerText"), r": handle_request: \(0x[0-9a-f]+\) n=\d+")
        self.press(page, "Remove", "document.getElementById('probes')")
        page.wait_until("document.getElementById('probes').children.length === 0")
        self.wait_until(lambda: self.landtrace("cat", "uprobe_events")[1] == "")

    def test_programs_have_their_threads_and_events(self):
        self.emit("--threads", "3")
        page = self.open()
        self.switch_on(page)
        page.wait_until("document.querySelectorAll('.program').length === 1")
        page.run("document.querySelector('.program').open = true")
        page.wait_until("document.querySelectorAll('.part.thread').length === 3")
        self.assertRegex(page.run("document.querySelector('.part.kind').innerText"), r"^job\s+[\d,]+$")
        program = page.run("landtraceLive.programs.all()[0].pid")
        self.press(page, "Functions …")
        self.assertEqual(page.run("document.getElementById('probe-object').value"), str(program))
        self.assertFalse(page.run("document.getElementById('probe').hidden"))

    def test_the_timeline_is_zoomed_and_follows_again(self):
        self.emit("--threads", "2")
        page = self.open()
        self.switch_on(page)
        page.wait_until("landtraceLive.timeline.part?.lanes.length === 2 && landtraceLive.timeline.part.first < landtraceLive.timeline.part.from")
        self.assertEqual(page.run("document.getElementById('follow').getAttribute('aria-pressed')"), "true")
        box = page.run("(() => { const {left, top, width} = document.getElementById('timeline').getBoundingClientRect();"
                       " return [left, top, width]; })()")
        x, y = box[0] + box[2] * 0.7, box[1] + 30
        for _ in range(60):
            page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-100)
        page.wait_until("landtraceLive.timeline.part.to - landtraceLive.timeline.part.from < 1000")
        page.wait_until("!landtraceLive.timeline.isAsking && Math.round(landtraceLive.timeline.from) === landtraceLive.timeline.part.from")
        self.assertEqual(page.run("document.getElementById('follow').getAttribute('aria-pressed')"), "false")
        # It stands still, with the events themselves.
        part = page.run("[landtraceLive.timeline.part.from, landtraceLive.timeline.part.to]")
        updates = page.run("landtraceLive.updates")
        page.wait_until(f"landtraceLive.updates > {updates + 5}")
        self.assertEqual(page.run("[landtraceLive.timeline.part.from, landtraceLive.timeline.part.to]"), part)
        page.run("document.getElementById('timeline').focus()")
        for _ in range(26):
            page.key("-")
        page.wait_until("landtraceLive.timeline.part.to - landtraceLive.timeline.part.from > 1_000_000")
        page.wait_until("(landtraceLive.timeline.part.counts ?? landtraceLive.timeline.part.events).length > 10")
        page.key("End")
        page.wait_until("document.getElementById('follow').getAttribute('aria-pressed') === 'true'")
        last = page.run("landtraceLive.timeline.part.last")
        page.wait_until(f"landtraceLive.timeline.part.last > {last} && landtraceLive.timeline.part.to > {last}")

    def test_a_timeline_that_stands_still_is_asked_for_until_it_is_there(self):
        self.emit()
        page = self.open()
        self.switch_on(page)
        page.wait_until("landtraceLive.timeline.part?.last > 0")
        page.run("document.getElementById('follow').click()")
        page.run("window.usual = window.fetch; window.failed = 0;"
                 "window.fetch = (...all) => (++window.failed, Promise.reject(new Error('no contact')))")
        page.run("landtraceLive.timeline.zoom(0.5)")
        page.wait_until("window.failed > 3")
        page.run("window.fetch = window.usual")
        page.wait_until("(({from, part, length}) => Math.round(from) === part.from && Math.round(from + length) === part.to)"
                        "(landtraceLive.timeline)")

    def test_an_event_in_the_timeline_says_its_line(self):
        program = self.emit("--pause", "10000")  # 300 events have their lines
        page = self.open()
        self.switch_on(page)
        self.stop(program)
        page.wait_until("landtraceLive.timeline.part")
        page.run("landtraceLive.timeline.zoom(0.5)")
        page.wait_until("(({part}) => part.to - part.from <= 1_000_000 && part.events?.some((event) => event.length === 4))"
                        "(landtraceLive.timeline)")
        # What is followed may move while it is pointed at.
        page.run("document.getElementById('follow').click()")
        page.wait_until("(({isAsking, from, part}) => !isAsking && Math.round(from) === part.from)(landtraceLive.timeline)")
        found = page.run("(() => { const {part} = landtraceLive.timeline; const [us, lane] = part.events[part.events.length >> 1];"
                         " const canvas = document.getElementById('timeline'); const box = canvas.getBoundingClientRect();"
                         " const x = box.left + 170 + us / (part.to - part.from) * (box.width - 170);"
                         " return [Math.min(x, box.right - 3), box.top + 18 + lane * 15 + 7]; })()")  # the newest is at the very edge
        page.mouse("mouseMoved", found[0], found[1])
        page.wait_until("document.getElementById('timeline-told').innerText.includes(': job: ')")

    def test_the_snapshot_is_saved(self):
        self.emit()
        page = self.open()
        self.switch_on(page)
        status, text = self.ask("GET", f"/{self.token}/snapshot")
        self.assertEqual(status, 200)
        self.assertRegex(text.splitlines()[2], r"^ +producer-\d+ +\( *\d+\) \[\d+\] .* \d+\.\d{6}: job: source=")
        page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=self.folder)
        page.run("document.getElementById('snapshot').click()")
        self.wait_until(lambda: os.path.exists(os.path.join(self.folder, "landtrace-snapshot.txt")))
        self.assertIn("landtrace cat instances/ui/trace_pipe > landtrace-snapshot.txt", self.commands(page))

    def test_a_domain_that_is_not_the_users_own_is_named(self):
        page = self.open()
        page.wait_until("document.getElementById('commands').innerText.startsWith('export LANDTRACE_SOCKET=')")
        self.assertEqual(self.commands(page)[0], f"export LANDTRACE_SOCKET={self.socket}")


@ui_serving.needs_browser
class OfARecording(support.Case):
    def test_a_recording_shows_itself(self):
        recording = self.start("record", "--ui", "-o", self.file, "--", PRODUCER, "--abi", "--count", "100000000", "--pause", "1000")
        address = recording.stderr.readline().strip()
        self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
        page = browser.Browser()
        self.addCleanup(page.close)
        page.open(address)
        # All is switched on.
        page.wait_until("document.getElementById('lines').innerText.includes(': job: ')")
        page.wait_until("document.querySelector('.event input')?.checked")
        self.stop(recording, signal.SIGINT)
        page.wait_until("document.getElementById('state').className === 'gone'")
        self.assertGreater(len(self.report_json()[0]), 10)

    def test_what_does_not_fit(self):
        for words in (("--format", "json"), ("-o", "-")):
            status, out, err = self.landtrace("record", "--ui", *words, "--", "true")
            self.assertEqual((status, out), (2, ""))
            self.assert_one_line(err, "--ui")
        recorder = self.start("record", "--listen", "nix", "-o", self.file, "--", "sleep", "1000")
        self.assertIn("want 127.0.0.1:PORT", recorder.stderr.readline())
        self.stop(recorder)


if __name__ == "__main__":
    ui_serving.main()
