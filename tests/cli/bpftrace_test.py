"""bpftrace, unmodified, against a domain: what it attaches, what it prints, what it counts."""
import os
import re
import subprocess
import unittest

import support
from support import needs, needs_root

REQUESTS = support.copied(os.environ["REQUESTS"])
PROBED = support.copied(os.environ["PROBED"], "probed")
CPUS = sorted(os.sched_getaffinity(0))
# What is traced stays on one CPU: bpftrace reads one CPU's ring after the other, and prints nothing more once it has read
# of an exit(), though what was printed before that stands in the next ring.
PIN = f"taskset -cp {CPUS[0]} $$ > /dev/null"
BPFTRACE = f"taskset -c {','.join(map(str, CPUS))} bpftrace"


@needs_root
@needs("bpftrace")
class Bpftrace(support.UnderTracefs, support.Case):
    def trace(self, script, workload=None):
        """What it prints. The workload runs again and again until it has ended: it does not say when it has begun."""
        path = os.path.join(self.folder, "script.bt")
        with open(path, "w", encoding="utf-8") as text:
            text.write(script)
        again = f"while kill -0 $tracer 2> /dev/null; do {workload} > /dev/null; done;" if workload else ""
        return self.shell(f"""echo 'u:req_start u32 id' > /sys/kernel/tracing/dynamic_events || exit 9
            {PIN}
            {BPFTRACE} {path} & tracer=$!
            {again} wait $tracer""")

    def test_counts_draws_and_prints(self):
        out = self.trace("""tracepoint:user_events:req_start {
            @by_rest[args->id & 7] = count(); @spread = hist(args->id); @mean = avg(args->id); @names[comm] = count();
            @steps = lhist(args->id, 0, 1000, 250);
            if (args->id < 3) { printf("id %d of %s\\n", args->id, comm); }
            if (args->id == 999) { @rounds += 1; if (@rounds == 2) { exit(); } } }""", REQUESTS)
        for number in range(3):
            self.assertIn(f"id {number} of example_request\n", out)
        counts = {int(key): int(count) for key, count in re.findall(r"(?m)^@by_rest\[(\d)\]: (\d+)$", out)}
        self.assertEqual(sorted(counts), list(range(8)))
        self.assertGreaterEqual(sum(counts.values()), 1000)
        self.assertRegex(out, r"(?m)^@names\[example_request\]: \d{4,}$")
        self.assertRegex(out, r"(?m)^\[256, 512\) +\d+ \|@+")
        self.assertRegex(out, r"(?m)^\[250, 500\) +\d+ \|@+")

    def test_texts_of_the_event(self):
        """Of a __data_loc field, by str(): the field itself is a number that says where the text is."""
        out = self.shell(f"""echo 'u:job u32 sequence; __data_loc char[] text' > /sys/kernel/tracing/dynamic_events || exit 9
            {PIN}
            {BPFTRACE} -e 'tracepoint:user_events:job {{
                @routes[str(args->text)] = count(); if (args->sequence == 0) {{ printf("got %s\\n", str(args->text)); }}
                @n += 1; if (@n == 40) {{ exit(); }} }}' & tracer=$!
            while kill -0 $tracer 2> /dev/null; do
                for text in /index /a/longer/one ''; do {support.PRODUCER} --abi --text "$text" > /dev/null; done; done
            wait $tracer""")
        self.assertRegex(out, r"(?m)^got /index$")
        self.assertRegex(out, r"(?m)^@routes\[/a/longer/one\]: \d{2,}$")
        self.assertEqual(set(re.findall(r"(?m)^@routes\[(.*)\]: \d+$", out)), {"/index", "/a/longer/one", ""})

    def test_what_begins_comes_again_and_ends(self):
        out = self.trace("""
            BEGIN { printf("begun\\n"); @began = 1; }
            interval:ms:20 { @ticks += 1; if (@ticks == 5) { printf("ticked\\n"); exit(); } }
            END { printf("ended with %d\\n", @began); clear(@began); }""")
        self.assertLess(out.index("begun\n"), out.index("ticked\n"))
        self.assertLess(out.index("ticked\n"), out.index("ended with 1\n"))
        self.assertRegex(out, r"(?m)^@ticks: \d+$")
        self.assertNotIn("@began", out)

    def test_functions_with_arguments_texts_and_results(self):
        # What is printed comes by the CPU it happened on, and what bpftrace finds on another one behind its exit() it
        # drops: so that comes much later.
        out = self.trace(f"""
            uprobe:{PROBED}:handle_request {{
                @calls[str(arg1)] = count(); @at = reg("ip") & 0xfff;
                if (arg0 == 3) {{ printf("%d %s %s\\n", arg0, str(arg1), comm); }} }}
            uretprobe:{PROBED}:handle_request {{
                @results[retval] = count(); if (retval == 13) {{ @rounds += 1; }} }}
            interval:ms:50 {{ if (@rounds >= 2) {{ @ticks += 1; if (@ticks == 10) {{ exit(); }} }} }}""",
                         f"{PROBED} 10")
        self.assertIn("3 /odd probed\n", out)
        calls = dict(re.findall(r"(?m)^@calls\[(/\w+)\]: (\d+)$", out))
        self.assertEqual(sorted(calls), ["/even", "/odd"])
        results = {int(result): int(count) for result, count in re.findall(r"(?m)^@results\[(\d+)\]: (\d+)$", out)}
        self.assertEqual(sorted(results), [5, 7, 9, 11, 13])  # i + 5 or 4 letters, each of them twice
        self.assertGreaterEqual(min(results.values()), 2)

    def test_lists_of_texts(self):
        """join() reads an argv, a pointer after the other."""
        out = self.trace(f"""
            uprobe:/bin/sh:execve {{ }}
            uprobe:libc:execve {{ join(arg1); @n += 1; if (@n == 2) {{ exit(); }} }}""", "sh -c '/bin/echo one two; true'")
        self.assertIn("/bin/echo one two\n", out)

    def test_what_looks_at_every_cpu_is_refused(self):
        status, out, err = self.run_tracefs("bpftrace", "-e", "profile:hz:99 { @[comm] = count(); }")
        if os.cpu_count() > 1:
            self.assertNotEqual(status, 0, out)
            self.assertIn("rror attaching probe", err)


@needs("bpftrace")
class WithoutRights(support.Case):
    """It wants to be root, and is, in a user namespace."""

    @unittest.skipUnless(support.works(*support.AS_NOBODY_WITH_FUSE, "unshare", "-Ur", "unshare", "-m", "true"),
                         "SKIPPED: no user namespaces here")
    @support.needs_fuse
    def test_functions_and_what_begins(self):
        script = (f'BEGIN {{ printf("begun\\n"); }} uprobe:{PROBED}:handle_request '
                  '{ @[str(arg1)] = count(); @n += 1; if (@n == 20) { exit(); } }')
        inside = f"bpftrace -e '{script}' & tracer=$!; while kill -0 $tracer 2> /dev/null; do {PROBED} 10; done; wait $tracer"
        words = [*support.AS_NOBODY_WITH_FUSE, "unshare", "-Ur", support.LANDTRACE, "run", "--tracefs", "--", "sh", "-c", inside]
        self.environment.update(PATH="/usr/sbin:/usr/bin:/sbin:/bin", XDG_RUNTIME_DIR=self.folder)
        os.chmod(self.folder, 0o777)
        ran = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True,
                             timeout=support.TIMEOUT_S, check=False)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("begun\n", ran.stdout)
        self.assertRegex(ran.stdout, r"(?m)^@\[/even\]: \d\d+$")


if __name__ == "__main__":
    support.main_with_probes()
