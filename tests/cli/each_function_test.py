"""Functions of libraries, one at a time and many at once, are probed and let go while a program uses them. The program goes
on as before, and a function has as many hits as the program says calls.

LANDTRACE_EACH=1 tries all functions (some minutes); else one of 40.
"""
import json
import os
import signal

import support

STEP = int(os.environ.get("LANDTRACE_EACH", "40"))
# Calls in an iteration, by the program's own count.
CALLS = {"qsort": 1, "regcomp": 1, "fnmatch": 1, "strtok_r": 4, "opendir": 1, "closedir": 1, "gmtime_r": 1,
         "makecontext": 1, "siglongjmp": 1, "pthread_create": 4, "raise": 1, "mbstowcs": 1, "strtoul": 1, "fopen": 1}


class EachFunction(support.Case):
    def setUp(self):
        super().setUp()
        self.serve()
        self.environment["LANDTRACE_SOCKET"] = self.socket
        self.program = None

    def write(self, file, text, *options):
        status, _, err = self.landtrace("write", *options, file, text)
        self.assertEqual(status, 0, (file, text, err))

    def functions(self, library):
        """(path, [function])"""
        status, out, err = self.landtrace("functions", "--json", library)
        self.assertEqual(status, 0, err)
        path = self.landtrace("functions", "--summary", library)[1].split(":")[0]
        return path, [function for function in map(json.loads, out.splitlines()) if not function["entry_refused"]]

    def start_workload(self, path, function):
        """In a domain that has a probe already."""
        self.write("uprobe_events", f"p:before/entry {path}:{function['offset']:#x}")
        self.program = self.start("run", "--", os.environ["WORKLOAD"], stdin=support.subprocess.PIPE,
                                  process_group=0)
        self.addCleanup(self.end_workload)
        self.wanted = self.iterate()

    def end_workload(self):
        os.killpg(self.program.pid, signal.SIGKILL)
        self.program.stdin.close()

    def iterate(self):
        self.program.stdin.write(".")
        self.program.stdin.flush()
        return self.program.stdout.readline()

    def hits(self):
        """By event."""
        lines = self.landtrace("cat", "uprobe_profile")[1].splitlines()
        return {line.split()[1]: int(line.split()[2]) for line in lines}

    def define(self, path, function, number=0):
        """Its events' names."""
        place = f"{path}:{function['offset']:#x}"
        names = [f"entry{number}"]
        self.write("uprobe_events", f"p:each/{names[0]} {place}", "-a")
        if function["return"]:
            names.append(f"return{number}")
            self.write("uprobe_events", f"r:each/{names[1]} {place}", "-a")
        return names

    def try_alone(self, path, function):
        names = self.define(path, function)
        self.write("events/each/enable", "1")
        for _ in range(3):
            self.assertEqual(self.iterate(), self.wanted, function["name"])
        self.write("events/each/enable", "0")
        hits = self.hits()
        if len(names) == 2:
            self.assertEqual(hits[names[0]], hits[names[1]], function["name"])
        for name in names:
            self.write("uprobe_events", f"-:each/{name}", "-a")
        return hits[names[0]]

    def try_all(self, library):
        path, functions = self.functions(library)
        self.start_workload(path, functions[0])
        used = sum(self.try_alone(path, function) > 0 for function in functions[::STEP])
        self.assertGreater(used, 0)

    def test_libc(self):
        self.try_all("libc.so.6")

    def test_libstdcpp(self):
        self.try_all("libstdc++.so.6")

    def test_hits_are_the_programs_calls(self):
        path, functions = self.functions("libc.so.6")
        chosen = {name: function for function in functions for name in [function["name"], *function.get("aliases", [])]
                  if name in CALLS}
        self.assertEqual(chosen.keys(), CALLS.keys())
        self.start_workload(path, chosen["qsort"])
        names = {name: self.define(path, chosen[name], number) for number, name in enumerate(chosen)}
        self.write("events/each/enable", "1")

        def unhit():
            self.assertEqual(self.iterate(), self.wanted)
            hits = self.hits()
            return [name for name, events in names.items() if hits[events[0]] == 0]
        self.wait_until(lambda: not unhit())  # the program writes its code by itself
        before = self.hits()
        for _ in range(5):
            self.assertEqual(self.iterate(), self.wanted)
        after = self.hits()
        for name, events in names.items():
            for event in events:
                self.assertEqual(after[event] - before[event], 5 * CALLS[name], (name, event))


if __name__ == "__main__":
    support.main_with_probes()
