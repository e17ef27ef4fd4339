"""Probes of functions by record, hist and latency: defined for the command, and gone behind it."""
import contextlib
import json
import os
import re
import signal
import sys
import threading

import support
from support import LANDTRACE, needs_root


PROBED = support.copied(os.environ["PROBED"], "probed")
STATIC = support.copied(os.environ["PROBED_STATIC"], "probed_static")


class Probe(support.Case):
    def fields(self, name, probe, *words, options=()):
        """Of all events of that name that a recording of the probe has."""
        status, _, err = self.landtrace("record", "-o", self.file, "-p", probe, *options, "--", PROBED, *words)
        self.assertEqual(status, 0, err)
        events, lost = self.report_json()
        self.assertEqual(lost, 0)
        self.assertEqual({event["event"] for event in events}, {name})
        self.assertEqual({event["system"] for event in events}, {"probes"})
        return [event["fields"] for event in events]

    def json_of(self, *words):
        status, out, err = self.landtrace(*words)
        self.assertEqual(status, 0, err)
        return json.loads(out.splitlines()[-1])

    def refused(self, *words, status=1):
        found, out, err = self.landtrace(*words, "--", PROBED, "1")
        self.assertEqual((found, out), (status, ""), err)
        self.assertTrue(err.startswith("landtrace: "), err)
        return err

    def definitions(self, file="uprobe_events"):
        return self.landtrace("cat", file)[1]


