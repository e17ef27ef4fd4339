"""run and record --tracefs: a tracefs for one command."""
import os
import signal
import subprocess
import unittest

import support
from support import LANDTRACE, PRODUCER, needs

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
SEES = "ls /sys/kernel/tracing | grep -c user_events_data"


class Cases(support.UnderTracefs):
    """As root and as a user."""

    def test_the_command_sees_the_files_and_nobody_else_does(self):
        before = os.listdir("/sys/kernel/tracing") if os.path.isdir("/sys/kernel/tracing") else None
        self.assertEqual(self.shell(SEES + "; ls /sys/kernel/debug/tracing | grep -c user_events_data"), "1\n1\n")
        if before is not None:
            self.assertEqual(os.listdir("/sys/kernel/tracing"), before)

    def test_mounts_have_a_line_of_type_tracefs(self):
        lines = self.shell("cat /proc/mounts").splitlines()
        self.assertIn("/sys/kernel/tracing", [line.split()[1] for line in lines if line.split()[2] == "tracefs"])

    def test_examples_end_well(self):
        for program, name in (("sh", "files.sh"), ("python3", "files.py")):
            # A user need not see the folder of the sources.
            script = support.shutil.copy(os.path.join(EXAMPLES, name), self.folder)
            status, out, err = self.run_tracefs(program, script)
            self.assertEqual((status, err), (0, ""), name)
            self.assertGreater(out.count("id=0x"), 1, out)

    def test_nothing_stays(self):
        before = support.read_text("/proc/self/mounts")
        self.shell("true")
        self.assertEqual(support.read_text("/proc/self/mounts"), before)
        self.assertEqual(os.listdir(os.path.join(self.folder, "landtrace")), [])

    def test_what_trace_cmd_switches_in_the_kernel_is_the_commands_own(self):
        for name in ("ftrace_enabled", "kptr_restrict"):
            path = "/proc/sys/kernel/" + name
            if not os.path.exists(path):
                continue
            before = support.read_text(path)
            self.assertEqual(self.shell(f"cat {path} && echo 2 > {path} && cat {path}"), before + "2\n")
            self.assertEqual(support.read_text(path), before)

    def test_exit_statuses_are_the_commands(self):
        self.assertEqual(self.run_tracefs("sh", "-c", "exit 7")[0], 7)
        self.assertIn(self.run_tracefs("sh", "-c", "kill -9 $$")[0], (137, -9))
        self.assertEqual(self.run_tracefs("no-such-command")[0], 127)
        self.assertEqual(self.run_tracefs("/etc/passwd")[0], 126)

    def test_the_shim_is_on_top(self):
        self.assertEqual(self.shell(f"{PRODUCER} --abi; echo $LD_PRELOAD | grep -c landtrace"), "emitted 0\n1\n")

    def test_one_inside_another(self):
        self.assertEqual(self.shell(f"{LANDTRACE} run --tracefs -- sh -c '{SEES}'"), "1\n")

    @needs("trace-cmd")
    def test_trace_cmd_finds_the_events(self):
        out = self.shell(f"{PRODUCER} --abi --count 1000000 --pause 1000 & "
                         "while ! grep -q job /sys/kernel/tracing/available_events; do sleep 0.02; done; "
                         "trace-cmd list -e; kill $!")
        self.assertEqual(out, "user_events:job\n")


