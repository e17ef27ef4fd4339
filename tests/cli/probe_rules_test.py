"""What events of probes can do beside being recorded: filters, triggers, histograms, instances, stacks."""
import os
import re
import signal
import time

import support

PROBED = support.copied(os.environ["PROBED"], "probed")
KPROBE_GEN = support.copied(os.environ["KPROBE_GEN"], "kprobe_event_gen_test")

CALL = f"p:g/call {PROBED}:handle_request number=$arg1:s32 route=+0($arg2):string first=+0($arg2):b4@0/8 " \
       "letters=+0($arg2):char[4] comm=$comm"
BACK = f"r:g/back {PROBED}:handle_request rc=$retval:s32 number=$arg1:s32"


class Rules(support.Case):
    def setUp(self):
        super().setUp()
        self.daemon = self.serve()
        self.append("uprobe_events", CALL)
        self.append("uprobe_events", BACK)

    def write(self, file, text):
        status, _, err = self.landtrace("write", file, text)
        self.assertEqual(status, 0, err)

    def append(self, file, text):
        status, _, err = self.landtrace("write", "-a", file, text)
        self.assertEqual(status, 0, err)

    def read(self, file):
        status, out, err = self.landtrace("cat", file)
        self.assertEqual(status, 0, err)
        return out

    def run_probed(self, *words):
        status, _, err = self.landtrace("run", "--", PROBED, *words)
        self.assertEqual(status, 0, err)

    def trace(self, file="trace"):
        """Of each event its name and text, and lines of stacks."""
        lines = [line for line in self.read(file).splitlines() if not line.startswith("#")]
        return [re.sub(r"^.*\d\.\d{6}: ", "", line) for line in lines]

    def numbers(self, event, file="trace"):
        return [int(re.search(r"number=(-?\d+)", line)[1]) for line in self.trace(file) if line.startswith(event + ":")]


class Filters(Rules):
    def test_all_types_of_arguments(self):
        self.write("events/g/call/enable", "1")
        for text, expected in (("number > 7", [8, 9]), ("number == 3 || number == 4", [3, 4]), ("number & 8", [8, 9]),
                               ('route == "/odd" && number < 4', [1, 3]), ('route ~ "/ev*"', [0, 2, 4, 6, 8]),
                               ("first == 0xf && number < 2", [0, 1]), ("first != 0xf", []),
                               ('comm == "probed" && number == 1', [1]), ('comm == "other"', []),
                               ('COMM ~ "prob*" && number == 2', [2]), ("common_pid > 0 && number == 5", [5])):
            with self.subTest(text):
                self.write("trace", " ")
                self.write("events/g/call/filter", text)
                self.run_probed("10")
                self.assertEqual(self.numbers("call"), expected)

    def test_a_negative_result(self):
        self.append("uprobe_events", f"r:g/less {PROBED}:countdown rc=$retval:s64 minus=\\-3:s16")
        self.write("events/g/less/enable", "1")
        self.write("events/g/less/filter", "minus < -2 && rc >= 5")
        self.run_probed("1")
        self.assertEqual([re.sub(r"\(.*\) ", "", line) for line in self.trace()], ["less: rc=5 minus=-3"])


