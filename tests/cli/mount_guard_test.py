"""run --tracefs as root: whatever the command mounts, the kernel's own tracer is not in its reach."""
import os
import subprocess
import unittest

import support
from support import LANDTRACE, needs

MOUNTER = os.environ["MOUNTER"]
# What lies at a folder. The kernel's tracer has events of its own, ours has none of them.
LOOK = ("look() { if [ -e $1/events/sched ]; then echo kernel; elif [ -e $1/user_events_data ]; then echo ours; "
        "else echo nothing; fi; }; ")


def can_mount(kind):
    return support.works("unshare", "-m", "mount", "-t", kind, "none", "/mnt")


@support.needs_fuse
@support.needs_root
@support.needs_namespaces
@unittest.skipUnless(can_mount("debugfs") and can_mount("tracefs"), "SKIPPED: no tracefs of the kernel's to be had")
class MountGuard(support.UnderTracefs, support.Case):
    def setUp(self):
        super().setUp()
        self.place = os.path.join(self.folder, "place")
        os.mkdir(self.place)

    def look(self, script, **options):
        """What the script prints, which has the function `look`."""
        return self.shell(LOOK + script + "; true", **options).split()

    def ways(self):
        ways = ["plain", "magic", "context"]
        has_32_bits = subprocess.run([MOUNTER, "32-bit", "tracefs", "/no/such/folder"], capture_output=True,
                                     check=False).returncode == 1
        return ways + ["32-bit"] if has_32_bits else ways

    def test_what_the_kernels_look_like(self):
        script = LOOK + f"mount -t tracefs none {self.place}; look {self.place}"
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "kernel\n")

    def test_a_tracefs_that_it_mounts_is_ours_in_each_way(self):
        for way in self.ways():
            with self.subTest(way=way):
                out = self.look(f"{MOUNTER} {way} tracefs {self.place}; look {self.place}; "
                                f"umount {self.place} && look {self.place}")
                self.assertEqual(out, ["ours", "nothing"])

    def test_a_debugfs_that_it_mounts_has_ours_in_each_way(self):
        inner = self.place + "/tracing"
        for way in self.ways():
            with self.subTest(way=way):
                out = self.look(f"{MOUNTER} {way} debugfs {self.place}; look {inner}; stat -f -c %t {self.place}; "
                                f"umount {inner} 2>&1 | grep -o busy; look {inner}; "
                                f"umount {self.place} && look {inner}")
                self.assertEqual(out, ["ours", "64626720", "busy", "ours", "nothing"])

    def test_mount_of_the_distribution(self):
        out = self.look("mount -t debugfs nodev /sys/kernel/debug; look /sys/kernel/debug/tracing; "
                        f"mount -t tracefs nodev {self.place}; look {self.place}; cat {self.place}/current_tracer")
        self.assertEqual(out, ["ours", "ours", "nop"])

    @needs("busybox")
    def test_mount_of_busybox(self):
        self.assertEqual(self.look(f"busybox mount -t debugfs none {self.place}; look {self.place}/tracing"), ["ours"])

    @needs("trace-cmd")
    def test_what_trace_cmd_leaves_mounted_is_ours(self):
        out = self.look("trace-cmd record -e user_events -o t.dat true >record.txt 2>&1; look /sys/kernel/debug/tracing; "
                        "look /sys/kernel/tracing; cat /sys/kernel/debug/tracing/current_tracer; trace-cmd list -t")
        self.assertEqual(out, ["ours", "ours", "nop", "nop"])
        self.assertEqual(os.path.exists(os.path.join(self.folder, "t.dat")), True)

    def test_a_copy_of_a_debugfs_has_ours(self):
        for way in ("bind", "copy"):
            with self.subTest(way=way):
                out = self.look(f"mount -t debugfs none /sys/kernel/debug; {MOUNTER} {way} /sys/kernel/debug {self.place}; "
                                f"look {self.place}/tracing; umount {self.place}; "
                                f"{MOUNTER} {way} /sys/kernel/debug/tracing {self.place}; look {self.place}")
                self.assertEqual(out, ["ours", "ours"])
        out = self.look(f"mount -t debugfs none /sys/kernel/debug; mount --rbind /sys {self.place}; "
                        f"look {self.place}/kernel/debug/tracing; look {self.place}/kernel/tracing")
        self.assertEqual(out, ["ours", "ours"])

    def test_a_debugfs_that_was_mounted_before_has_ours(self):
        self.prefix = ["unshare", "-m", "sh", "-c", f"mount -t debugfs none {self.place} && exec \"$@\"", "sh"]
        other = os.path.join(self.folder, "other")
        os.mkdir(other)
        out = self.look(f"look {self.place}/tracing; mount --bind {self.place} {other}; look {other}/tracing")
        self.assertEqual(out, ["ours", "ours"])

    def test_ours_cannot_be_taken_away_from_above_the_kernels(self):
        # Where the kernel's is mounted elsewhere already, it is not put below ours.
        self.prefix = ["unshare", "-m", "sh", "-c", 'umount -R -l /sys/kernel/debug 2>/dev/null; exec "$@"', "sh"]
        usual = "/sys/kernel/tracing"
        for words in (f"umount {usual}", f"umount -l {usual}", f"{MOUNTER} move {usual} {self.place}",
                      f"{MOUNTER} new-move {usual} {self.place}", f"unshare -m umount {usual}"):
            with self.subTest(words=words):
                out = self.look(f"{words} >/dev/null 2>&1 || echo refused; look {usual}")
                self.assertEqual(out, ["refused", "ours"])

    def test_a_debugfs_that_is_in_use_keeps_ours(self):
        out = self.look(f"mount -t debugfs none {self.place}; cd {self.place}; umount {self.place} 2>/dev/null || echo busy; "
                        f"look {self.place}/tracing")
        self.assertEqual(out, ["busy", "ours"])

    def test_in_namespaces_and_below_other_roots(self):
        mounts = LOOK + f"{MOUNTER} plain debugfs {self.place}; look {self.place}/tracing"
        for words in ("unshare -m", "unshare -pmf --mount-proc", "unshare -pf", "unshare -mn --propagation slave"):
            with self.subTest(words=words):
                self.assertEqual(self.look(f"{words} sh -c '{mounts}'"), ["ours"])
        root = os.path.join(self.folder, "root")
        os.mkdir(root)
        os.mkdir(os.path.join(root, "real"))
        os.symlink("/real", os.path.join(root, "link"))  # of that root
        out = self.look(f"cp {MOUNTER} {root}/mounter; cd {root}; chroot {root} /mounter plain tracefs /link; look {root}/real; "
                        f"umount {root}/real; cd {root}/real; mkdir -p deeper; cd deeper; {MOUNTER} plain debugfs ../../real; "
                        f"look {root}/real/tracing")
        self.assertEqual(out, ["ours", "ours"])

    def test_a_proc_of_another_pid_namespace_misleads_nobody(self):
        script = LOOK + f"mount -t proc none /proc; {MOUNTER} plain tracefs {self.place}; look {self.place}"
        self.assertEqual(self.look(f"unshare -pf sh -c '{script}'"), ["ours"])

    def test_a_command_in_a_command_has_its_own(self):
        own = os.path.join(self.folder, "own")
        os.mkdir(own)
        script = f"mkdir /sys/kernel/tracing/instances/inner; {MOUNTER} plain tracefs {self.place}; ls {self.place}/instances"
        out = self.look("mkdir /sys/kernel/tracing/instances/outer; "
                        f"env -u LANDTRACE_SOCKET XDG_RUNTIME_DIR={own} {LANDTRACE} run --tracefs -- sh -c '{script}' 2>&1; "
                        f"{MOUNTER} plain tracefs {self.place}; ls {self.place}/instances")
        self.assertEqual(out, ["inner", "outer"])

    def test_errors_are_the_kernels(self):
        file = os.path.join(self.folder, "file")
        with open(file, "w", encoding="utf-8"):
            pass
        calls = [f"{MOUNTER} {way} {kind} {target}" for way in self.ways() for kind in ("tracefs", "debugfs", "nosuchfs")
                 for target in ("/no/such/folder", file)]
        calls += [f"{MOUNTER} {way} {what} {self.place}" for way in ("bind", "copy", "move", "new-move")
                  for what in ("/no/such/folder", file)]
        calls += [f"umount {self.place} 2>&1 | grep -o 'not mounted'", f"{MOUNTER} plain tracefs ''",
                  f"setpriv --reuid 65534 --clear-groups {MOUNTER} plain debugfs {self.place}",
                  f"unshare -Um {MOUNTER} plain debugfs {self.place}"]
        # The second one is refused.
        calls += [f"{MOUNTER} plain {kind} {self.place}; {MOUNTER} plain {kind} {self.place}; umount {self.place}"
                  for kind in ("tracefs", "debugfs")]
        script = "; ".join(f"echo \"$({call})\"" for call in calls)
        kernels = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=True).stdout
        self.assertIn("EBUSY", kernels)
        self.assertEqual(self.shell(script).split("\n"), kernels.split("\n"), calls)

    def test_options_of_a_mount_count(self):
        out = self.look(f"mount -t tracefs -o ro,gid=1234 none {self.place}; stat -c %g {self.place}/README; "
                        f"mkdir {self.place}/instances/a 2>&1 | grep -o Read-only; "
                        f"umount {self.place}; mount -t debugfs -o ro none {self.place}; "
                        f"grep -c '^none {self.place} debugfs ro' /proc/mounts")
        self.assertEqual(out, ["1234", "Read-only", "1"])

    def test_other_mounts_are_the_commands_own(self):
        out = self.look(f"mount -t tmpfs none {self.place} && touch {self.place}/file && ls {self.place} && "
                        f"mkdir deeper && mount --bind {self.place} deeper && ls deeper && "
                        f"mount --make-private deeper && umount deeper && umount {self.place} && ls {self.place}")
        self.assertEqual(out, ["file", "file"])

    def test_the_namespace_outside_is_not_touched(self):
        self.prefix = ["unshare", "-m", "sh", "-c", "\"$@\"; exit $?", "sh"]
        self.assertEqual(self.look(f"nsenter -m -t $PPID {MOUNTER} plain tracefs {self.place}; "
                                   f"nsenter -m -t $PPID ls {self.place}/events | grep -x sched"), ["sched"])

    def test_many_at_once(self):
        script = "".join(f"(mkdir {n}; {MOUNTER} plain debugfs {n}; look {n}/tracing) & " for n in range(20)) + "wait"
        self.assertEqual(self.look(script), ["ours"] * 20)

    def test_no_guard_is_left(self):
        self.look(f"{MOUNTER} plain debugfs {self.place}")
        self.wait_until(lambda: not self.guards())

    def guards(self):
        """Those of this test that live."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if support.read_text(f"/proc/{name}/comm") != "landtrace-guard\n":
                    continue
                with open(f"/proc/{name}/environ", "rb") as file:
                    if self.folder.encode() in file.read():
                        found.append(name)
            except OSError:
                pass
        return found

    def test_there_is_one_while_the_command_runs(self):
        process = self.start("run", "--tracefs", "--", "sh", "-c", "echo; read line", stdin=subprocess.PIPE)
        process.stdout.readline()
        self.assertEqual(len(self.guards()), 1)
        process.communicate("\n", timeout=support.TIMEOUT_S)

    def test_where_there_can_be_no_guard_it_says_so(self):
        for reason in ("without-seccomp", "with-a-listener"):
            with self.subTest(reason=reason):
                self.prefix = [MOUNTER, reason]
                status, out, err = self.run_tracefs("sh", "-c", LOOK + "look /sys/kernel/tracing; exit 3")
                self.assertEqual((status, out), (3, "ours\n"))
                self.assert_one_line(err, "no guard", "kernel's tracer")


if __name__ == "__main__":
    unittest.main()
