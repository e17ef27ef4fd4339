"""landtrace mount and umount."""
import os
import signal
import subprocess
import unittest

import support
from support import needs_fuse, needs_root


@needs_fuse
@needs_root
class Mount(support.Case):
    def setUp(self):
        super().setUp()
        self.mounted = os.path.join(self.folder, "mounted")
        os.mkdir(self.mounted)
        self.addCleanup(support.works, "umount", "-l", self.mounted)

    def is_mounted(self):
        return self.mounted in support.read_text("/proc/self/mounts")

    def mount_and_own(self):
        process = self.start("mount", self.mounted)
        self.addCleanup(self.stop, process)
        self.wait_until(self.is_mounted)
        return process

    def test_the_owner_serves_a_mount_that_is_handed_to_it(self):
        self.serve()
        self.assertEqual(self.landtrace("mount", self.mounted), (0, "", ""))
        self.assertTrue(support.read_text(self.mounted + "/README"))
        self.assertEqual(self.landtrace("umount", self.mounted), (0, "", ""))
        self.assertEqual(os.listdir(self.mounted), [])

    def test_it_is_unmounted_when_the_owner_ends(self):
        daemon = self.serve()
        self.assertEqual(self.landtrace("mount", self.mounted)[0], 0)
        self.stop(daemon)
        self.assertFalse(self.is_mounted())

    def test_without_an_owner_it_becomes_one(self):
        process = self.mount_and_own()
        self.assertIn("user_events_data", os.listdir(self.mounted))
        self.assertEqual(self.landtrace("list")[0], 0)
        status, out, err = self.stop(process, signal.SIGINT)
        self.assertEqual((status, out, err.count("\n")), (0, "", 1))
        self.assertIn(self.mounted, err)
        self.assertFalse(self.is_mounted())

    def test_unmounting_ends_an_owner_that_is_one_for_the_mount(self):
        process = self.mount_and_own()
        self.assertEqual(self.landtrace("umount", self.mounted)[0], 0)
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 0)

    def test_a_mount_whose_owner_was_killed_is_replaced(self):
        process = self.mount_and_own()
        process.kill()
        process.communicate()
        self.serve()
        self.assertEqual(self.landtrace("mount", self.mounted), (0, "", ""))
        self.assertTrue(support.read_text(self.mounted + "/README"))
        self.assertEqual(support.read_text("/proc/self/mounts").count(self.mounted), 1)

    def test_programs_write_through_it(self):
        self.serve("--trace-event", "landtrace_doctor")
        self.assertEqual(self.landtrace("mount", self.mounted)[0], 0)
        status, _, err = self.landtrace("doctor", "--attempt", "files:" + self.mounted)
        self.assertEqual(status, 0, err)

    def test_the_abi_is_the_domains(self):
        self.serve()
        status, _, err = self.landtrace("mount", "--abi", "6.1", self.mounted)
        self.assertEqual(status, 1)
        self.assert_one_line(err, "6.12")
        self.assertFalse(self.is_mounted())

    def test_what_cannot_be_mounted_or_unmounted(self):
        self.serve()
        for words, part in ((["mount", "/no/such/folder"], "/no/such/folder"), (["mount", "/etc/passwd"], "/etc/passwd"),
                            (["umount", self.mounted], "nothing of ours"), (["umount", "/proc"], "nothing of ours")):
            status, _, err = self.landtrace(*words)
            self.assertEqual(status, 1)
            self.assert_one_line(err, part)


@support.needs_users_fuse
@unittest.skipUnless(support.works("fusermount3", "-V"), "SKIPPED: no fusermount3 here")
class UsersMount(support.Case):
    def test_a_user_mounts_and_nobody_else_looks_into_it(self):
        os.chown(self.folder, support.NOBODY, support.NOBODY)
        script = """
        mkdir m; "$1" mount m 2>/dev/null & owner=$!
        while [ ! -e m/README ]; do sleep 0.02; done
        stat -c '%u %g %A' m/README
        "$1" umount m && wait $owner && echo ended
        """
        words = [*support.AS_NOBODY_WITH_FUSE, "sh", "-c", script, "sh", support.LANDTRACE]
        done = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=support.TIMEOUT_S)
        self.assertEqual(done.stdout, "65534 65534 -r--r-----\nended\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