class Triggers(Rules):
    def test_switches_between_probes_and_user_events(self):
        self.append("dynamic_events", "u:mark int n")
        self.write("events/g/call/trigger", "enable_event:g:back if number == 2")
        self.append("events/g/call/trigger", "enable_event:user_events:mark:1")
        self.write("events/g/back/trigger", "disable_event:g:back if number == 4")
        self.run_probed("9")
        self.assertEqual(self.numbers("back"), [2, 3])  # the fourth switches it off before it is recorded
        self.assertEqual(self.read("events/user_events/mark/enable"), "1*\n")

    def test_traceoff_and_snapshot(self):
        self.write("events/g/call/enable", "1")
        self.write("events/g/call/trigger", "traceoff if number == 3")
        self.append("events/g/call/trigger", "snapshot:1 if number == 1")
        self.run_probed("9")
        self.assertEqual(self.numbers("call", "snapshot"), [0, 1])
        self.assertEqual(self.numbers("call"), [2, 3])

    def test_latency_by_variables_of_calls_and_returns(self):
        self.append("synthetic_events", "took u64 us; s32 number; char route[]")
        self.write("events/g/call/trigger", "hist:keys=common_pid:ts0=common_timestamp.usecs:r=route")
        self.write("events/g/back/trigger", "hist:keys=common_pid:lat=common_timestamp.usecs-$ts0:where=$r:"
                   "onmatch(g.call).took($lat,number,$where):onmax($lat).save(number)")
        self.write("events/synthetic/took/enable", "1")
        self.append("dynamic_events", "e:ep/over synthetic.took us=$us")
        self.write("events/ep/over/enable", "1")
        self.run_probed("3")
        found = [re.fullmatch(r"took: us=(\d+) number=(\d) route=(/\w+)", line) for line in self.trace()]
        found = [match.groups() for match in found if match]
        self.assertEqual([(number, route) for _, number, route in found], [("0", "/even"), ("1", "/odd"), ("2", "/even")])
        longest = max(int(us) for us, _, _ in found)
        self.assertGreaterEqual(longest, 100)
        self.assertRegex(self.read("events/g/back/hist"), rf"max: +{longest} +number: +\d")
        self.assertEqual(len([line for line in self.trace() if line.startswith("over: (synthetic.took) us=0x")]), 3)


class Histograms(Rules):
    def rows(self, event, trigger):
        """After ten requests. Keys, and how many hits they have."""
        path = f"events/g/{event}/"
        self.write(path + "trigger", "hist:" + trigger)
        self.run_probed("10")
        found = re.findall(r"^\{ (.*?) *\} hitcount: +(\d+)", self.read(path + "hist"), re.M | re.S)
        self.append(path + "trigger", "!hist:" + trigger)
        return {re.sub(r"\s+", " ", key): int(hits) for key, hits in found}

    def test_of_what_is_returned(self):
        # "/even" and "/odd" have five letters and four, and the number is added.
        self.assertEqual(self.rows("back", "keys=rc"), {f"rc: {n}": 2 for n in (5, 7, 9, 11, 13)})
        self.assertEqual(self.rows("back", "keys=rc.log2"), {"rc: ~ 2^3": 4, "rc: ~ 2^4": 6})
        self.assertEqual(self.rows("back", "keys=rc.hex"), {f"rc: {n:x}": 2 for n in (5, 7, 9, 11, 13)})

    def test_of_texts_and_names(self):
        self.assertEqual(self.rows("call", "keys=route"), {"route: /even": 5, "route: /odd": 5})
        self.assertEqual(list(self.rows("call", "keys=comm")), ["comm: probed"])

    def test_of_places_by_their_functions_after_the_program_has_ended(self):
        found = self.rows("call", "keys=__probe_ip.sym")
        self.assertEqual([key.split()[-1] for key in found], ["handle_request"])
        found = self.rows("back", "keys=__probe_ret_ip.sym-offset")
        self.assertEqual(len(found), 1)
        self.assertRegex(list(found)[0], r" shop::Server::run\(int\)\+0x[0-9a-f]+$")

    def test_of_stacks(self):
        found = self.rows("call", "keys=common_stacktrace")
        self.assertEqual(len(found), 1)
        stack = list(found)[0]
        self.assertRegex(stack, r"^common_stacktrace: handle_request\+0x0 \[[^]]*probed\] shop::Server::run\(int\)\+0x")
        self.assertNotIn("landtrace::", stack)


