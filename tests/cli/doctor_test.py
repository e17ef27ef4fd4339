"""landtrace doctor."""
import json
import os
import unittest

import support


class Doctor(support.Case):
    def checks(self, **options):
        status, out, err = self.landtrace("doctor", "--json", **options)
        self.assertEqual(err, "")
        found = json.loads(out)
        self.assertEqual(status == 0, found["recording"])
        return {check["id"]: check for check in found["checks"]}

    def test_recording_works_here(self):
        checks = self.checks()
        self.assertEqual(checks["native_library"]["state"], "ok", checks)
        self.assertEqual(checks["preload_shim"]["state"], "ok", checks)

    def test_every_check_has_an_answer(self):
        checks = self.checks()
        self.assertLessEqual({"dev_fuse", "fusermount3", "user_namespaces", "tracefs_line", "mapped_status", "mount",
                              "private_tracefs", "rseq", "membarrier", "memfd_seals", "tsc", "proc_connector",
                              "kernel_user_events", "user_domain", "system_domain"}, set(checks))
        for check in checks.values():
            self.assertIn(check["state"], ("ok", "missing", "none"))
            self.assertTrue(check["detail"])

    def test_text_says_the_same(self):
        status, out, err = self.landtrace("doctor")
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.endswith("Recording works here.\n"), out)
        for name in self.checks():
            self.assertIn(name, out)

    def test_without_the_shim_recording_does_not_work(self):
        environment = dict(self.environment, LANDTRACE_PRELOAD="/no/such/shim.so")
        shim = self.checks(env=environment)["preload_shim"]
        self.assertEqual(shim["state"], "missing")
        self.assertIn("/no/such/shim.so", shim["detail"])
        self.assertTrue(shim["advice"])

    def test_a_running_domain_is_found(self):
        daemon = self.serve()
        found = self.checks()["user_domain"]
        self.assertEqual(found["state"], "ok")
        self.assertIn(f"process {daemon.pid} ", found["detail"])
        self.assertIn("landtrace ", found["detail"])

    @support.needs_fuse
    @support.needs_root
    def test_files_are_shown_where_they_can_be(self):
        checks = self.checks()
        self.assertEqual(checks["mount"]["state"], "ok", checks["mount"])
        self.assertEqual(checks["private_tracefs"]["state"], "ok", checks["private_tracefs"])

    def test_nothing_stays(self):
        before = support.read_text("/proc/self/mounts")
        self.checks()
        self.assertEqual(support.read_text("/proc/self/mounts"), before)
        self.assertEqual(os.listdir(os.path.join(self.folder, "landtrace")), [])


if __name__ == "__main__":
    unittest.main()
