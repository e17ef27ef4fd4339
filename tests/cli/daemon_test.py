"""landtraced: serving, what it is told, and how it ends."""
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest

import support
from support import LANDTRACE, LANDTRACED, PRODUCER, needs_fuse, needs_namespaces, needs_root


class Daemon(support.Case):
    def refused(self, *words):
        """(status, its one line)"""
        done = subprocess.run([LANDTRACED, *words], env=self.environment, capture_output=True, text=True, timeout=support.TIMEOUT_S)
        self.assertTrue(done.stderr.startswith("landtraced: "), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.returncode, done.stderr

    def test_programs_join_it_and_it_ends_without_a_trace(self):
        daemon = self.serve()
        self.assertEqual(self.landtrace("run", "--", PRODUCER, "--abi")[:2], (0, "emitted 0\n"))
        self.assertEqual(self.stop(daemon), (0, "", ""))
        self.assertFalse(os.path.exists(self.socket))

    def test_an_interrupt_ends_it_too(self):
        self.assertEqual(self.stop(self.serve(), signal.SIGINT)[0], 0)

    def test_trace_event_enables_from_the_first_event_on(self):
        self.serve("--trace-event", "other,user_events:jo*")
        self.assertEqual(self.landtrace("run", "--", PRODUCER, "--abi")[:2], (0, "emitted 10\n"))

    def test_events_of_a_file_are_there_from_the_beginning_and_mistakes_are_told_by_line(self):
        path = os.path.join(self.folder, "events")
        definitions = ["u:mark int n", "s:took u64 us; pid_t pid", "p:my/sleeps libc.so.6:usleep us=$arg1:u32",
                       "e:ep/mark user_events.mark n=$n"]
        with open(path, "w", encoding="utf-8") as file:
            file.write("# events of this machine\n\n" + definitions[0] + "\n" + definitions[1] + "   # a comment\n"
                       "p:my/bad  libc.so.6:usleep us=%zz\n" + "\n".join(definitions[2:]) + "\nu:other\tnosuch x")
        complaints = ""
        for number in (signal.SIGKILL, signal.SIGTERM):  # the second one has the events of the first
            daemon = self.serve("--events-file", path, "--trace-event", "my:*,mark")
            listed = self.landtrace("cat", "dynamic_events")[1].splitlines()
            self.assertEqual(sorted(line.split("/")[-1].split(" ")[0].split("\t")[0] for line in listed),
                             ["mark", "sleeps", "took", "u:mark"])
            self.assertEqual(self.landtrace("cat", "events/my/sleeps/enable")[1], "1\n")
            _, _, complaints = self.stop(daemon, number)
            found = complaints.splitlines()
            self.assertEqual(found[0], f"landtraced: {path}:5: Invalid register name")
            self.assertEqual(found[1], "  p:my/bad libc.so.6:usleep us=%zz")
            self.assertEqual(found[2].index("^"), found[1].index("%zz"))
            self.assertRegex(found[3], rf"^landtraced: {path}:8: u:other nosuch x: ")
            self.assertEqual(len(found), 4, complaints)

    def test_a_file_of_events_that_cannot_be_read_or_removes_something(self):
        path = os.path.join(self.folder, "events")
        self.assertEqual(self.refused("--events-file", path)[0], 1)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n-:mark\n")
        status, line = self.refused("--events-file", path)
        self.assertEqual(status, 2)
        self.assertIn(path + ":2: -:mark: want a definition", line)

    def test_its_end_disables_the_events_of_programs(self):
        daemon = self.serve("--trace-event", "job")
        words = ["--abi", "--count", "1000000", "--pause", "1000"]
        producer = self.start("run", "--", PRODUCER, *words)
        self.wait_until(lambda: "job" in self.landtrace("list")[1])
        self.assertEqual(self.stop(daemon)[0], 0)
        self.assertIsNone(producer.poll())

    def test_the_one_that_is_started_again_goes_on_with_the_programs_there_are(self):
        producer = None
        for _ in range(3):
            daemon = self.serve("--trace-event", "job")
            if producer is None:
                producer = self.start("run", "--", PRODUCER, "--abi", "--count", "1000000", "--pause", "1000")
            self.wait_until(lambda: " job: " in self.landtrace("cat", "trace")[1])
            self.assertEqual(self.stop(daemon)[0], 0)
        self.assertIsNone(producer.poll())
        self.assertTrue(os.path.exists(self.socket + ".state"))
        self.stop(producer, signal.SIGKILL)
        self.assertEqual(self.stop(self.serve())[0], 0)
        self.assertEqual([name for name in os.listdir(os.path.dirname(self.socket)) if ".state" in name], [])

    def test_one_domain_has_one_owner(self):
        self.serve()
        status, line = self.refused()
        self.assertEqual(status, 1)
        self.assertIn("already", line)

    def test_bad_settings(self):
        for words, part in ((["--mode", "9"], "--mode"), (["--group", "no-such-group"], "no-such-group"),
                            (["--abi", "5"], "ABI '5'"), (["--buffer-size", "x"], "--buffer-size: 'x' is no size"),
                            (["--trace-event", "a b"], "pattern 'a b'"), (["--bogus"], "--bogus"),
                            (["--config", "/no/such/file"], "/no/such/file")):
            status, line = self.refused(*words)
            self.assertEqual(status, 2, line)
            self.assertIn(part, line)

    def config(self, text):
        path = os.path.join(self.folder, "landtraced.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_a_config_file_has_the_same_options(self):
        self.serve("--config", self.config("buffer-size = 64K\ntrace-event = [\"other\", \"user_events:job\"]\n"))
        self.assertEqual(self.landtrace("run", "--", PRODUCER, "--abi")[:2], (0, "emitted 10\n"))

    def test_the_users_config_file_is_found(self):
        os.makedirs(os.path.join(self.folder, "landtrace"))
        shutil.move(self.config("trace-event = job\n"), os.path.join(self.folder, "landtrace"))
        self.environment["XDG_CONFIG_HOME"] = self.folder
        self.serve()
        self.assertEqual(self.landtrace("run", "--", PRODUCER, "--abi")[:2], (0, "emitted 10\n"))

    def test_what_a_config_file_does_not_know_is_refused(self):
        status, line = self.refused("--config", self.config("bufer-size = 64K\n"))
        self.assertEqual(status, 2)
        self.assertIn("bufer-size", line)

    def test_a_service_manager_is_told(self):
        path = os.path.join(self.folder, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(path)
            manager.settimeout(60)
            daemon = self.serve(env=dict(self.environment, NOTIFY_SOCKET=path))
            self.assertEqual(manager.recv(100), b"READY=1")
            self.stop(daemon)
            self.assertEqual(manager.recv(100), b"STOPPING=1")

    def test_in_the_background_it_serves_when_its_starter_ends(self):
        done = subprocess.run([LANDTRACED, "--daemonize"], env=self.environment, capture_output=True, timeout=support.TIMEOUT_S)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        about = self.landtrace("doctor", "--json")[1]
        pid = int(about.split("process ")[1].split()[0])
        self.assertEqual(self.refused("--daemonize")[0], 1)
        os.kill(pid, signal.SIGTERM)
        self.wait_until(lambda: not os.path.exists(self.socket))

    @needs_fuse
    @needs_root
    def test_mounts_go_with_it_and_a_dead_ones_mount_is_replaced(self):
        folder = os.path.join(self.folder, "mount")
        os.mkdir(folder)
        self.addCleanup(support.works, "umount", "-l", folder)
        daemon = self.serve("--mount", folder, "--group", "12345", "--mode", "0755")
        self.wait_until(lambda: "README" in os.listdir(folder))
        about = os.stat(folder)
        self.assertEqual((about.st_mode & 0o777, about.st_uid, about.st_gid), (0o755, 0, 12345))
        daemon.kill()
        daemon.communicate()
        self.assertRaises(OSError, os.listdir, folder)
        daemon = self.serve("--mount", folder)
        self.wait_until(lambda: support.works("test", "-e", folder + "/README"))
        self.assertEqual(self.stop(daemon)[0], 0)
        self.assertEqual(os.listdir(folder), [])

    @needs_fuse
    @needs_root
    def test_whoever_is_answered_finds_the_mounts(self):
        other = os.path.join(self.folder, "other")
        os.mkdir(other)
        self.addCleanup(support.works, "umount", "-l", other)
        holder = self.start_program(LANDTRACED, "--socket", other + ".sock", "--mount", other)
        self.addCleanup(self.stop, holder)
        self.wait_until(lambda: support.works("test", "-e", other + "/README"))
        # Whoever looks for a folder there waits until its owner goes on.
        self.hold(holder)
        folder = other + "/events/user_events"
        self.addCleanup(support.works, "umount", "-l", folder)
        self.addCleanup(self.stop, self.start_program(LANDTRACED, "--mount", folder))
        self.addCleanup(holder.send_signal, signal.SIGCONT)  # before that
        self.wait_until(lambda: support.listens(self.socket))
        client = self.start("cat", "README")
        time.sleep(0.3)
        self.assertIsNone(client.poll())
        holder.send_signal(signal.SIGCONT)
        out, err = client.communicate(timeout=support.TIMEOUT_S)
        self.assertIn(folder, support.read_text("/proc/self/mounts"))
        self.assertEqual((client.returncode, err), (0, ""))
        self.assertTrue(out)

    @needs_fuse
    @needs_root
    def test_a_mount_that_cannot_be_made_ends_it(self):
        status, line = self.refused("--mount", "/no/such/folder")
        self.assertEqual(status, 1)
        self.assertIn("/no/such/folder", line)
        self.assertFalse(os.path.exists(self.socket))


# In a mount namespace with a /run of its own, as --system has a fixed place: a shell, with nobody as N and a member of
# group 100 as G.
SYSTEM = """
set -e
mount -t tmpfs none /run
as() { groups=$1; shift; setpriv --reuid 65534 --regid 65534 $groups env -u XDG_RUNTIME_DIR "$@"; }
member() { as "--groups 100" "$@"; }
guest() { as --clear-groups "$@"; }
%s --system --group 100 --trace-event job &
daemon=$!
until "$1" cat --socket /run/landtrace/domain.sock README > /dev/null 2>&1; do kill -0 $daemon; sleep 0.02; done
"""


@needs_root
@needs_namespaces
class SystemDaemon(support.Case):
    def shell(self, script):
        environment = dict(self.environment)
        del environment["XDG_RUNTIME_DIR"]
        words = ["unshare", "-m", "sh", "-c", SYSTEM % LANDTRACED + script + "\nkill $daemon; wait $daemon", "sh",
                 LANDTRACE, PRODUCER]
        os.chmod(self.folder, 0o777)
        return subprocess.run(words, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=support.TIMEOUT_S)

    def test_users_without_a_domain_of_their_own_are_in_it(self):
        done = self.shell("guest $1 run -- $2 --abi; guest $2")
        self.assertEqual((done.returncode, done.stdout), (0, "emitted 10\nemitted 10\n"), done.stderr)

    def test_members_of_the_group_record_it(self):
        done = self.shell("member $1 record --duration 0.1 -o t.dat")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_others_do_not(self):
        done = self.shell("guest $1 record --duration 0.1 -o t.dat || echo status $?")
        self.assertEqual(done.stdout, "status 1\n")
        self.assertIn("the domain at /run/landtrace/domain.sock, that of all users", done.stderr)
        self.assertIn("members of its group", done.stderr)
        self.assertIn("`landtraced` serves a domain of your own", done.stderr)

    def test_nor_do_they_tail_or_measure_it(self):
        done = self.shell("for words in 'tail' 'hist x:y --keys z' 'latency --from a --to b --key c'; do "
                          "guest timeout 100 $1 $words --duration 0.1 || echo status $?; done")
        self.assertEqual(done.stdout, "status 1\n" * 3)
        self.assertEqual(done.stderr.count("`landtraced` serves a domain of your own"), 3, done.stderr)

    def test_others_mount_nothing_of_it(self):
        done = self.shell("guest $1 mount --socket /run/landtrace/domain.sock . || echo status $?")
        self.assertEqual(done.stdout, "status 1\n")
        self.assertIn("may mount it", done.stderr)

    def test_only_root_serves_it(self):
        done = self.shell("guest %s --system || echo status $?" % LANDTRACED)
        self.assertEqual(done.stdout, "status 1\n")
        self.assertIn("only root", done.stderr)


if __name__ == "__main__":
    unittest.main()
