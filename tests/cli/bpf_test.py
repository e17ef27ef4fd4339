"""landtrace bpf: eBPF programs run in the programs that emit events."""
import json
import os
import re
import signal
import subprocess

import bpf_case
import support
from bpf_case import REQUESTS, Bpf
from support import LANDTRACE, PRODUCER


class Running(Bpf):
    def assert_counted(self, out, total=1000):
        self.assertRegex(out, rf"(?m)^all:\n  0: {total} \[\d+,\d+")
        by_id = dict(re.findall(r"(?m)^  (\d): (\d+)$", out[out.index("by_id:"):]))
        self.assertEqual(by_id, {str(i): str(total // 8) for i in range(8)})

    def test_maps_lines_and_records_of_each_instruction_set(self):
        for cpu in ("v1", "v2", "v3"):
            with self.subTest(cpu):
                status, out, err = self.landtrace("bpf", self.example("-mcpu=" + cpu), "--", REQUESTS)
                self.assertEqual((status, err), (0, ""), out)
                self.assert_counted(out)
                lines = re.findall(r"(?m)^ *example_request-\d+ +\[\d+\] [\d.]+: bpf_trace_printk: request (\d+)$", out)
                self.assertEqual(lines, ["0", "1", "2"])
                records = [json.loads(line)["data"] for line in out.splitlines() if line.startswith('{"map":"firsts"')]
                self.assertEqual([record["id"] for record in records], [0, 1, 2])
                self.assertEqual(records[0]["comm"], "example_request")

    def test_texts_of_any_length_are_read_where_the_event_says(self):
        """By the number in a __data_loc field: of it the lower half says where, the upper half how many bytes."""
        found = self.program("""
            struct job { unsigned long long common; unsigned sequence; unsigned place; };
            SEC("tracepoint/user_events/job") int on_job(struct job* event) {
              char text[24] = {}, bytes[24] = {};
              void* at = (void*)event + (event->place & 0xffff);
              long length = bpf_probe_read_kernel_str(text, sizeof(text), at);
              bpf_probe_read_kernel(bytes, (event->place >> 16) & 15, at);
              bpf_printk("%s|%s|%d", text, bytes, length);
              return 0;
            }""")
        for text, shown in (("/index", "/index|/index|7"), ("", "||1"), ("/a/long/one/of/29/characters", "/a/long/one/of/29/chara|/a/long/one/o|24")):
            with self.subTest(text):
                status, out, err = self.landtrace("bpf", found, "--", PRODUCER, "--abi", "--text", text, "--count", "1")
                self.assertEqual((status, err), (0, ""), out)
                self.assertIn(f": bpf_trace_printk: {shown}\n", out)

    def test_a_text_of_any_length_cannot_be_loaded_from(self):
        found = self.program("""
            struct job { unsigned long long common; unsigned sequence; unsigned place; };
            SEC("tracepoint/user_events/job") int on_job(struct job* event) {
              return *((char*)event + (event->place & 0xff)) == 'a';
            }""")
        status, _, err = self.landtrace("bpf", found, "--", PRODUCER, "--abi", "--text", "a")
        self.assertEqual(status, 1)
        self.assertIn("variable ctx access", err)

    def test_without_root(self):
        words = [*support.AS_NOBODY, LANDTRACE, "bpf", self.example(), "--", REQUESTS]
        ran = subprocess.run(words, capture_output=True, text=True, timeout=support.TIMEOUT_S)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assert_counted(ran.stdout)

    def test_maps_while_it_runs(self):
        # One round, and another when its maps have been shown.
        inside = f"{REQUESTS}; until grep -q '^  0: 1000 ' out; do sleep 0.01; done; {REQUESTS}"
        with open(os.path.join(self.folder, "out"), "w", encoding="utf-8") as out:
            tracer = self.start("bpf", "--interval", "0.05", self.example(), "--", "sh", "-c", inside, stdout=out)
            self.assertEqual((tracer.wait(timeout=support.TIMEOUT_S), tracer.stderr.read()), (0, ""))
        text = support.read_text(out.name)
        shown = re.findall(r"(?m)^-- \d\d:\d\d:\d\d\n((?:\w+:\n(?:  .*\n)*)+)", text)
        self.assertIn("all:\n  0: 1000 [", "".join(shown), text)
        self.assertEqual(len(shown), len(set(shown)), "what has not changed is not shown again")
        self.assert_counted(text[min(text.rindex("\nall:"), text.rindex("\nby_id:")):], 2000)
        for words in (("--interval", "0", "x.o"), ("--interval", "soon", "x.o"), ("list", "--interval", "1")):
            status, _, err = self.landtrace("bpf", *words)
            self.assertEqual(status, 2, err)
            self.assert_one_line(err)

    def test_the_commands_status_is_handed_on(self):
        status, _, err = self.landtrace("bpf", self.example(), "--", "sh", "-c", f"{REQUESTS}; exit 7")
        self.assertEqual((status, err), (7, ""))

    def test_an_event_that_never_was_is_said(self):
        found = self.program("""SEC("tracepoint/user_events/req_strat") int mistyped(void *c) { return 0; }""")
        status, _, err = self.landtrace("bpf", found, "--", REQUESTS)
        self.assertEqual(status, 1)
        self.assertEqual(err, "landtrace: no event 'user_events:req_strat' registered; did you mean user_events:req_start?\n")
        status, _, err = self.landtrace("bpf", found, "--", "true")
        self.assertEqual(status, 1)
        self.assertIn("no event registered", err)

    def test_an_event_with_fewer_fields_is_said(self):
        found = self.program("""
            SEC("tracepoint/user_events/req_start") int far(char *c) { return *(int *)(c + 512); }""")
        status, _, err = self.landtrace("bpf", found, "--", REQUESTS)
        self.assertEqual(status, 2)
        self.assertIn("program far looks at 516 bytes of an event, user_events:req_start has 12", err)

    def test_what_others_programs_look_at_is_theirs_to_hear(self):
        far = self.program("""
            SEC("tracepoint/user_events/req_start") int far(char *c) { return *(int *)(c + 512); }""")
        self.serve()
        sessions = []
        for program, name in ((far, "far"), (self.example(), "on_start")):
            sessions.append(self.start("bpf", program))
            self.wait_until(lambda: re.search(rf" link \d+ {name} ", self.landtrace("bpf", "list")[1]))
        self.assertEqual(self.landtrace("run", "--", REQUESTS)[0], 0)
        self.assertIn("program far looks at 516 bytes", self.landtrace("bpf", "list")[1])
        own, other = [self.stop(session, signal.SIGINT) for session in reversed(sessions)]
        self.assertEqual(own[0], 0, own[2])
        self.assertNotIn("looks at", own[2])
        self.assert_counted(own[1])
        self.assertEqual(other[0], 2)
        self.assertIn("program far looks at 516 bytes of an event", other[2])

    def test_texts_are_utf8_and_move_no_cursor(self):
        found = self.program("""
            struct name { char text[16]; };
            struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 8); __type(key, struct name);
                     __type(value, long); } names SEC(".maps");
            SEC("tracepoint/user_events/req_start") int named(void *c) {
              struct name name = {"\\xc3\\xbc\\xc2\\x9b\\x1b\\\\\\""};
              long one = 1;
              bpf_map_update_elem(&names, &name, &one, BPF_ANY);
              bpf_printk("%s", name.text);
              return 0;
            }""")
        status, out, err = self.landtrace("bpf", found, "--", REQUESTS)
        self.assertEqual((status, err), (0, ""))
        self.assertIn('{"text":"\u00fc\\u009b\\u001b\\\\\\""}', out)
        self.assertRegex(out, r'(?m): bpf_trace_printk: \u00fc\\u009b\\x1b\\"$')

    def test_the_list_has_what_is_there_and_nothing_is_left(self):
        socket = os.path.join(self.folder, "domain")
        inside = f"{LANDTRACE} bpf list --socket $LANDTRACE_SOCKET; exec {REQUESTS}"
        status, out, err = self.landtrace("bpf", self.example(), "--", "sh", "-c", inside)
        self.assertEqual((status, err), (0, ""), socket)
        self.assertRegex(out, r"(?m)^\d+ map \d+ by_id  type 1 key 4 value 8 entries 1024$")
        self.assertRegex(out, r"(?m)^\d+ program \d+ on_start  instructions \d+ code [1-9]\d* faults 0 exceeded 0 missed 0$")
        self.assertRegex(out, r"(?m)^\d+ link \d+ on_start  program \d+ at user_events:req_start \(which is not there yet\)$")


class Refusing(Bpf):
    def refusal(self, body):
        status, out, err = self.landtrace("bpf", self.program(body), "--", "echo", "started")
        self.assertEqual((status, out), (1, ""), err)
        return err

    def test_a_lookup_without_a_comparison(self):
        err = self.refusal("""
            SEC("tracepoint/user_events/req_start") int bad(void *c) {
              int key = 0; long *value = bpf_map_lookup_elem(&counts, &key); return *value; }""")
        self.assertRegex(err, r"(?m)^\d+: \(\w\w\) r0 = \*\(u64 \*\)\(r0 \+0\)$")
        self.assertIn("compare it with 0 first", err)

    def test_an_endless_loop(self):
        err = self.refusal("""
            SEC("tracepoint/user_events/req_start") int bad(int *c) {
              volatile int n = 0; while (c[2]) n = 1; return n; }""")
        self.assertIn("infinite loop detected", err)

    def test_what_is_no_object(self):
        for name, text in (("missing.o", "cannot read"), ("/etc/passwd", "cannot open")):
            status, out, err = self.landtrace("bpf", name, "--", "echo", "started")
            self.assertEqual((status, out), (1, ""))
            self.assertIn(text, err)
            self.assertNotIn("Unknown error", err)

    def test_an_object_without_a_program_for_an_event(self):
        err = self.refusal("""SEC("socket") int other(void *c) { return 0; }""")
        self.assertIn("section 'socket' is left out", err)
        self.assertIn("has no program for an event", err)

    def test_words_that_make_no_sense(self):
        for words in (("bpf",), ("bpf", "a", "b"), ("bpf", "list", "--", "true")):
            status, _, err = self.landtrace(*words)
            self.assertNotEqual(status, 0)
            self.assert_one_line(err)


class Unmodified(Bpf):
    """A tool with libbpf, under the shim."""

    @support.needs_root
    def test_libbpf_loads_attaches_and_reads_maps(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bpf_tool.c")
        tool = os.path.join(self.folder, "bpf_tool")
        subprocess.run(["cc", "-O1", source, "-lbpf", "-o", tool], check=True)
        # An event that is there before a program is.
        inside = f"""echo 'u:req_start u32 id' > /sys/kernel/tracing/dynamic_events || exit 9
            exec {tool} {self.example()} '{REQUESTS} > /dev/null'"""
        status, out, err = self.landtrace("run", "--tracefs", "--", "sh", "-c", inside)
        self.assertEqual((status, err), (0, ""), out)
        self.assertEqual(out, "attached 1000\nremoved 0 -2\ndetached 875\nwalked 0 1 2 3, from behind 0 0\n")

    @support.needs_root
    def test_libbpf_loads_what_reads_texts(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bpf_tool.c")
        tool = os.path.join(self.folder, "bpf_tool")
        subprocess.run(["cc", "-O1", source, "-lbpf", "-o", tool], check=True)
        found = self.program("""
            struct job { unsigned long long common; unsigned sequence; unsigned place; };
            struct { __uint(type, BPF_MAP_TYPE_HASH); __uint(max_entries, 8); __type(key, int); __type(value, long); }
                by_id SEC(".maps");
            char text[16];
            SEC("tracepoint/user_events/job") int on_job(struct job* event) {
              unsigned at = event->place & 0xffff;
              long length = bpf_probe_read_kernel_str(text, sizeof(text), (char*)event + at);
              int first = text[0];
              bpf_map_update_elem(&by_id, &first, &length, BPF_ANY);
              return 0;
            }""")
        inside = f"""echo 'u:job u32 sequence; __data_loc char[] text' > /sys/kernel/tracing/dynamic_events || exit 9
            exec {tool} {found} '{PRODUCER} --abi --text abcd > /dev/null'"""
        status, out, err = self.landtrace("run", "--tracefs", "--", "sh", "-c", inside)
        self.assertEqual((status, err), (0, ""), out)
        self.assertTrue(out.startswith("attached 5\n"), out)


if __name__ == "__main__":
    bpf_case.main()