class Stacks(Rules):
    def stack_of(self, event):
        """The functions, the nearest first."""
        lines = self.trace()
        begin = next(i for i, line in enumerate(lines) if line.startswith(event + ":"))
        self.assertEqual(lines[begin + 1], "<user stack trace>")
        frames = []
        for line in lines[begin + 2:]:
            if not line.startswith(" => "):
                break
            frames.append(line[4:].split(" [")[0])
        return frames

    def test_begin_with_the_probed_function_and_have_none_of_ours(self):
        self.append("uprobe_events", f"p:g/down {PROBED}:countdown n=%di:s32")
        self.append("uprobe_events", f"r:g/up {PROBED}:countdown")
        for event in ("call", "back", "down", "up"):
            self.write(f"events/g/{event}/trigger", "stacktrace:1" if event != "down" else "stacktrace if n == 1")
            self.write(f"events/g/{event}/enable", "1")
        self.write("events/g/down/filter", "n == 1")
        self.run_probed("1")
        self.assertNotIn("agent", self.read("trace"))
        call = self.stack_of("call")
        self.assertEqual(call[0], "handle_request+0x0")
        self.assertRegex(call[1], r"^shop::Server::run\(int\)\+0x")
        self.assertRegex(call[2], r"^main\+0x")
        back = self.stack_of("back")
        self.assertRegex(back[0], r"^shop::Server::run\(int\)\+0x")
        self.assertRegex(back[1], r"^main\+0x")
        # Each of these calls has a stub of a return between it and its caller.
        down = self.stack_of("down")
        self.assertEqual(down[0], "countdown+0x0")
        self.assertEqual([frame.split("+")[0] for frame in down[:6]], ["countdown"] * 5 + ["main"])
        up = self.stack_of("up")
        self.assertEqual([frame.split("+")[0] for frame in up[:5]], ["countdown"] * 4 + ["main"])

    def test_in_the_middle_of_a_function(self):
        status, out, err = self.landtrace("functions", PROBED, "handle_request", "--json")
        self.assertEqual(status, 0, err)
        # The first place behind the entry that can be one.
        for offset in range(1, 16):
            if self.landtrace("write", "-a", "uprobe_events", f"p:g/mid {PROBED}:handle_request+{offset}")[0] != 0:
                continue
            self.write("events/g/mid/trigger", "stacktrace:1")
            if self.landtrace("write", "events/g/mid/enable", "1")[0] == 0:
                self.run_probed("1")
                if any(line.startswith("mid:") for line in self.trace()):
                    break
            self.append("events/g/mid/trigger", "!stacktrace")
            self.write("events/g/mid/enable", "0")
            self.append("uprobe_events", "-:g/mid")
        stack = self.stack_of("mid")
        self.assertEqual(stack[0], f"handle_request+{offset:#x}")
        self.assertRegex(stack[1], r"^shop::Server::run\(int\)\+0x")


class Instances(Rules):
    def test_each_has_its_own_filter(self):
        for name, text in (("a", "number < 2"), ("b", "number > 7")):
            self.assertEqual(self.landtrace("mkdir", "instances/" + name)[0], 0)
            self.write(f"instances/{name}/events/g/call/filter", text)
            self.write(f"instances/{name}/events/g/call/enable", "1")
        self.run_probed("10")
        self.assertEqual(self.trace(), [])
        self.assertEqual(self.numbers("call", "instances/a/trace"), [0, 1])
        self.assertEqual(self.numbers("call", "instances/b/trace"), [8, 9])
        self.assertEqual(self.landtrace("write", "-a", "uprobe_events", "-:g/call")[0], 1)

    def test_threads_that_are_listed_and_others(self):
        self.write("events/g/call/enable", "1")
        self.write("set_event_pid", "1")
        self.run_probed("3")
        self.assertEqual(self.trace(), [])
        self.write("set_event_pid", " ")
        running = self.start("run", "--", PROBED, "1000000")
        self.wait_until(lambda: len(self.trace()) > 10)
        pid = re.search(r"probed-(\d+)", self.read("trace"))[1]
        self.write("set_event_notrace_pid", pid)
        time.sleep(0.1)
        before = len(self.trace())
        self.run_probed("3")
        self.assertEqual(len(self.trace()), before + 3)
        self.write("set_event_notrace_pid", " ")
        self.write("set_event_pid", pid)
        self.write("trace", " ")
        self.run_probed("3")
        self.wait_until(lambda: len(self.trace()) > 10)
        self.assertEqual(set(re.findall(r"probed-(\d+)", self.read("trace"))), {pid})
        self.stop(running)

    def test_by_cpu_with_markers_between(self):
        self.write("events/g/call/enable", "1")
        self.run_probed("4")
        self.write("trace_marker", "between")
        self.run_probed("2")
        self.assertEqual([line.split(":")[0] for line in self.trace()], ["call"] * 4 + ["tracing_mark_write"] + ["call"] * 2)
        cpus = [name.split("/")[-1].rstrip("/") for name in self.landtrace("ls", "per_cpu")[1].split()]
        self.assertEqual(sum(len(self.trace(f"per_cpu/{cpu}/trace")) for cpu in cpus), 7)

    def test_an_event_by_hand(self):
        self.write("events/g/call/inject", '__probe_ip=0x1234 number=-5 route="/by/hand"')
        self.assertEqual(self.numbers("call"), [-5])
        self.assertIn('(0x1234) number=-5 route="/by/hand"', self.read("trace"))