class Record(Probe):
    def test_calls_with_their_arguments(self):
        found = self.fields("handle_request", "probed:handle_request number=$arg1:s32 route=+0($arg2):string", "7")
        self.assertEqual([event["number"] for event in found], list(range(7)))
        self.assertEqual([event["route"] for event in found], ["/even", "/odd"] * 3 + ["/even"])

    def test_the_program_is_the_command_where_none_is_named(self):
        found = self.fields("handle_request_ret", "handle_request%return rc=$retval:s32 number=$arg1:s32", "4")
        self.assertEqual([(event["number"], event["rc"]) for event in found], [(0, 5), (1, 5), (2, 7), (3, 7)])

    def test_entry_and_return_of_one_function(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-p", "handle_request", "-p", "handle_request%return",
                                        "--", PROBED, "3")
        self.assertEqual(status, 0, err)
        self.assertEqual([event["event"] for event in self.report_json()[0]],
                         ["handle_request", "handle_request_ret"] * 3)

    def test_a_library_of_the_system(self):
        found = self.fields("strlen_usleep", "strlen_usleep=libc.so.6:usleep us=$arg1:u32", "5")
        self.assertEqual([event["us"] for event in found], [100] * 5)

    def test_a_function_of_cpp(self):
        self.assertEqual([event["n"] for event in self.fields("shop_Server_run", "shop::Server::run n=$arg2:s32", "3")], [3])

    def test_a_child_by_fork_and_exec(self):
        self.assertEqual(len(self.fields("handle_request", "handle_request", "3", "exec")), 6)

    def test_children_that_share_the_memory_are_told_from_their_parent(self):
        # The parent's thread has events of its own before and between.
        program = """if True:
            import os, subprocess, sys
            def spawned():
                pid = os.posix_spawn("/bin/true", ["true"], os.environ)
                os.waitpid(pid, 0)
                return pid
            def forked():
                child = subprocess.Popen(["/bin/true"])
                child.wait()  # by itself: it looks after its child when nobody has it any more, too
                return child.pid
            print("parent", os.getpid())
            for start in [spawned, forked, spawned, forked] * 5:
                os.getppid()
                print(start())
            os.getppid()
        """
        status, out, err = self.landtrace("record", "-o", self.file, "-p", "e=libc.so.6:execve", "-p", "g=libc.so.6:getppid",
                                          "--", sys.executable, "-c", program)
        self.assertEqual(status, 0, err)
        parent, *children = [int(word) for word in re.findall(r"\d+", out)]
        self.assertEqual(len(children), 20)
        events, lost = self.report_json()
        self.assertEqual(lost, 0)
        self.assertEqual([event["pid"] for event in events if event["event"] == "e"], children)
        self.assertEqual([event["pid"] for event in events if event["event"] == "g"], [parent] * 21)
        self.assertEqual(len(events), 41)

    def test_a_pattern_means_each_function_that_fits(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-p", "shop::*", "-p", "handle_request", "--", PROBED, "3")
        self.assertEqual(status, 0, err)
        events = {(event["system"], event["event"]) for event in self.report_json()[0]}
        self.assertIn(("probes", "handle_request"), events)
        self.assertIn((PROBED.rsplit("/", 1)[-1], "shop_Server_run"), events)
        self.assertEqual(self.definitions(), "")

    def test_a_pattern_is_one_event_of_a_histogram(self):
        # Of the C library: with functions that share names, versions and places.
        status, out, err = self.landtrace("hist", "-p", "libc.so.6:str*", "--keys", "common_pid", "--json", "--", PROBED, "3")
        self.assertEqual(status, 0, err)
        self.assertGreater(json.loads(out.splitlines()[-1])["hits"], 0)

    def test_a_function_of_cpp_is_named_by_its_parameters(self):
        found = self.fields("shop_Server_run", "shop::Server::run(int) n=$arg2:s32", "3")
        self.assertEqual([event["n"] for event in found], [3])
        self.assertRegex(self.refused("record", "-o", self.file, "-p", "shop::Server::run(char)", "--", PROBED),
                         r"there is no function 'shop::Server::run\(char\)' in .*; did you mean shop::Server::run\(int\)")

    def test_an_ifunc_is_probed_where_the_program_gets(self):
        found = self.fields("strlen", "libc.so.6:strlen text=+0($arg1):string", "3")
        self.assertGreater(len(found), 0)

    def test_a_version_is_told_where_it_is_none(self):
        err = self.refused("record", "-o", self.file, "-p", "libc.so.6:memcpy@GLIBC_9")
        self.assertIn("memcpy has no version GLIBC_9, but GLIBC_2.14 (the default), GLIBC_2.2.5", err)
        found = self.landtrace("record", "-o", self.file, "-p", "libc.so.6:memcpy@GLIBC_2.2.5", "--", PROBED, "1")
        self.assertEqual(found[0], 0, found)

    def test_a_pattern_that_nothing_fits_or_too_much(self):
        self.assertIn("fits 'qsrot*'; did you mean qsort*",
                      self.refused("record", "-o", self.file, "-p", "libc.so.6:qsrot*"))
        err = self.refused("record", "-o", self.file, "-p", "probed:lt_none_*%return")
        self.assertRegex(err, "no function of .*/probed fits 'lt_none_\\*'")

    def test_what_cannot_be_probed_is_left_out_and_said(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-p", "forks=libc.so.6:*fork%return", "--", PROBED, "1")
        self.assertEqual(status, 0, err)
        self.assertIn("left out: vfork (it looks at its return address", err)

    def test_filters_and_patterns_belong_to_what_stands_before(self):
        found = self.fields("handle_request", "handle_request number=$arg1:s32", "9", options=["--filter", "number > 6"])
        self.assertEqual([event["number"] for event in found], [7, 8])

    def test_text_and_list(self):
        self.fields("handle_request", "probed:handle_request number=$arg1:s32", "1")
        self.assertRegex(self.report(), r"probed-\d+ .* handle_request: \(0x[0-9a-f]+\) number=0\n")
        self.assertIn("probes:handle_request  ", self.landtrace("list", self.file)[1])

    def test_two_of_one_function_are_two_events(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-p", "handle_request", "-p", "handle_request n=$arg1",
                                        "--", PROBED, "3")
        self.assertEqual(status, 0, err)
        names = sorted(event["event"] for event in self.report_json()[0])
        self.assertEqual(names, ["handle_request"] * 3 + ["handle_request_1"] * 3)


class Missed(Probe):
    """More calls in progress than a program has room for whose returns are probed."""
    SOURCE = """
        #include <stdlib.h>
        __attribute__((noinline)) int deep(int n) { return n == 0 ? 0 : deep(n - 1) + 1; }
        int main(int argc, char **argv) { return deep(argc > 1 ? atoi(argv[1]) : 1) < 0; }"""

    def test_returns_that_have_no_room_are_told(self):
        source, program = os.path.join(self.folder, "deep.c"), os.path.join(self.folder, "deep")
        with open(source, "w", encoding="utf-8") as file:
            file.write(self.SOURCE)
        support.subprocess.run(["cc", "-O1", "-fno-optimize-sibling-calls", "-o", program, source], check=True)
        status, _, err = self.landtrace("record", "-o", self.file, "-p", "deep%return $retval", "--", program, "20000")
        self.assertEqual(status, 0, err)
        self.assertEqual(support.Summary(err).events, 16384, err)
        told = ("landtrace: 3,617 hits of probes:deep_ret were missed: a program may be in 16,384 calls whose returns are probed, "
                "and a thread in one hit, at a time\n")
        self.assertIn(told, err)
        for command in ("latency", "--function", "deep"), ("top-functions", "deep:deep"):
            status, _, err = self.landtrace(*command, "--", program, "20000")
            self.assertEqual(status, 0, err)
            self.assertRegex(err, r"landtrace: 3,617 hits of \S+ were missed: ")
        status, _, err = self.landtrace("record", "-o", self.file, "-p", "deep%return $retval", "--", program, "100")
        self.assertNotIn("missed", err)


class AllOfLibc(Probe):
    """What the tracer itself calls there, in threads of the program's and in its own, is neither an event nor a loss."""

    def test_only_the_program_is_seen(self):
        command = f"echo . | {support.copied(os.environ['WORKLOAD'], 'workload')}; true"
        status, _, err = self.landtrace("record", "-o", self.file, "--overwrite", "-p", "libc:sy*", "-p", "libc:__e*", "-p", "libc:pr*",
                                        "-p", "libc:__p*", "-p", "libc:start_thread", "-p", "libc:getpid", "--", "sh", "-c", command)
        self.assertEqual(status, 0, err)
        self.assertEqual(support.Summary(err).lost, 0, err)
        events, _ = self.report_json()
        self.assertIn("start_thread", {event["event"] for event in events if event["comm"] == "workload"})
        self.assertEqual({event["comm"] for event in events}, {"sh", "workload"})


class Shared(Probe):
    """In a domain that others are in."""

    def test_recorders_do_not_meet_and_leave_nothing_behind(self):
        self.serve()
        probe = ["-p", PROBED + ":handle_request"]
        one = self.start_recording(*probe)
        self.assertEqual(self.definitions().count("handle_request"), 2)
        self.environment["LANDTRACE_SOCKET"] = self.socket
        other_file = os.path.join(self.folder, "other.dat")
        other = self.start_recording(*probe, file=other_file)
        self.assertIn("p:probes/handle_request_1 ", self.definitions())
        self.assertEqual(self.landtrace("run", "--", PROBED, "4")[0], 0)
        for process in (one, other):
            status, _, err = self.stop(process, signal.SIGINT)
            self.assertEqual(status, 0, err)
            self.assertIn("4 events, 0 lost", err)
        self.assertEqual(self.definitions(), "")

    def test_what_others_have_defined_stays(self):
        self.serve()
        line = f"p:probes/handle_request {PROBED}:handle_request"
        self.assertEqual(self.landtrace("write", "-a", "uprobe_events", line)[0], 0)
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.start("hist", "-p", PROBED + ":handle_request", "--keys", "common_pid")
            self.wait_until(lambda: "handle_request_1" in self.definitions())
            self.stop(process, number)
            self.assertEqual(self.definitions(), line + "\n")

    def test_latency_leaves_nothing_behind(self):
        self.serve()
        process = self.start("latency", "--function", PROBED + ":handle_request", "--by", "$arg1")
        self.wait_until(lambda: "elapsed" in self.definitions())
        self.stop(process, signal.SIGINT)
        self.assertEqual(self.definitions(), "")

    def test_what_is_killed_leaves_nothing_behind(self):
        self.serve()
        for words in (("record", "-o", self.file, "-p", PROBED + ":handle_request", "-p", PROBED + ":countdown"),
                      ("latency", "--function", PROBED + ":handle_request"), ("hist", PROBED + ":countdown", "--keys",
                                                                             "common_pid")):
            process = self.start(*words)
            self.wait_until(lambda: "probes/" in self.definitions())
            self.stop(process, signal.SIGKILL)
            self.wait_until(lambda: self.definitions() == "")

    def test_what_fails_later_leaves_nothing_behind(self):
        self.serve()
        status, _, _ = self.landtrace("record", "-o", "/nonexistent/file", "-p", PROBED + ":handle_request")
        self.assertEqual(status, 1)
        status, _, _ = self.landtrace("record", "-o", self.file, "-p", PROBED + ":handle_request", "-p", PROBED + ":none")
        self.assertEqual(status, 1)
        self.assertEqual(self.definitions(), "")

    def test_children_that_end_at_once_leave_no_process_behind(self):
        self.serve()
        self.environment["LANDTRACE_SOCKET"] = self.socket
        quiet = next(function for function in self.functions("libc.so.6") if function["entry"] == "quiet")
        line = f"p:probes/quiet libc.so.6:{quiet['name']}"  # that wants the other threads out of its bytes
        self.assertEqual(self.landtrace("write", "-a", "uprobe_events", line)[0], 0)
        program = self.start("run", "--", PROBED, "1", "fork")
        program.stdout.read(10)
        threading.Thread(target=program.stdout.read, daemon=True).start()
        self.addCleanup(self.kill_all_of, PROBED)
        for _ in range(250):
            for value in "10":
                self.assertEqual(self.landtrace("write", "events/probes/quiet/enable", value)[0], 0)
        self.wait_until(lambda: len(self.processes_of(PROBED)) <= 4)  # and not some for ever
        self.kill_all_of(PROBED)

    def kill_all_of(self, program):
        for process in self.processes_of(program):
            with contextlib.suppress(ProcessLookupError):  # children that end by themselves
                os.kill(process, signal.SIGKILL)

    def functions(self, path):
        status, out, err = self.landtrace("functions", "--json", path)
        self.assertEqual(status, 0, err)
        return map(json.loads, out.splitlines())

    def processes_of(self, program):
        """Of this test's domain."""
        found = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{process}/environ", "rb") as environment:
                    is_ours = os.fsencode(self.socket) in environment.read()
                if is_ours and os.readlink(f"/proc/{process}/exe") == os.path.realpath(program):
                    found.append(int(process))
            except OSError:
                pass  # it has ended
        return found


class Counted(Probe):
    def test_a_histogram_of_an_argument(self):
        found = self.json_of("hist", "-p", "probed:handle_request route=+0($arg2):string n=$arg1:s32", "--keys", "route",
                             "--vals", "n", "--json", "--", PROBED, "5")
        rows = {group["key"]["route"]: (group["count"], group["sums"]["n"]) for group in found["groups"]}
        self.assertEqual((found["hits"], rows), (5, {"/even": (3, 6), "/odd": (2, 4)}))

    def test_what_the_manual_calls_it_or_what_it_returns(self):
        """Whether or not debugging information of the C library is installed, which has other names."""
        found = self.json_of("hist", "libc.so.6:malloc", "--keys", "size.log2", "--json", "--", PROBED, "6")
        self.assertGreater(found["hits"], 0)
        self.assertGreater(self.fields("malloc", "libc.so.6:malloc size", "1")[0]["size"], 0)
        found = self.json_of("hist", "libc.so.6:strdup%return", "--keys", "retval.hex", "--json", "--", "sh", "-c", "cd /")
        self.assertNotIn("0x0", [group["key"]["retval"] for group in found["groups"]])

    def test_the_event_may_be_a_function(self):
        found = self.json_of("hist", "probed:handle_request", "--keys", "common_pid", "--json", "--", PROBED, "6")
        self.assertEqual(found["hits"], 6)
        found = self.json_of("hist", "libc.so.6:usleep us=$arg1", "--keys", "us", "--json", "--", PROBED, "6")
        self.assertEqual(found["hits"], 6)

    def test_latency_of_a_function(self):
        found = self.json_of("latency", "--function", "probed:handle_request", "--json", "--", PROBED, "20")
        self.assertEqual((found["hits"], found["starts_without_end"]), (20, 0), found)
        self.assertGreater(found["groups"][0]["latency_ns"]["mean"], 100_000, found)

    def test_latency_by_an_argument_and_by_what_is_returned(self):
        found = self.json_of("latency", "--function", "handle_request route=+0($arg2):string", "--by", "route", "--by",
                             "$retval:s32", "--json", "--", PROBED, "4")
        rows = sorted((group["key"]["route"], group["key"]["retval"], group["count"]) for group in found["groups"])
        self.assertEqual(rows, [("/even", 5, 1), ("/even", 7, 1), ("/odd", 5, 1), ("/odd", 7, 1)])

    def test_latency_of_those_that_a_filter_lets_pass(self):
        found = self.json_of("latency", "--function", "handle_request n=$arg1:s32", "--filter", "n >= 8", "--json", "--",
                             PROBED, "10")
        self.assertEqual(found["hits"], 2, found)

    def test_calls_within_calls(self):
        found = self.json_of("latency", "--function", "countdown", "--json", "--", PROBED, "1")
        self.assertEqual((found["hits"], found["starts_without_end"]), (5, 0), found)

    def test_calls_that_have_not_returned_have_no_end(self):
        found = self.json_of("latency", "--function", "libc.so.6:exit", "--json", "--", PROBED, "1")
        self.assertEqual((found["hits"], found["starts_without_end"]), (0, 1), found)

    def test_calls_are_counted_by_the_event_of_their_own_group(self):
        self.serve()
        process = self.start("latency", "--function", "libc.so.6:exit", "--json")
        process.stderr.readline()  # that it watches, when it has begun to count
        libc = self.definitions().split()[1].rpartition(":")[0]
        line = f"p:other/exit_ret {libc}:abort"
        self.assertEqual(self.landtrace("write", "-a", "uprobe_events", line)[0], 0)
        self.assertEqual(self.landtrace("run", "--", PROBED, "1")[0], 0)
        status, out, err = self.stop(process, signal.SIGINT)
        self.assertEqual(status, 0, err)
        self.assertEqual(json.loads(out.splitlines()[-1])["starts_without_end"], 1, out)

    def test_a_field_may_be_the_time_that_a_call_took(self):
        found = self.json_of("hist", "-p", "probed:handle_request%return ns=$elapsed:u64", "--keys", "common_pid",
                             "--vals", "ns", "--json", "--", PROBED, "20")
        self.assertEqual(found["hits"], 20)
        self.assertGreater(found["groups"][0]["sums"]["ns"], 20 * 100_000, found)
        self.assertIn("$elapsed", self.refused("record", "-p", "probed:handle_request ns=$elapsed"))


class Mistakes(Probe):
    def test_no_such_file_or_function(self):
        self.assertIn("there is no file /usr/lib/libnone.so", self.refused("record", "-p", "/usr/lib/libnone.so:f"))
        err = self.refused("record", "-p", os.path.dirname(PROBED) + "/prbed:handle_request")
        self.assertIn("did you mean probed", err)
        self.assertIn("no library or program 'libz_none.so'", self.refused("record", "-p", "libz_none.so:f"))
        err = self.refused("record", "-p", "probed:handle_reqest")
        self.assertIn("there is no function 'handle_reqest' in ", err)
        self.assertIn("did you mean handle_request?", err)
        self.assertIn("did you mean malloc", self.refused("hist", "libc.so.6:maloc", "--keys", "common_pid"))
        self.assertIn("did you mean handle_request?", self.refused("latency", "--function", "handle_reqest"))

    def test_what_is_no_probe(self):
        for text in ("probed:", "probed:f%entry", "./probed"):
            self.assertIn(text, self.refused("record", "-p", text, status=2))
        self.assertIn("%return", self.refused("latency", "--function", "handle_request%return", status=2))
        self.assertIn("--function excludes", self.refused("latency", "--function", "f", "--from", "a", status=2))

    def test_a_bad_argument_has_its_place(self):
        err = self.refused("record", "-p", "probed:handle_request  a=$arg1 b=%zz")
        line = "  probed:handle_request a=$arg1 b=%zz\n"
        self.assertIn("--probe: Invalid register name\n" + line, err)
        caret = err.splitlines()[2]
        self.assertEqual(caret.index("^"), line.index("%zz"), err)

    def test_places_to_which_no_thread_comes(self):
        for place in ("handle_request+100000", "handle_request-1"):
            err = self.refused("record", "-p", place)
            self.assert_one_line(err, f"--probe: {place}: handle_request has ", "bytes of code, and none there")
        no_beginning = "it is not the beginning of an instruction in a function of the file"
        self.assert_one_line(self.refused("record", "-p", "probed:0x10"), f"--probe: probed:0x10: {no_beginning}")
        self.assert_one_line(self.refused("hist", "probed:0x7fffffff", "--keys", "common_pid"), no_beginning)
        taken = 0
        for distance in range(1, 16):
            status, _, err = self.landtrace("record", "-o", self.file, "-p", f"handle_request+{distance}", "--", PROBED, "1")
            taken += status == 0
            if status != 0:
                self.assert_one_line(err, f"--probe: handle_request+{distance}: {no_beginning}")
        self.assertGreater(taken, 1)
        self.assertLess(taken, 15)

    def test_by_what_there_is_not(self):
        for words in (["latency", "--function", "handle_request n=$arg1", "--by", "size"],
                      ["hist", "-p", "handle_request n=$arg1", "--keys", "n,size"]):
            err = self.refused(*words)
            self.assertIn("'size' is no argument of the probe, and not known as a parameter: ", err)
            self.assertIn("'handle_request size=$arg1'", err)

    def test_a_static_program(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-p", "handle_request", "--", STATIC, "1")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "is linked statically")

    def test_a_static_program_that_the_command_starts(self):
        link = os.path.join(self.folder, "static")
        os.symlink(STATIC, link)
        says = f"'{link}' is linked statically: nothing can be loaded into it, and it was not probed"
        self.environment["PATH"] = self.folder + ":" + os.environ["PATH"]
        spawns = f"import os; os.posix_spawn({link!r}, [{link!r}, '1'], {{}}); os.wait()"
        for words in (["sh", "-c", link + " 1; true"], ["env", link, "1"], [sys.executable, "-c", spawns],
                      ["sh", "-c", "nice static 1; static 1; true"]):
            with self.subTest(words):
                status, _, err = self.landtrace("record", "-o", self.file, "-p", "libc.so.6:malloc", "--", *words)
                self.assertEqual(status, 0, err)
                self.assertEqual(err.count("is linked statically"), 1, err)
                self.assertIn(says, err)
        left = [name for name in os.listdir(os.path.join(self.folder, "landtrace")) if "unprobed" in name]
        self.assertEqual(left, [])

    def test_no_static_program_is_spoken_of_where_there_is_none(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-p", "libc.so.6:malloc", "--", "sh", "-c",
                                        "env true; ls /nonexistent/static || /bin/true")
        self.assertEqual(status, 0, err)
        self.assertNotIn("is linked statically", err)

    def test_a_script(self):
        script = os.path.join(self.folder, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n")
        os.chmod(script, 0o755)
        status, _, err = self.landtrace("record", "-o", self.file, "-p", "main", "--", script)
        self.assertEqual(status, 1)
        self.assert_one_line(err, script + " is a script")

    def test_a_function_that_cannot_be_probed(self):
        err = self.refused("record", "-p", "libc.so.6:setjmp%return")
        self.assertIn("cannot be probed", err)
        self.assertIn("return", err.split("cannot be probed")[1])

    def test_a_command_that_cannot_be_started(self):
        status, _, err = self.landtrace("record", "-o", self.file, "-p", "libc.so.6:malloc", "--", "/nonexistent")
        self.assertEqual(status, 127, err)


@needs_root
class AsNobody(Probe):
    def test_without_any_rights(self):
        os.chmod(self.folder, 0o777)
        words = [*support.AS_NOBODY, LANDTRACE, "record", "-o", self.file,
                 "-p", "probed:handle_request n=$arg1:s32", "--", PROBED, "5"]
        process = self.start_program(*words)
        _, err = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("5 events, 0 lost", err)


if __name__ == "__main__":
    support.main_with_probes()
