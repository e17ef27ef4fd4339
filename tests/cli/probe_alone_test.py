"""Programs with probes do what the system lets no program with a second thread do, or with a filter of system calls
that the agent's thread would not pass."""
import ctypes
import os
import platform
import signal
import sys
import threading
import time

import support
from support import needs_namespaces

NEW_USER, NEW_MOUNTS, NEW_UTS = 0x10000000, 0x20000, 0x4000000
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


def agent_threads():
    return [thread for thread, name in zip(os.listdir("/proc/self/task"), thread_names()) if name == "landtrace-agent"]


def enter_without_waiting(libc):
    """A namespace that a program with threads may enter: they are left alone."""
    libc_call(libc.unshare, NEW_UTS)
    own_name = os.open("/proc/self/ns/uts", os.O_RDONLY)
    before = agent_threads()
    libc_call(libc.setns, own_name, NEW_UTS)
    assert len(before) == 1 and agent_threads() == before, (before, agent_threads())


def leave_no_descriptors_behind(libc):
    """To the agent's thread, which ends before and is made again."""
    clone_files, unshare_range, patience_s = 0x400, 2, 60
    for leave in (lambda: libc.unshare(clone_files), lambda: libc.close_range(1000, 1000, unshare_range)):
        to_read, to_write = os.pipe()
        libc_call(leave)
        os.close(to_write)
        signal.alarm(patience_s)
        assert os.read(to_read, 1) == b""
        signal.alarm(0)
        assert has_agent_thread()


class Agent:
    """By what the shim calls, as several threads of a program have it do so at once."""
    AWAY, BACK, SEALED = 0, 1, 2

    def __init__(self, libc):
        with open("/proc/self/maps", encoding="utf-8") as maps:
            self.path = next(line.split()[-1] for line in maps if line.rstrip().endswith("/liblandtrace-agent.so"))
        self.set_thread = ctypes.CDLL(self.path).landtrace_agent_set_thread
        self.libc = libc

    def set_in_vfork_child(self, wanted):
        vm, vfork, sigchld = 0x100, 0x4000, 17
        size = 1 << 20
        stack = ctypes.create_string_buffer(size)
        child = self.libc.clone(self.set_thread, ctypes.c_void_p((ctypes.addressof(stack) + size) & ~63),
                                vm | vfork | sigchld, ctypes.c_void_p(wanted))
        assert child > 0 and os.WIFEXITED(os.waitpid(child, 0)[1])


def pause_by_several(libc):
    agent = Agent(libc)
    agent.set_thread(agent.AWAY)
    agent.set_thread(agent.AWAY)
    agent.set_thread(agent.BACK)
    assert not agent_threads(), "it is back while another thread wants it away"
    agent.set_thread(agent.BACK)
    assert has_agent_thread(), "it is lost for good"


def pause_in_vfork_child(libc):
    agent = Agent(libc)
    agent.set_in_vfork_child(agent.AWAY)
    agent.set_in_vfork_child(agent.SEALED)
    assert agent_threads()
    agent.set_thread(agent.AWAY)
    agent.set_in_vfork_child(agent.BACK)
    agent.set_in_vfork_child(agent.AWAY)
    agent.set_thread(agent.BACK)
    assert has_agent_thread(), "a child has taken it away"
    child = os.fork()
    if child == 0:
        os._exit(0 if has_agent_thread() else 1)
    assert os.waitpid(child, 0)[1] == 0, "a child has sealed its parent"


def pause_by_cancelled(libc):
    """Python keeps its lock all the time, so that none but the agent's calls is a place to be cancelled at. It is one
    where it has to wait for its thread."""
    python = ctypes.PyDLL(None)
    set_thread = ctypes.PyDLL(Agent(libc).path).landtrace_agent_set_thread
    python.pthread_self.restype = ctypes.c_ulong
    enable, disable, patience_s = 0, 1, 60

    def be_cancelled():
        python.pthread_setcancelstate(disable, None)
        python.pthread_cancel(ctypes.c_ulong(python.pthread_self()))
        for _ in range(100):
            python.pthread_setcancelstate(enable, None)
            set_thread(Agent.AWAY)
            python.pthread_setcancelstate(disable, None)
            set_thread(Agent.BACK)

    signal.alarm(patience_s)
    sys.setswitchinterval(patience_s)
    thread = threading.Thread(target=be_cancelled)
    thread.start()
    thread.join()
    signal.alarm(0)
    assert has_agent_thread()


