"""What the tests of the command line share: running the program, and reading what it says."""
import atexit
import fcntl
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

TIMEOUT_S = 180  # for what hangs, beside whatever else the machine does


def programs_for_everybody():
    """Copies of the programs, laid out as installed, where every user can run them: a build below /root is root's alone."""
    landtrace, producer, shim = os.environ["LANDTRACE"], os.environ["PRODUCER"], os.environ["SHIM"]
    root = tempfile.mkdtemp(prefix="landtrace-programs-")
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    os.makedirs(os.path.join(root, "bin"))
    os.makedirs(os.path.join(root, "lib", "landtrace"))
    for folder in (root, os.path.join(root, "bin"), os.path.join(root, "lib"), os.path.join(root, "lib", "landtrace")):
        os.chmod(folder, 0o755)
    for library in (shim, AGENT, PERF_LIBRARY):
        if os.path.exists(library):
            shutil.copy(library, os.path.join(root, "lib", "landtrace"))
    programs = (landtrace, os.path.join(os.path.dirname(landtrace), "landtraced"), producer)
    return tuple(shutil.copy(program, os.path.join(root, "bin")) for program in programs)


AGENT = os.path.join(os.path.dirname(os.environ["SHIM"]), "liblandtrace-agent.so")  # where there are probes
PERF_LIBRARY = os.path.join(os.path.dirname(os.environ["SHIM"]), "liblandtrace-perf.so")
LANDTRACE, LANDTRACED, PRODUCER = programs_for_everybody()

NOBODY = 65534
AS_NOBODY = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]


def copied(program, name=None):
    """A copy of it beside these, with its own name or this one."""
    return shutil.copy(program, os.path.join(os.path.dirname(LANDTRACE), name or os.path.basename(program)))


def main_with_probes():
    """unittest.main() where functions can be probed."""
    if os.path.exists(AGENT):
        unittest.main()
    print("SKIPPED: functions cannot be probed on this machine yet")


def works(*words):
    """Whether a program ends well: what a test needs that is not everywhere."""
    try:
        return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT_S).returncode == 0
    except OSError:
        return False