class Counts(Rules):
    def hits(self):
        return {words[1]: [int(word) for word in words[2:]] for line in self.read("uprobe_profile").splitlines()
                for words in [line.split()]}

    def test_profiles_are_exact(self):
        self.append("kprobe_events", "p:g/k probed:handle_request")
        self.append("kprobe_events", "r1:g/kback probed:countdown")
        for event in ("call", "k", "kback"):
            self.write(f"events/g/{event}/enable", "1")
        self.run_probed("1234")
        self.assertEqual(self.hits()["call"], [1234])
        # One call at a time is followed, and four were within it.
        self.assertEqual([line.split() for line in self.read("kprobe_profile").splitlines()],
                         [["k", "1234", "0"], ["kback", "1", "4"]])


class Restart(Rules):
    def test_the_next_owner_has_the_probes_of_a_running_program(self):
        for event in ("call", "back"):
            self.write(f"events/g/{event}/enable", "1")
        self.write("events/g/call/filter", "number > 5")
        self.write("events/g/back/trigger", "hist:keys=rc")
        running = self.start("run", "--", PROBED, "1000000")
        self.wait_until(lambda: "back:" in self.read("trace"))
        self.stop(self.daemon, signal.SIGKILL)
        self.serve("--trace-event", "g:*")
        self.assertEqual(self.read("uprobe_events"), "".join(line.replace("$arg1", "$arg1") + "\n" for line in (CALL, BACK)))
        self.wait_until(lambda: "call:" in self.read("trace") and "back:" in self.read("trace"))
        numbers = self.numbers("call")
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        self.write("events/g/back/trigger", "hist:keys=common_pid")
        self.wait_until(lambda: "Hits: 0" not in self.read("events/g/back/hist"))
        self.assertIsNone(running.poll())
        self.stop(running)


    def test_the_next_owner_has_the_events_of_a_pattern(self):
        self.append("uprobe_events", "p:all/* libc.so.6:qsort*")
        self.append("uprobe_events", "p:g/strings libc.so.6:str*")
        defined = self.read("uprobe_events")
        self.assertIn("p:all/qsort_r libc.so.6:qsort_r\n", defined)
        self.assertIn("p:g/strings libc.so.6:str*\n", defined)
        self.stop(self.daemon, signal.SIGKILL)
        self.serve()
        self.assertEqual(self.read("uprobe_events"), defined)
        self.write("events/g/strings/enable", "1")
        self.run_probed("3")
        self.assertIn("strings:", self.read("trace"))
        status, _, err = self.landtrace("write", "-a", "uprobe_events", "-:g/*")
        self.assertNotEqual(status, 0)
        self.assertEqual(self.read("uprobe_events"), defined)
        self.write("events/g/strings/enable", "0")
        self.append("uprobe_events", "-:g/*")
        self.append("uprobe_events", "-:all/*")
        self.assertEqual(self.read("uprobe_events"), "")


class FromC(Rules):
    def test_the_documents_example(self):
        self.append("kprobe_events", "p:g/early libc:getppid")  # so that programs that start have what probes need
        status, out, err = self.landtrace("run", "--", KPROBE_GEN)
        self.assertEqual((status, err), (0, ""))
        found = [re.sub(r"^.*?: (gen_\w+): \(.*?\)", r"\1", line) for line in out.splitlines()]
        self.assertEqual(found, ['gen_kprobe_test dfd=7 filename="/etc/passwd" flags=0x8000 mode=420',
                                 "gen_kretprobe_test ret=7",
                                 'gen_kprobe_test dfd=-1 filename="no/such/file" flags=0x241 mode=384',
                                 "gen_kretprobe_test ret=-2"])
        self.assertEqual(self.read("kprobe_events"), "p:g/early libc:getppid\n")


if __name__ == "__main__":
    support.main_with_probes()
