"""The files of a running domain without a mount: ls, cat, write, mkdir, rmdir."""
import os
import subprocess
import unittest

import support
from support import PRODUCER


class Files(support.Case):
    def setUp(self):
        super().setUp()
        self.host = self.start_recording("-e", "nothing")

    def ok(self, *words, **options):
        status, out, err = self.landtrace(*words, **options)
        self.assertEqual((status, err), (0, ""), words)
        return out

    def refused(self, *words, **options):
        status, out, err = self.landtrace(*words, **options)
        self.assertEqual((status, out), (1, ""), words)
        self.assertTrue(err.startswith("landtrace: ") and err.count("\n") == 1, err)
        return err

    def test_ls(self):
        names = self.ok("ls").splitlines()
        self.assertEqual(names, sorted(names))
        for name in ("README", "events", "set_event", "user_events_data"):
            self.assertIn(name, names)
        self.assertEqual(self.ok("ls", "events/"), "enable\nftrace\nheader_event\nheader_page\nuser_events\n")
        self.assertIn("drwxr-xr-x ftrace\n-r--r----- header_event\n", self.ok("ls", "-l", "/events"))
        self.assertEqual(self.ok("ls", "-l", "set_event"), "-rw-r----- set_event\n")
        self.assertIn("nosuch: No such file", self.refused("ls", "nosuch"))

    def test_write_and_cat(self):
        self.ok("write", "dynamic_events", "u:e1", "u32", "n;char[4] s")
        self.assertEqual(self.ok("cat", "dynamic_events", "events/user_events/e1/enable"),
                         "u:e1 u32 n; char[4] s\n0\n")
        self.ok("write", "events/user_events/e1/enable", "1")
        self.assertEqual(self.ok("cat", "set_event"), "user_events:e1\n")
        self.ok("write", "-n", "events/user_events/e1/enable", "0")
        self.assertEqual(self.ok("cat", "set_event"), "")

    def test_write_truncates_unless_it_appends(self):
        for event in ("e1", "e2"):
            self.ok("write", "-a", "dynamic_events", "u:" + event)
            self.ok("write", "--append", "set_event", event)
        self.assertEqual(self.ok("cat", "set_event"), "user_events:e2\nuser_events:e1\n")
        self.ok("write", "set_event", "e1")
        self.assertEqual(self.ok("cat", "set_event"), "user_events:e1\n")

    def test_write_from_standard_input(self):
        text = "".join(f"u:event_{i} u32 n\n" for i in range(100))
        with open(self.folder + "/definitions", "w+", encoding="ascii") as definitions:
            definitions.write(text)
            definitions.seek(0)
            self.ok("write", "dynamic_events", stdin=definitions)
        self.assertEqual(self.ok("cat", "dynamic_events"), text)
        self.ok("write", "dynamic_events", stdin=subprocess.DEVNULL)
        self.assertEqual(self.ok("cat", "dynamic_events"), "")

    def test_words_that_look_like_options(self):
        self.ok("write", "-a", "dynamic_events", "u:e1")
        self.ok("write", "-a", "dynamic_events", "-:e1")
        self.ok("write", "-a", "--", "dynamic_events", "u:e1")
        self.assertEqual(self.ok("cat", "dynamic_events"), "u:e1\n")

    def test_refusals(self):
        self.ok("write", "dynamic_events", "u:e1")
        self.assertIn("enable: Invalid argument", self.refused("write", "events/user_events/e1/enable", "2"))
        self.assertIn("README: Invalid argument", self.refused("write", "README", "x"))
        self.assertIn("events: Is a directory", self.refused("cat", "events"))
        self.assertIn("inject: Operation not permitted", self.refused("cat", "events/user_events/e1/inject"))
        self.assertIn("No such file", self.refused("cat", "nosuch"))
        self.assertIn("Numerical result", self.refused("write", "events/enable", "9" * 30))

    def test_instances(self):
        self.ok("mkdir", "instances/a", "instances/b")
        self.assertEqual(self.ok("ls", "instances"), "a\nb\n")
        self.assertIn("File exists", self.refused("mkdir", "instances/a"))
        self.ok("rmdir", "instances/a")
        self.assertIn("No such file", self.refused("rmdir", "instances/a"))
        self.assertIn("not permitted", self.refused("mkdir", "foo"))

    def test_programs_that_are_enabled_by_a_file(self):
        producer = self.start("run", "--", PRODUCER, "--abi", "--count", "1000000", "--pause", "1000")
        self.wait_until(lambda: "job" in self.ok("cat", "available_events"))
        self.assertEqual(self.ok("cat", "user_events_status"), "job\n\nActive: 1\nBusy: 0\n")
        self.ok("write", "events/user_events/job/enable", "1")
        self.assertEqual(self.ok("cat", "user_events_status"), "job # Used by ftrace\n\nActive: 1\nBusy: 1\n")
        self.assertIn("[enabled]", self.ok("list"))
        producer.kill()

    def test_another_socket(self):
        self.assertIn("README", self.ok("ls", "--socket", self.socket))
        self.assertIn("/nowhere", self.refused("cat", "--socket", "/nowhere", "README"))

    @support.needs_root
    @support.needs("setpriv")
    def test_other_users_see_nothing(self):
        os.chmod(self.folder, 0o777)
        self.environment["LANDTRACE_SOCKET"] = self.socket
        drop = [*support.AS_NOBODY, support.LANDTRACE]
        for words in (["ls"], ["cat", "README"], ["write", "set_event", "x"], ["mkdir", "instances/x"]):
            status, out, err = self.landtrace("run", "--", *drop, *words)
            self.assertEqual((status, out), (1, ""))
            self.assertIn("Permission denied", err)


if __name__ == "__main__":
    unittest.main()
