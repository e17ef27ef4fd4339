"""landtrace ui: a running domain in a browser, live."""
import os
import re
import sys

import browser
import support
import ui_serving
from support import PRODUCER
from ui_serving import PageCase, Served


class Server(Served):
    """What it lets in and what not."""

    def test_files_of_its_instance_and_no_others(self):
        self.emit()
        self.assertEqual(self.ask("GET", f"/{self.token}/read?path=available_events"), (200, "user_events:job\n"))
        enable = "instances/ui/events/user_events/job/enable"
        self.assertEqual(self.write(enable, "1"), (200, ""))
        self.assertEqual(self.ask("GET", f"/{self.token}/read?path={enable}"), (200, "1\n"))
        self.assertEqual(self.landtrace("cat", enable)[1], "1\n")
        self.assertEqual(self.landtrace("cat", "events/user_events/job/enable")[1], "0\n")
        for path in ("events/user_events/job/enable", "instances/ui/../../tracing_on", "instances/ui/..", "instances/ui2/tracing_on", ""):
            self.assertEqual(self.write(path, "1")[0], 422, path)
            self.assertEqual(self.ask("GET", f"/{self.token}/read?path={path}")[0], 422, path)
        self.assertEqual(self.ask("GET", f"/{self.token}/read?path=instances/ui/trace_pipe")[0], 422)

    def test_of_a_recording_that_is_gone_already_it_ends(self):
        words = self.socket, "127.0.0.1:0", support.LANDTRACE, "*"
        self.assert_ends_without_its_starter(ui_serving.PROGRAM, *words)

    def test_what_the_kernel_says_of_a_mistake(self):
        self.emit()
        self.assertEqual(self.write("instances/ui/events/user_events/job/filter", "nix == 1"), (422, "Field not found"))
        self.assertEqual(self.write("instances/ui/events/user_events/jbo/filter", "a == 1")[0], 422)

    def test_other_sites_and_guessers_stay_out(self):
        self.emit()
        page = f"/{self.token}/"
        enable = "instances/ui/events/user_events/job/enable"
        self.assertEqual(self.ask("GET", page)[0], 200)
        for status, path, headers in ((403, "/", {}), (403, f"/{'0' * 32}/", {}), (403, page, {"Host": "evil.example"}),
                                      (403, page, {"Origin": "http://evil.example"}), (403, page, {"Sec_Fetch_Site": "cross-site"}),
                                      (404, page + "nothing", {})):
            self.assertEqual(self.ask("GET", path, **headers)[0], status, (path, headers))
        for headers in ({"Origin": "http://evil.example"}, {"Origin": ""}, {"X_Landtrace": ""}, {"Host": "localhost:1"}):
            self.assertEqual(self.write(enable, "1", **headers)[0], 403, headers)
        self.assertEqual(self.landtrace("cat", enable)[1], "0\n")
        self.assertEqual(self.write(enable, "1" * 100_000)[0], 413)

    def test_its_instance_goes_with_it(self):
        self.assertEqual(self.landtrace("ls", "instances")[1], "ui\n")
        first = self.ui
        self.start_ui()
        self.assertEqual(self.landtrace("ls", "instances")[1], "ui\nui-2\n")
        self.assertEqual(self.stop(first)[0], 0)
        self.assertEqual(self.landtrace("ls", "instances")[1], "ui-2\n")

    def test_that_the_domain_is_gone_is_told_once(self):
        connection, told = self.begin_stream()
        self.addCleanup(connection.close)
        while not self.next_news(told)["isConnected"]:
            pass
        self.stop(self.daemon)
        while self.next_news(told)["isConnected"]:
            pass
        self.daemon = self.serve()
        self.assertTrue(self.next_news(told)["isConnected"])

    def test_bad_addresses(self):
        for address in ("4711", "127.0.0.1", "127.0.0.1:x", "nix:1", "127.0.0.1:70000"):
            status, out, err = self.landtrace("ui", "--listen", address)
            self.assertEqual((status, out), (2, ""))
            self.assert_one_line(err, address, "want 127.0.0.1:PORT")
        status, _, err = self.landtrace("ui", "--listen", self.host)
        self.assertEqual(status, 1)
        self.assert_one_line(err, self.host, "in use")

    def test_no_domain(self):
        self.stop(self.ui)
        self.stop(self.daemon)
        status, out, err = self.landtrace("ui")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("landtraced", err)

    def test_modules_do_not_share_names(self):
        _, page = self.ask("GET", f"/{self.token}/")
        names = re.findall(r"^(?:async )?(?:function|class|const|let) (\w+)", page, re.MULTILINE)
        self.assertGreater(len(names), 40)
        self.assertEqual(sorted(names), sorted(set(names)))