def listens(path):
    """Whether an owner serves there: its socket has a name before that."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        return client.connect_ex(path) == 0


# Runs the words behind it as nobody, where every user may open /dev/fuse; for root, in a mount namespace of its own.
AS_NOBODY_WITH_FUSE = ["unshare", "-m", "sh", "-c",
                       "node=$(mktemp -u /tmp/landtrace-fuse-XXXXXX) && mknod -m 666 $node c 10 229 && "
                       "mount --bind $node /dev/fuse && rm $node && "
                       "exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"", "sh"]


class Case(unittest.TestCase):
    """Each test has a folder of its own, which is also where its domains live."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="landtrace-cli-")
        os.chmod(self.folder, 0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.file = os.path.join(self.folder, "trace.dat")
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.folder)
        self.environment.pop("LANDTRACE_SOCKET", None)
        self.socket = os.path.join(self.folder, "landtrace", "domain.sock")

    def start(self, *words, **options):
        return self.start_program(LANDTRACE, *words, **options)

    def start_program(self, *words, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([*map(str, words)], text=True, cwd=self.folder,
                                   env=options.pop("env", self.environment), **options)
        self.addCleanup(end, process)
        return process

    def serve(self, *words, **options):
        """Starts landtraced, and waits until it serves."""
        process = self.start_program(LANDTRACED, *words, **options)
        self.addCleanup(self.stop, process)
        self.wait_until(lambda: process.poll() is not None or self.answers())
        self.assertIsNone(process.poll(), process.stderr.read() if process.poll() is not None else "")
        return process

    def answers(self):
        return self.landtrace("list")[0] == 0

    def stop(self, process, number=signal.SIGTERM):
        """Ends it: (status, stdout, stderr)."""
        if process.poll() is None:
            process.send_signal(number)
        if process.stdout.closed:
            return process.wait(timeout=TIMEOUT_S), "", ""
        out, err = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, out, err

    def assert_ends_without_its_starter(self, *words, **options):
        """A program of ours that was started by a process which has ended before the program could ask to be told."""
        environment = {**options.pop("env", self.environment), "LANDTRACE_PARENT": "1"}
        program = self.start_program(*words, env=environment, **options)
        self.assertIn(program.wait(timeout=TIMEOUT_S), (0, -signal.SIGTERM))

    def landtrace(self, *words, **options):
        """Runs it to the end: (status, stdout, stderr)."""
        process = self.start(*words, **options)
        out, err = process.communicate(timeout=TIMEOUT_S)
        return process.returncode, out, err

    def record(self, *words, options=()):
        """Records a producer into self.file: its summary."""
        status, out, err = self.landtrace("record", "-o", self.file, *options, "--", PRODUCER, *words)
        self.assertEqual(status, 0, err)
        return Summary(err, out)

    def record_emitted(self, *events, options=(), comm="emitter"):
        """Records into self.file a program that emits these: each a declaration and the bytes of the payload."""
        emitter = os.path.join(os.path.dirname(os.path.abspath(__file__)), "emitter.py")
        words = [word for declaration, payload in events for word in (declaration, payload.hex())]
        status, _, err = self.landtrace("record", "-o", self.file, *options, "--", sys.executable, emitter, "--comm", comm, *words)
        self.assertEqual(status, 0, err)

    def report(self, *words):
        status, out, err = self.landtrace("report", self.file, *words)
        self.assertEqual(status, 0, err)
        return out

    def report_json(self, *words):
        """(events, number of lost ones)"""
        lines = [json.loads(line) for line in self.report("--json", *words).splitlines()]
        return [line for line in lines if "lost" not in line], sum(line["lost"] for line in lines if "lost" in line)

    def assert_one_line(self, err, *parts):
        self.assertTrue(err.startswith("landtrace: "), err)
        self.assertEqual(err.count("\n"), 1, err)
        for part in parts:
            self.assertIn(part, err)

    def start_recording(self, *options, file=None):
        """Starts one without a command, and waits until it records."""
        file = file or self.file
        if os.path.exists(file):
            os.remove(file)
        process = self.start("record", "-o", file, *options)
        self.wait_until(lambda: os.path.exists(file))
        return process

    def hold(self, process):
        """By SIGSTOP, which threads that run see when they next look; until SIGCONT."""
        process.send_signal(signal.SIGSTOP)
        self.addCleanup(process.send_signal, signal.SIGCONT)
        threads = f"/proc/{process.pid}/task"

        def is_held(thread):
            try:
                return read_text(f"{threads}/{thread}/stat").rpartition(")")[2].split()[0] == "T"
            except (FileNotFoundError, ProcessLookupError):
                return False  # it ended meanwhile: the list is old

        self.wait_until(lambda: all(map(is_held, os.listdir(threads))))

    def wait_for_events(self, count=1, file=None):
        """Until so many can be read in the file that is being recorded."""
        script = f"{LANDTRACE} report --json {file or self.file} 2>/dev/null | grep -v '\"lost\"' | head -n {count} | wc -l"
        self.wait_until(lambda: int(self.start_program("sh", "-c", script).communicate()[0]) == count)

    def events_so_far(self):
        """What can be read in the file that is being recorded."""
        out = self.landtrace("report", "--json", self.file)[1]
        return [event for event in map(json.loads, out.splitlines()) if "lost" not in event]

    def given_time(self, attempt):
        """What attempt(seconds) returns; where that is nothing, with four times as many. A busy machine may let a process
        wait for seconds."""
        for seconds in (0.5, 2, 8, 32):
            result = attempt(seconds)
            if result:
                return result
        self.fail("in vain, with half a minute to do it in")

    def wait_until(self, condition, state=lambda: ""):
        end_time = time.monotonic() + TIMEOUT_S
        while not condition():
            if time.monotonic() > end_time:
                self.fail(f"waited in vain: {state()}")
            time.sleep(0.02)


class OnTerminal:
    """Commands on a terminal of this size."""
    columns, rows = 80, 24

    def on_terminal(self, *words, environment=(), stop_when=None):
        """(status, what it printed, with newlines as \\n). It is interrupted once stop_when is in that, or true of it."""
        leader, follower = os.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", self.rows, self.columns, 0, 0))
        process = subprocess.Popen([*map(str, words)], stdin=follower, stdout=follower, stderr=follower, cwd=self.folder,
                                   env={**self.environment, "TERM": "xterm", **dict(environment)}, start_new_session=True)
        self.addCleanup(end, process)
        os.close(follower)
        output = b""
        end_time = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end_time:
            if select.select([leader], [], [], 0.1)[0]:
                try:
                    output += os.read(leader, 65536)
                except OSError:  # the other end is closed
                    break
            if stop_when and (stop_when(output) if callable(stop_when) else stop_when in output):
                process.send_signal(signal.SIGINT)
                stop_when = None
        os.close(leader)
        return process.wait(timeout=TIMEOUT_S), output.decode(errors="surrogateescape").replace("\r\n", "\n")


class UnderTracefs:
    """Commands that see a domain's files at /sys/kernel/tracing; `prefix` makes them another user's."""
    prefix = []

    def run_tracefs(self, *words, options=(), timeout=TIMEOUT_S):
        self.environment["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"  # all of it for everybody
        words = [*self.prefix, LANDTRACE, "run", "--tracefs", *options, "--", *words]
        # In a file, so that the command itself can wait for what is said there.
        with open(os.path.join(self.folder, "stderr"), "w+", encoding="utf-8") as said:
            done = subprocess.run(words, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=said, text=True,
                                  timeout=timeout)
            said.seek(0)
            return done.returncode, done.stdout, said.read()

    def shell(self, script, **options):
        status, out, err = self.run_tracefs("sh", "-c", script, **options)
        self.assertEqual(status, 0, err)
        return out


def end(process):
    if process.poll() is None:
        process.kill()
        process.wait()
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Summary:
    """The last line that `record` says, and what the producers said."""

    def __init__(self, err, out=""):
        line = [line for line in err.splitlines() if " lost" in line][-1]
        numbers = re.search(r"([\d,]+) events?, ([\d,]+) lost", line)
        self.events, self.lost = (int(text.replace(",", "")) for text in numbers.groups())
        self.text = line
        self.emitted = sum(int(line.split()[1]) for line in out.splitlines() if line.startswith("emitted "))


def sequences(events):
    """The sequence numbers of each source, in the order of the report."""
    by_source = {}
    for event in events:
        by_source.setdefault(event["fields"]["source"], []).append(event["fields"]["sequence"])
    return by_source


def needs_fuse(test):
    return unittest.skipUnless(os.access("/dev/fuse", os.R_OK | os.W_OK), "SKIPPED: no /dev/fuse here")(test)


def needs_namespaces(test):
    words = ["unshare", "-m", "true"] if os.geteuid() == 0 else ["unshare", "-Urm", "true"]
    return unittest.skipUnless(works(*words), "SKIPPED: no mount namespaces here")(test)


def needs_users_fuse(test):
    """Root, who can make /dev/fuse everybody's in a namespace; and users who have namespaces."""
    fit = os.geteuid() == 0 and works(*AS_NOBODY_WITH_FUSE, "sh", "-c", "exec 3<>/dev/fuse && unshare -Urm true")
    return unittest.skipUnless(fit, "SKIPPED: needs root, /dev/fuse and user namespaces")(test)


def needs_root(test):
    return unittest.skipUnless(os.geteuid() == 0, "SKIPPED: needs root")(test)


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"SKIPPED: no {program} here")


if __name__ == "__main__":
    raise SystemExit("a module for the tests beside it")
