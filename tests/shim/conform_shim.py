#!/usr/bin/env python3
"""Runs the recorded transcripts against the preload shim.

The steps that go through user_events_data (reg, unreg, del, write, writev, writeraw, close, bits) are made by this
process, which runs under the shim, as an unmodified program makes them. The few files that the cases look at besides
are answered by a domain host (domain_host.cc) on the other side. A case with a step that needs more of the file tree than
that is counted as skipped.

  conform_shim.py HOST SOCKET TRANSCRIPTS_DIR FILE...     (LANDTRACE_SOCKET=SOCKET and LD_PRELOAD set)
"""
import importlib.machinery, importlib.util, os, re, subprocess, sys

host_program, socket_path, folder = sys.argv[1:4]
loader = importlib.machinery.SourceFileLoader("conform", os.path.join(folder, "conform"))
spec = importlib.util.spec_from_loader("conform", loader)
conform = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
loader.exec_module(conform)

ROOT = "/nonexistent/tracefs"  # only the shim can open ROOT/user_events_data
SUPPORTED_FILE = re.compile(r"user_events_status$|dynamic_events$|events/[^/]+/[^/]+/(enable|format)$")


class Host:
    def __init__(self):
        env = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        self.process = subprocess.Popen([host_program, socket_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=env)
        assert self.process.stdout.readline() == b"ready\n"

    def ask(self, line):
        self.process.stdin.write(line.encode("latin-1") + b"\n")
        self.process.stdin.flush()
        out = []
        while True:
            got = self.process.stdout.readline().decode("latin-1")
            if got in (".\n", ""):
                return "".join(out)
            out.append(got)

    def restart(self):
        self.process.stdin.close()
        self.process.wait()
        self.__init__()


class Unsupported(Exception):
    pass


class ShimSession(conform.Session):
    host = None

    def ask(self, line):
        return self.host.ask(line).rstrip("\n")

    def c_cat(self, a):
        if not SUPPORTED_FILE.search(a[0]):
            raise Unsupported(a[0])
        text = self.host.ask("cat " + a[0])
        if text.startswith("-E"):
            return text.rstrip("\n")
        text = re.sub(r"(?m)^ID: \d+$", "ID: <id>", text)
        return text.rstrip("\n") or "(empty)"

    def c_put(self, a):
        if not a[0].endswith("/enable") or a[0].count("/") != 3 or a[0].startswith("instances"):
            raise Unsupported(a[0])
        return self.ask("put %s %s" % (a[0], a[1]))

    c_putn = c_put

    def c_app(self, a):
        raise Unsupported(a[0])

    def c_ls(self, a):
        return self.ask("ls " + a[0].split("/")[1])

    def c_exists(self, a):
        if not a[0].startswith("events/user_events/"):
            raise Unsupported(a[0])
        return "yes" if a[0].split("/")[2] in self.ask("ls user_events").split("\n") else "no"

    def c_trace(self, a):
        if a:
            raise Unsupported(a[0])
        return self.ask("trace") or "(empty)"

    def c_mkdir(self, a):
        raise Unsupported(a[0])

    def run1(self, cmd, args):
        if cmd in ("rmdir", "mode", "text", "pipe"):
            raise Unsupported(cmd)
        return super().run1(cmd, args)

    def clean(self):
        import fcntl, struct
        for where, bit in self.enablers:
            try:
                fcntl.ioctl(self.fd("f0"), conform.IOC_UNREG, bytearray(struct.pack("<IBBHQ", 16, bit, 0, 0, where)), True)
            except OSError:
                pass
        self.enablers = []
        for fd in self.fds.values():
            os.close(fd)
        self.fds = {}
        for system in ("user_events", "user_events_multi"):
            for name in self.ask("ls " + system).split("\n"):
                self.ask("put events/%s/%s/enable 0" % (system, name))
                if name not in ("enable", "filter", "-ENOENT", ""):
                    try:
                        self.c_del([name])
                    except OSError:
                        pass
        self.ask("clear")


def expected_differences():
    path = os.path.join(folder, "expected-differences.txt")
    lines = open(path).read().split("\n") if os.path.exists(path) else []
    return {line.split("|")[0].strip() for line in lines if "|" in line and not line.startswith("#")}


def main():
    ShimSession.host = Host()
    known = expected_differences()
    passed = failed = skipped = different = 0
    for f in sys.argv[4:]:
        path = os.path.join(folder, f)
        for name, steps in conform.parse(path):
            full = os.path.basename(path) + ":" + name
            s = ShimSession(ROOT)
            s.clean()
            bad = []
            try:
                for cmd, want in steps:
                    got = s.run(cmd)
                    got = "\n".join(l.rstrip(" ") for l in got.split("\n"))
                    if got.split("\n") != (want or [""]):
                        bad.append((cmd, "\n".join(want), got))
            except Unsupported as what:
                skipped += 1
                continue
            finally:
                s.clean()
            if bad and full in known:
                different += 1
            elif bad:
                failed += 1
                print("FAIL %s" % full)
                for cmd, want, got in bad[:3]:
                    print("  $ %s\n    want: %s\n    got:  %s" % (cmd, want, got))
            else:
                passed += 1
    print("%d passed, %d failed, %d different on purpose, %d need the file tree" % (passed, failed, different, skipped))
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
