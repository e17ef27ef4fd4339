"""Under Yama programs of a domain name its owner, who is to bring them the agent of probes. Where this kernel has no Yama
the programs see a file that says it has, and that is what is looked at: what they call, not what comes of it."""
import os
import re
import shutil
import subprocess
import unittest

import support
from attaching import ATTACHED
from support import AS_NOBODY, LANDTRACE, LANDTRACED, NOBODY, PRODUCER, needs_root

SEEN_AS = """mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && echo $0 > /proc/sys/kernel/yama/ptrace_scope &&
chmod 755 /proc/sys/kernel && exec "$@" """


@needs_root
@unittest.skipUnless(shutil.which("strace"), "there is no strace")
class Yama(support.Case):
    def serve_as_nobody(self):
        folder = os.path.join(self.folder, "nobody")
        os.mkdir(folder)
        os.chown(folder, NOBODY, NOBODY)
        self.environment["XDG_RUNTIME_DIR"] = folder
        owner = self.start_program(*AS_NOBODY, LANDTRACED)
        self.addCleanup(self.stop, owner)
        self.wait_until(lambda: support.listens(os.path.join(folder, "landtrace", "domain.sock")))
        return owner.pid

    def named_by(self, *words, scope=1, text="", strace=()):
        """Whom the processes of a command name: (process, named one) each."""
        calls = os.path.join(self.folder, "nobody", "calls")
        done = subprocess.run(["unshare", "-m", "sh", "-c", SEEN_AS, str(scope), *AS_NOBODY, "strace", "-f", "-qq", "-o",
                               calls, "-e", "trace=prctl", *strace, *map(str, words)], env=self.environment, cwd="/",
                              input=text, capture_output=True, text=True, timeout=support.TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.findall(r"^(\d+) +prctl\(PR_SET_PTRACER, (\d+)", support.read_text(calls), re.MULTILINE)
        return [(int(who), int(whom)) for who, whom in found]

    def test_programs_name_an_owner_of_their_own_user(self):
        owner = self.serve_as_nobody()
        # Under the shim, with nothing to say to the owner; its child names it, too.
        named = self.named_by(LANDTRACE, "run", "--", ATTACHED, "fork", text="x")
        self.assertEqual([whom for _, whom in named], [owner] * len(named))
        self.assertGreaterEqual(len({who for who, _ in named}), 2)
        # Linked with the library.
        named = self.named_by(PRODUCER, "--count", "1")
        self.assertGreaterEqual(len(named), 1)
        self.assertEqual({whom for _, whom in named}, {owner})

    def test_whom_a_program_under_the_shim_names_itself_stays_named(self):
        owner = self.serve_as_nobody()
        # It meets the owner when it opens the file; its child has named nobody. Calls succeed as with Yama.
        program = """if True:
            import ctypes, os
            prctl = ctypes.CDLL(None).prctl
            prctl(0x59616d61, ctypes.c_ulong(1), 0, 0, 0)
            os.open("/sys/kernel/tracing/user_events_data", os.O_RDWR)
            if os.fork() == 0:
                os._exit(0)
            os.wait()"""
        named = self.named_by(LANDTRACE, "run", "--", "/usr/bin/python3", "-c", program,
                              strace=("-e", "inject=prctl:retval=0"))
        of_program = [whom for who, whom in named if who == named[0][0]]
        self.assertEqual(of_program, [owner] * (len(of_program) - 1) + [1])
        self.assertEqual({whom for who, whom in named if who != named[0][0]}, {owner})

    def test_nobody_is_named_where_that_is_switched_off(self):
        self.serve_as_nobody()
        self.environment["LANDTRACE_PTRACER"] = "0"
        self.assertEqual(self.named_by(PRODUCER, "--count", "1"), [])
        self.assertEqual(self.named_by(LANDTRACE, "run", "--", ATTACHED, "fork", text="x"), [])

    def test_a_program_switches_it_off_and_on(self):
        owner = self.serve_as_nobody()
        library = support.copied(os.path.join(os.environ["BUILD"], "src", "producer", "client", "liblandtrace.so"), "library.so")
        program = f"""if True:
            import ctypes, os
            library = ctypes.CDLL({library!r})
            event = ctypes.create_string_buffer(64)
            def child():
                if os.fork() == 0:
                    os._exit(0)
                os.wait()
            library.landtrace_ptracer(0)
            assert library.landtrace_register(event, b"done u32 n", 0) == 0 and library.landtrace_helper(0) == 0
            child()
            library.landtrace_ptracer(1)
            child()"""
        self.assertEqual([whom for _, whom in self.named_by("/usr/bin/python3", "-c", program)], [owner])

    def test_root_is_not_named(self):
        os.mkdir(os.path.join(self.folder, "nobody"))
        os.chown(os.path.join(self.folder, "nobody"), NOBODY, NOBODY)
        self.serve()
        self.environment["LANDTRACE_SOCKET"] = self.socket
        os.chmod(os.path.dirname(self.socket), 0o755)
        os.chmod(self.socket, 0o666)
        self.assertEqual(self.named_by(LANDTRACE, "run", "--", ATTACHED, "read"), [])

    def test_nobody_is_named_where_it_makes_no_difference(self):
        self.serve_as_nobody()
        for scope in (0, 2):
            self.assertEqual(self.named_by(LANDTRACE, "run", "--", ATTACHED, "read", scope=scope), [])


if __name__ == "__main__":
    support.main_with_probes()
