"""Libraries that programs load and close again, that start before the shim, and programs with a sanitizer."""
import os
import shutil
import signal
import subprocess
import unittest

import support

HOST = os.environ["PLUGIN_HOST"]
NATIVE = os.environ["PLUGIN"]
ABI = os.environ["PLUGIN_ABI"]
EARLY = os.environ["PLUGIN_EARLY"]

PROGRAM = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int plugin_start(void);
int plugin_emit(uint32_t);
int main(int argc, char** argv) {
  char* const text = strdup("some text");
#ifndef STARTED
  if (plugin_start() != 0) return 2;
#endif
  if (plugin_emit(1) != 0) return 1;
  free(text);
  return argc > 1 ? text[atoi(argv[1])] : 0;
}
"""


class HostCase(support.Case):
    def record_host(self, *words, status=0):
        ended, out, err = self.landtrace("record", "-o", self.file, "--", *words)
        self.assertEqual(ended, status, err)
        events, lost = self.report_json()
        self.assertEqual(lost, 0)
        return [event["fields"]["n"] for event in events]


class PluginTest(HostCase):
    def test_a_library_that_is_loaded_and_closed(self):
        for library in (NATIVE, ABI):
            for options in ([], ["threads"]):
                with self.subTest(library=library, options=options):
                    self.assertEqual(self.record_host(HOST, library, "20", *options), list(range(20)))

    def test_a_child_of_a_program_that_has_loaded_one(self):
        for library in (NATIVE, ABI):
            for options in ([], ["threads"]):
                with self.subTest(library=library, options=options):
                    self.assertEqual(sorted(self.record_host(HOST, library, "3", "fork", *options)),
                                     [0, 1, 2, 1000, 1001, 1002])

    # What handles faults in the library is gone with it, and what does not belong to it ends the program as ever.
    def test_a_program_that_dies_after_it_closed_one(self):
        for library in (NATIVE, ABI):
            with self.subTest(library=library):
                self.assertEqual(self.record_host(HOST, library, "2", "fault", status=128 + signal.SIGSEGV), [0, 1])

    # Its words lie in memory that is no more: whoever listens later must not harm the program.
    def test_a_library_that_is_closed_without_unregistering(self):
        self.serve()
        program = self.start("run", "--", HOST, ABI, "1", "leak", stdin=subprocess.PIPE)
        self.assertEqual(program.stdout.readline(), "closed\n")
        self.assertEqual(self.record_host(HOST, ABI, "2"), [0, 1])
        program.stdin.close()
        self.assertEqual(program.wait(timeout=support.TIMEOUT_S), 0)

    def test_a_library_that_emits_before_the_shim_has_started(self):
        program = os.path.join(self.folder, "early")
        source = program + ".c"
        with open(source, "w") as file:
            file.write(PROGRAM)
        subprocess.run(["cc", "-DSTARTED", "-o", program, source, EARLY, f"-Wl,-rpath,{os.path.dirname(EARLY)}"], check=True)
        self.assertEqual(self.record_host(program), [100, 1])


@unittest.skipUnless(shutil.which("cc"), "SKIPPED: no compiler")
class SanitizerTest(HostCase):
    def build(self, *flags):
        program = os.path.join(self.folder, "sanitized")
        source = program + ".c"
        with open(source, "w") as file:
            file.write(PROGRAM)
        abi = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plugin.c")
        built = subprocess.run(["cc", "-g", *flags, "-DPLUGIN_ABI", "-o", program, source, abi], capture_output=True, text=True)
        if built.returncode != 0:
            self.skipTest("SKIPPED: this compiler has no such sanitizer: " + built.stderr)
        return program

    def test_address_sanitizer(self):
        for flags in (["-fsanitize=address"], ["-fsanitize=address", "-static-libasan"]):
            with self.subTest(flags=flags):
                program = self.build(*flags)
                self.assertEqual(self.record_host(program), [1])
                status, _, err = self.landtrace("record", "-o", self.file, "--", program, "0")
                self.assertNotEqual(status, 0)
                self.assertIn("heap-use-after-free", err)

    def test_undefined_behaviour_sanitizer(self):
        self.assertEqual(self.record_host(self.build("-fsanitize=undefined")), [1])


if __name__ == "__main__":
    unittest.main()
