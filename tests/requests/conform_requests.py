#!/usr/bin/env python3
"""Runs the recorded transcripts against the owner's side of the mount, without a mount.

As conform_shim.py, but the steps that go through user_events_data are handed to the domain host as a mount hands them to the
owner: the thread, the command and the address in *this* process's memory for an ioctl, the bytes for a write.

  conform_requests.py HOST SOCKET TRANSCRIPTS_DIR FILE...
"""
import ctypes, errno, os, sys, threading, types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "shim"))
sys.dont_write_bytecode = True
import conform_shim

FIRST = 1 << 20  # of descriptors that only this script knows
host = None
files = {}


def asked(line):
    answer = int(conform_shim.ShimSession.host.ask(line))
    if answer < 0:
        raise OSError(-answer, os.strerror(-answer))
    return answer


def ioctl(fd, command, argument, mutate=True):
    if fd not in files:
        raise OSError(errno.EBADF, "not a file of ours")
    address = argument
    if isinstance(argument, bytearray):
        held = (ctypes.c_char * len(argument)).from_buffer(argument)
        address = ctypes.addressof(held)
    return asked("ioctl %s %d %d %d" % (files[fd], threading.get_native_id(), command, address))


def open_file(path, flags, *rest):
    if path.endswith("user_events_data"):
        fd = FIRST + len(files)
        while fd in files:
            fd += 1
        files[fd] = conform_shim.ShimSession.host.ask("open").strip()
        return fd
    if path.endswith("user_events_status"):
        return os.open(conform_shim.ShimSession.host.ask("page").strip(), flags)
    return os.open(path, flags, *rest)


def close(fd):
    if fd not in files:
        return os.close(fd)
    asked("close " + files.pop(fd))


def write(fd, data):
    return asked("write %s %d %s" % (files[fd], threading.get_native_id(), data.hex() or "-"))


class Libc:
    """libc with an ioctl of ours; the caller sets argtypes of what it calls."""

    def __init__(self):
        self.real = ctypes.CDLL(None, use_errno=True)
        self.ioctl = self.call_ioctl

    def __getattr__(self, name):
        return getattr(self.real, name)

    @staticmethod
    def call_ioctl(fd, command, address):
        try:
            return ioctl(fd, command, address)
        except OSError as e:
            ctypes.set_errno(e.errno)
            return -1


class Function:
    argtypes = None

    def __init__(self, call):
        self.call = call

    def __call__(self, *arguments):
        return self.call(*arguments)


fake_os = types.ModuleType("os")
fake_os.__dict__.update(os.__dict__)
fake_os.open, fake_os.close, fake_os.write = open_file, close, write
fake_os.writev = lambda fd, vectors: write(fd, b"".join(vectors))
fake_fcntl = types.ModuleType("fcntl")
fake_fcntl.ioctl = ioctl
sys.modules["fcntl"] = fake_fcntl
conform_shim.os = conform_shim.conform.os = fake_os
conform_shim.conform.fcntl = fake_fcntl


class RequestSession(conform_shim.ShimSession):
    def __init__(self, root):
        super().__init__(root)
        self.libc = Libc()
        self.libc.ioctl = Function(Libc.call_ioctl)

    def run1(self, cmd, args):
        if cmd in ("oreg", "obit"):
            return conform_shim.conform.Session.run1(self, cmd, args)
        return super().run1(cmd, args)


conform_shim.ShimSession = RequestSession
sys.exit(conform_shim.main())