class InABrowser(PageCase):
    def test_an_event_is_switched_on_and_off(self):
        self.emit()
        page = self.open()
        self.switch_on(page)
        page.wait_until("landtraceLive.count > 10 && document.getElementById('program-rows').innerText.includes('producer')")
        self.assertIn("landtrace write instances/ui/events/user_events/job/enable 1", page.run("document.getElementById('commands').innerText"))
        page.run("document.querySelector('.event input').click()")
        self.wait_until(lambda: self.landtrace("cat", "instances/ui/events/user_events/job/enable")[1] == "0\n")

    def test_a_wrong_filter_has_its_caret(self):
        self.emit()
        page = self.open()
        self.choose(page, "job")
        page.run("document.getElementById('filter').focus()")
        page.type("sequence > 5 && nix == 3")
        page.key("Enter")
        page.wait_until("document.getElementById('mistake')?.hidden === false")
        self.assertEqual(page.run("document.getElementById('mistake').textContent"),
                         "sequence > 5 && nix == 3\n" + " " * 20 + "^\nparse_error: Field not found")
        page.run("document.getElementById('filter').value = ''")
        page.type("sequence > 5")
        page.key("Enter")
        page.wait_until("document.getElementById('mistake').hidden")
        self.wait_until(lambda: self.landtrace("cat", "instances/ui/events/user_events/job/filter")[1] == "sequence > 5\n")

    def test_a_histogram_grows(self):
        self.emit("--threads", "3")
        page = self.open()
        self.choose(page, "job")
        page.run("document.getElementById('key').value = 'source'; document.getElementById('count').click()")
        page.wait_until("document.querySelectorAll('#bars i').length === 3")
        counted = int(page.run("parseInt(document.getElementById('hits').innerText.replaceAll(',', ''))"))
        page.wait_until(f"parseInt(document.getElementById('hits').innerText.replaceAll(',', '')) > {counted}")

    def test_reloaded_and_two_pages(self):
        self.emit()
        page = self.open()
        self.switch_on(page)
        page = self.open()
        page.wait_until("document.querySelector('.event input')?.checked")
        other = browser.Browser()
        self.addCleanup(other.close)
        other.open(self.page_url)
        for each in (page, other):
            each.wait_until("document.getElementById('lines').innerText.includes(': job: ')")
            before = each.run("landtraceLive.updates")
            each.wait_until(f"landtraceLive.updates > {before + 2}")

    def test_the_owner_is_restarted_under_it(self):
        program = self.emit()
        page = self.open()
        self.stop(program)
        self.stop(self.daemon)
        page.wait_until("document.getElementById('state').innerText.includes('the domain is gone')")
        # Answers that are late, and what fails meanwhile, do not say something else.
        self.assertEqual(self.state_after(page, "landtraceLive.refresh()"), "the domain is gone; waiting for it")
        self.daemon = self.serve()
        page.wait_until("landtraceLive.isConnected && document.getElementById('state').innerText.includes('records into')")
        self.emit()
        self.switch_on(page)

    def test_contact_is_lost_and_found(self):
        self.check_contact(self.open(), "records into")

    def test_a_look_that_failed_is_forgotten_when_one_works(self):
        page = self.open()
        page.wait_until("document.getElementById('state').innerText.startsWith('records into')")
        failing = "landtraceLive.state.watch(Promise.reject(new Error('nothing')))"
        self.assertEqual(self.state_after(page, failing), "nothing")
        self.assertTrue(self.state_after(page, "landtraceLive.refresh()").startswith("records into"))
        # What the user did and failed is not undone by looking.
        page.run("landtraceLive.state.complain('refused')")
        self.assertEqual(self.state_after(page, "landtraceLive.refresh()"), "refused")

    def test_no_text_becomes_markup(self):
        text = "</pre><img src=x onerror=hurt()>\x1b\u2028"
        self.start_program(support.LANDTRACE, "run", "--", support.copied(PRODUCER, "<img src=x>"), "--text", text, "--event", "<b>job",
                           "--count", "100000000", "--pause", "1000")
        self.wait_until(lambda: "<b>job" in self.landtrace("list")[1])
        page = self.open()
        self.choose(page, "<b>job")
        page.run("document.querySelector('.event input').click()")
        page.wait_until("document.getElementById('lines').innerText.includes('</pre><img src=x onerror=hurt()>\\\\x1b\\\\u2028')")
        page.wait_until("document.getElementById('program-rows').innerText.includes('<img src=x>')")
        self.assertEqual(page.run("document.querySelectorAll('img, main b:not(.field b)').length"), 0)

    def test_no_text_is_another_line(self):
        """Neither texts of events nor names of threads; and events of one name in two systems are two."""
        for line in ("u:msg char[120] s", "e:other/msg user_events/msg"):
            self.assertEqual(self.landtrace("write", "-a", "dynamic_events", line)[0], 0)
        for event in ("user_events/msg", "other/msg"):
            self.assertEqual(self.landtrace("write", f"instances/ui/events/{event}/enable", "1")[0], 0)
        forged = "x\n            sshd-1       (      1) [001] .....  9999.000001: forged: id=0x1 (1)\nCPU:1 [LOST 777 EVENTS]\n"
        payload = forged.encode().ljust(120, b"\0").hex()
        emitter = os.path.join(os.path.dirname(os.path.abspath(__file__)), "emitter.py")
        names = ("CPU:1 [LOST 7 E", "a\nCPU:0 [LOST 7", "a-1 [0] . 1: x:")
        for name in names:
            status, _, err = self.landtrace("run", "--", sys.executable, emitter, "--comm", name, "msg char[120] s", payload)
            self.assertEqual(status, 0, err)
        page = self.open()
        page.wait_until("landtraceLive.count === 6")
        self.assertEqual(page.run("[landtraceLive.lost, Object.fromEntries(landtraceLive.events.counts)]"),
                         [0, {"user_events:msg": 3, "other:msg": 3}])
        self.assertEqual(page.run("[...landtraceLive.programs.threads.values()].map(({comm}) => comm).sort()"),
                         sorted(["CPU:1 [LOST 7 E", "a?CPU:0 [LOST 7", "a-1 [0] . 1: x:"]))
        lines = page.run("document.getElementById('lines').innerText").splitlines()
        self.assertEqual(len(lines), 6)
        self.assertEqual(sum(": msg: s=x\\n  " in line for line in lines), 3, lines)
        self.assertEqual(sum(": msg: " in line for line in lines), 6, lines)
        # Rates are beside their own event.
        page.wait_until("document.getElementById('event-rows').innerText.match(/\\/s\\s+3/g)?.length === 2")
        # The domain's files list no option that the kernel has not.
        self.assertNotIn("landtrace", self.landtrace("cat", "instances/ui/trace_options")[1])
        self.assertNotIn("landtrace", self.landtrace("ls", "instances/ui/options")[1])

    def test_who_is_told_all_anew_shows_no_line_twice(self):
        """As a page that was slow, or whose connection has ended meanwhile."""
        self.assertEqual(self.landtrace("write", "-a", "dynamic_events", "u:job u32 source; u32 sequence")[0], 0)
        self.assertEqual(self.landtrace("write", "instances/ui/events/user_events/job/enable", "1")[0], 0)
        page = self.open()
        status, _, err = self.landtrace("run", "--", PRODUCER, "--abi", "--count", "20")
        self.assertEqual(status, 0, err)
        page.wait_until("landtraceLive.count === 20")
        lines = page.run("document.getElementById('lines').innerText")
        self.assertEqual(lines.count(": job: "), 20)
        page.run("new Promise((isTold) => new EventSource('stream').addEventListener('message', "
                 "(event) => isTold(landtraceLive.take(JSON.parse(event.data)))))")
        self.assertEqual(page.run("document.getElementById('lines').innerText"), lines)

    def test_a_small_dark_window(self):
        self.emit()
        page = self.open()
        page.prefer("dark")
        page.resize(400, 300)
        self.addCleanup(page.resize, 1200, 760)
        page.wait_until("document.documentElement.dataset.theme === 'dark'")
        self.choose(page, "job")
        self.assertEqual(page.run("document.documentElement.scrollWidth"), 400)


if __name__ == "__main__":
    ui_serving.main()
