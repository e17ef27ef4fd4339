"""Programs with probes do what the system lets no program with a second thread do, or with a filter of system calls
that the agent's thread would not pass."""
import ctypes
import os
import platform
import sys
import time

import support
from support import needs_namespaces

NEW_USER, NEW_MOUNTS = 0x10000000, 0x20000
SECCOMP, UNSHARE, SETNS = {"x86_64": (317, 272, 308), "aarch64": (277, 97, 268)}[platform.machine()]
FUTEX_WAITV = 449


def libc_call(function, *arguments):
    if function(*arguments) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def thread_names():
    names = []
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/comm", encoding="utf-8") as comm:
            names.append(comm.read().strip())
    return names


def has_agent_thread(patience_s=60):
    """It takes its name when it runs."""
    end = time.monotonic() + patience_s
    while "landtrace-agent" not in thread_names():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def enter_namespaces(libc, by_number):
    unshare, setns = (libc.unshare, libc.setns)
    if by_number:
        unshare, setns = (lambda *words: libc.syscall(UNSHARE, *words)), (lambda *words: libc.syscall(SETNS, *words))
    libc_call(unshare, NEW_USER | NEW_MOUNTS)
    own_mounts = os.open("/proc/self/ns/mnt", os.O_RDONLY)
    libc_call(setns, own_mounts, NEW_MOUNTS)


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(Instruction))]


def refuse_to_wait(libc, flags):
    """A filter that kills who waits as the agent's thread does, which no thread of Python's own does."""
    kill, allow = 0x80000000, 0x7FFF0000
    code = (Instruction * 4)((0x20, 0, 0, 0), (0x15, 0, 1, FUTEX_WAITV), (0x06, 0, 0, kill), (0x06, 0, 0, allow))
    wanted = Filter(len(code), code)
    no_new_privileges = 38
    libc_call(libc.prctl, no_new_privileges, 1, 0, 0, 0)
    libc_call(libc.syscall, SECCOMP, 1, flags, ctypes.byref(wanted))
    time.sleep(1.5)  # the thread waits anew each second
    child = os.fork()
    if child == 0:
        time.sleep(0.3)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "the child was killed"


def program(what):
    """The program that is recorded."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert has_agent_thread(), thread_names()
    if what == "namespaces":
        enter_namespaces(libc, by_number=False)
        assert has_agent_thread(), "it is not made again"
    elif what == "namespaces-by-number":
        enter_namespaces(libc, by_number=True)
    elif what == "filter":
        refuse_to_wait(libc, 0)
        assert has_agent_thread(), "the filter is not the thread's"
    elif what == "filter-of-all":
        refuse_to_wait(libc, 1)  # SECCOMP_FILTER_FLAG_TSYNC
        assert len(thread_names()) == 1, thread_names()


class Alone(support.Case):
    def check(self, *command):
        status, out, err = self.landtrace("record", "-o", self.file, "-p", "libc:getppid", "--", *command)
        self.assertEqual(status, 0, out + err)

    def check_program(self, what):
        self.check(sys.executable, os.path.abspath(__file__), "--program", what)

    @needs_namespaces
    def test_namespaces(self):
        self.check_program("namespaces")
        self.check_program("namespaces-by-number")

    @needs_namespaces
    def test_unshare_as_root_of_its_own(self):
        self.check("unshare", "-r", "true")

    def test_a_filter_of_system_calls(self):
        self.check_program("filter")
        self.check_program("filter-of-all")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        program(sys.argv[2])
    else:
        support.main_with_probes()