@support.needs_fuse
@support.needs_root
@support.needs_namespaces
class Root(Cases, support.Case):
    def test_in_a_domain_that_runs(self):
        self.serve("--trace-event", "job")
        self.assertEqual(self.shell(f"{SEES}; {PRODUCER} --abi"), "1\nemitted 10\n")
        self.assertIn("job", self.landtrace("list")[1])

    def test_record_shows_the_files_too(self):
        words = ["record", "--tracefs", "-o", self.file, "--", "sh", "-c", f"{SEES}; {PRODUCER} --abi; exit 5"]
        status, out, err = self.landtrace(*words)
        self.assertEqual((status, out), (5, "1\nemitted 10\n"), err)
        self.assertEqual(support.Summary(err).events, 10)

    def test_signals_reach_the_command(self):
        process = self.start("run", "--tracefs", "--", "sh", "-c", "trap 'exit 9' TERM; echo; while :; do sleep 0.1; done")
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=support.TIMEOUT_S), 9)

    def test_no_domain_at_a_named_socket(self):
        status, _, err = self.run_tracefs("true", options=["--socket", "/no/such/socket"])
        self.assertEqual(status, 1)
        self.assert_one_line(err, "no domain runs at /no/such/socket")

    def test_where_there_is_no_folder_to_mount_on(self):
        hide = "mount -t tmpfs none /sys/kernel && mkdir /sys/kernel/other && exec \"$@\""
        self.prefix = ["unshare", "-m", "sh", "-c", hide, "sh"]
        self.assertEqual(self.shell(SEES + "; ls -d /sys/kernel/other"), "1\n/sys/kernel/other\n")

    def test_a_remount_changes_the_group_of_all(self):
        helper = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../packaging/mount.fuse.tracefs")
        groups = "stat -c %g . events README instances/a/trace | sort -u"
        out = self.shell("cd /sys/kernel/tracing && mount -t tracefs -o remount,gid=1234 nodev /sys/kernel/tracing && "
                         f"mkdir instances/a && {groups}; chgrp 99 events; mount -o remount,rw,gid=2345 . && {groups}; "
                         f"{helper} landtrace /sys/kernel/tracing -o rw,remount,gid=4321 && {groups}; "
                         f"{helper} landtrace /sys/kernel/tracing -o rw 2>/dev/null || echo refused")
        self.assertEqual(out, "1234\n2345\n4321\nrefused\n")

    def test_a_container_has_a_domain_of_its_own(self):
        self.serve("--trace-event", "outside")
        own = os.path.join(self.folder, "own")
        os.mkdir(own)
        script = (f"export XDG_RUNTIME_DIR={own}; {SEES.replace('ls', LANDTRACE + ' run --tracefs -- ls')}; "
                  f"{LANDTRACE} list 2>&1 | grep -c 'no domain runs'")
        words = ["unshare", "-pmf", "--mount-proc", "sh", "-c", script]
        done = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=support.TIMEOUT_S)
        self.assertEqual(done.stdout, "1\n1\n", done.stderr)

    def test_a_domain_of_another_pid_namespace_does_not_serve_it(self):
        self.serve()
        self.prefix = ["unshare", "-pmf", "--mount-proc"]
        status, _, err = self.run_tracefs("true")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "another pid namespace")


@support.needs_users_fuse
class User(Cases, support.Case):
    prefix = support.AS_NOBODY_WITH_FUSE

    def setUp(self):
        super().setUp()
        os.chown(self.folder, support.NOBODY, support.NOBODY)

    def test_ids_are_the_users_own(self):
        self.assertEqual(self.shell("id -u; stat -c %u:%g /sys/kernel/tracing/README"), "65534\n65534:65534\n")

    def test_or_roots_as_far_as_that_goes(self):
        out = self.shell("id -u; stat -c %u:%g /sys/kernel/tracing/README; mkdir /sys/kernel/tracing/instances/a && echo made",
                         options=["--map-root-user"])
        self.assertEqual(out, "0\n0:0\nmade\n")

    def test_where_a_tracefs_is_mounted_it_is_covered(self):
        if not support.works("unshare", "-m", "mount", "-t", "tracefs", "none", "/sys/kernel/tracing"):
            self.skipTest("SKIPPED: no tracefs in this kernel")
        self.prefix = ["unshare", "-m", "sh", "-c", "mount -t tracefs none /sys/kernel/tracing && exec \"$@\"", "sh",
                       *support.AS_NOBODY_WITH_FUSE]
        self.assertEqual(self.shell(SEES + "; readlink /proc/mounts"), "1\nself/mounts\n")

    def test_without_the_device_it_says_so(self):
        self.prefix = ["unshare", "-m", "sh", "-c",
                       "touch fuse && chmod 600 fuse && mount --bind fuse /dev/fuse && exec setpriv --reuid 65534 "
                       "--regid 65534 --clear-groups \"$@\"", "sh"]
        status, _, err = self.run_tracefs("true")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "/dev/fuse", "chmod 0666")

    def test_without_namespaces_it_says_so(self):
        ids = ["--map-users=0,0,65536", "--map-groups=0,0,65536"]  # so that the limit is that of a namespace of its own
        self.prefix = ["unshare", "-Um", *ids, "sh", "-c",
                       "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --reuid 65534 --regid 65534 "
                       "--clear-groups \"$@\"", "sh"]
        if not support.works(*self.prefix, "true"):
            self.skipTest("SKIPPED: no namespace with such a limit to be had")
        status, _, err = self.run_tracefs("true")
        self.assertEqual(status, 1)
        self.assert_one_line(err, "user.max_user_namespaces")


if __name__ == "__main__":
    unittest.main()