def pause_behind_filter(libc):
    agent = Agent(libc)
    agent.set_thread(agent.AWAY)
    agent.set_thread(agent.SEALED)
    agent.set_thread(agent.BACK)
    assert not agent_threads(), "it would have the filter of the thread that makes it"


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(Instruction))]


ALL_THREADS, LISTENER = 1, 8  # SECCOMP_FILTER_FLAG_TSYNC, _NEW_LISTENER


def refuse_to_wait(libc, flags):
    """A filter that kills who waits as the agent's thread does, which no thread of Python's own does."""
    kill, allow = 0x80000000, 0x7FFF0000
    code = (Instruction * 4)((0x20, 0, 0, 0), (0x15, 0, 1, FUTEX_WAITV), (0x06, 0, 0, kill), (0x06, 0, 0, allow))
    wanted = Filter(len(code), code)
    no_new_privileges = 38
    libc_call(libc.prctl, no_new_privileges, 1, 0, 0, 0)
    if flags & LISTENER:
        assert libc.syscall(SECCOMP, 1, flags, ctypes.byref(wanted)) > 2
    else:
        libc_call(libc.syscall, SECCOMP, 1, flags, ctypes.byref(wanted))
    time.sleep(1.5)  # the thread waits anew each second
    child = os.fork()
    if child == 0:
        os._exit(len(agent_threads()))  # before fork() returns it would be there, with its name
    assert os.waitpid(child, 0)[1] == 0, "the child was killed, or is about to be"


def program(what):
    """The program that is recorded."""
    libc = ctypes.CDLL(None, use_errno=True)
    assert has_agent_thread(), thread_names()
    if what == "namespaces":
        enter_namespaces(libc, by_number=False)
        assert has_agent_thread(), "it is not made again"
        enter_without_waiting(libc)
    elif what == "descriptors":
        leave_no_descriptors_behind(libc)
    elif what == "several":
        pause_by_several(libc)
    elif what == "vfork":
        pause_in_vfork_child(libc)
    elif what == "cancelled":
        pause_by_cancelled(libc)
    elif what == "behind-filter":
        pause_behind_filter(libc)
    elif what == "namespaces-by-number":
        enter_namespaces(libc, by_number=True)
    elif what == "filter":
        refuse_to_wait(libc, 0)
        assert has_agent_thread(), "the filter is not the thread's"
    elif what == "filter-with-listener":
        refuse_to_wait(libc, LISTENER)
    elif what == "filter-of-all":
        refuse_to_wait(libc, ALL_THREADS)
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

    def test_descriptors(self):
        self.check_program("descriptors")

    def test_several_threads_at_once(self):
        self.check_program("several")

    def test_a_thread_that_is_cancelled(self):
        self.check_program("cancelled")

    def test_a_vfork_child(self):
        self.check_program("vfork")

    def test_a_namespace_behind_a_filter(self):
        self.check_program("behind-filter")

    def test_a_filter_of_system_calls(self):
        self.check_program("filter")
        self.check_program("filter-of-all")
        self.check_program("filter-with-listener")

    def check_last_thread(self, how, expected):
        status, out, err = self.landtrace("record", "-o", self.file, "-p", "libc:getppid", "--",
                                          os.environ["LAST_THREAD"], how)
        self.assertEqual((status, out), expected, err)

    def test_a_handler_that_forks_in_the_middle_of_a_fork(self):
        self.check(os.environ["FORK_IN_HANDLER"])

    def test_a_program_whose_first_thread_ends_before_the_last(self):
        self.check_last_thread("pthread_exit", (0, "at the end\n"))

    def test_a_program_that_locks_itself_in(self):
        self.check_last_thread("strict", (3, "locked in\n"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--program"]:
        program(sys.argv[2])
    else:
        support.main_with_probes()
