"""Programs of perf_test's: each a function, run by its name under the shim. They call perf_event_open() through libc."""
import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import random
import select
import signal
import struct
import subprocess
import sys
import threading
import time

TRACEFS = "/sys/kernel/tracing"
LIBC = ctypes.CDLL(None, use_errno=True)
PERF_EVENT_OPEN = 298 if os.uname().machine == "x86_64" else 241
ENABLE, DISABLE, REFRESH, RESET, SET_OUTPUT = 0x2400, 0x2401, 0x2402, 0x2403, 0x2405
ID, SET_FILTER, PERIOD, PAUSE_OUTPUT = 0x80082407, 0x40082406, 0x40082404, 0x40042409
REGISTER = 0xc0082a00  # DIAG_IOCSREG
SET_BPF, MODIFY_ATTRIBUTES = 0x40042408, 0x4008240b
BACKWARD = 1 << 27
INHERIT, ENABLE_ON_EXEC, INHERIT_THREAD, REMOVE_ON_EXEC = 1 << 1, 1 << 12, 1 << 35, 1 << 36
TID, TIME, READ, CPU, RAW = 1 << 1, 1 << 2, 1 << 4, 1 << 7, 1 << 10
FORMAT_ENABLED, FORMAT_RUNNING, FORMAT_ID, FORMAT_GROUP, FORMAT_LOST = 1, 2, 4, 8, 16
PAGE = 4096
PRODUCER = os.environ.get("PRODUCER_COPY", "")


class Failure(Exception):
    pass


def check(value, what=""):
    if not value:
        raise Failure(what)


def check_equal(value, wanted):
    check(value == wanted, f"{value!r} instead of {wanted!r}")


def event_id(name="job"):
    with open(f"{TRACEFS}/events/user_events/{name}/id", encoding="ascii") as file:
        return int(file.read())


def attr(period=1, sample_type=TID | RAW, read_format=0, flags=1, wakeup=1, config=None, size=128):
    """Bits of `flags`: 0 disabled, 1 inherit, 12 enable_on_exec."""
    words = struct.pack("<IIQQQQQI", 2, size, event_id() if config is None else config, period, sample_type, read_format,
                        flags, wakeup)
    return ctypes.create_string_buffer(words.ljust(max(size, 128), b"\0"))


def open_event(of=None, pid=-1, cpu=0, group=-1, flags=8, **what):
    fd = LIBC.syscall(PERF_EVENT_OPEN, of if of is not None else attr(**what), pid, cpu, group, flags)
    return fd if fd >= 0 else -ctypes.get_errno()


def ioctl(fd, request, argument=0):
    done = LIBC.ioctl(fd, ctypes.c_ulong(request), argument)
    return done if done >= 0 else -ctypes.get_errno()


def emit(count, *words):
    subprocess.run([PRODUCER, "--abi", "--wait", "5000", "--count", str(count), *words], check=True,
                   stdout=subprocess.DEVNULL)


def own_event():
    """A function that emits the event from this process."""
    word, name = ctypes.c_uint32(), ctypes.create_string_buffer(b"job u32 source;u32 sequence")
    reg = bytearray(struct.pack("<IBBHQQI", 28, 0, 4, 0, ctypes.addressof(word), ctypes.addressof(name), 0))
    file = os.open(f"{TRACEFS}/user_events_data", os.O_RDWR)
    fcntl.ioctl(file, REGISTER, reg)
    payload = struct.pack("<III", struct.unpack_from("<I", reg, 24)[0], 7, 7)

    def write(_word=word):  # which the domain writes to
        with contextlib.suppress(OSError):  # nobody listens
            os.write(file, payload)
    return write


def a_process_that_emits(signs, count, becomes=None):
    """Its pid. It has emitted an event when this returns, and emits `count` more when a byte comes through the pipe.
    Then it becomes another program, perhaps."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid != 0:
        os.close(writing)
        check_equal(os.read(reading, 1), b"x")
        os.close(reading)
        return pid
    write = own_event()
    write()
    os.write(writing, b"x")
    os.read(signs, 1)
    for _ in range(count):
        write()
    if becomes is not None:
        time.sleep(0.02)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(becomes[0], becomes)
    os._exit(0)


class Ring:
    def __init__(self, fd, pages=16, protection=mmap.PROT_READ | mmap.PROT_WRITE):
        LIBC.mmap.restype = ctypes.c_void_p
        LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        self.at = LIBC.mmap(None, (1 + pages) * PAGE, protection, mmap.MAP_SHARED, fd, 0)
        check(self.at != ctypes.c_void_p(-1).value, os.strerror(ctypes.get_errno()))

    @staticmethod
    def refuse(fd, pages):
        again = LIBC.mmap(None, (1 + pages) * PAGE, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
        check_equal(again, ctypes.c_void_p(-1).value)

    def word(self, offset):
        return ctypes.c_uint64.from_address(self.at + offset)

    def records(self):
        """(type, bytes) of what is unread."""
        head, tail, size = (self.word(offset).value for offset in (1024, 1032, 1048))
        data = ctypes.string_at(self.at + PAGE, size) * 2
        found = []
        while tail < head:
            kind, _, length = struct.unpack_from("<IHH", data, tail % size)
            check(length >= 8 and length % 8 == 0, f"a record of {length} bytes")
            found.append((kind, data[tail % size:tail % size + length]))
            tail += length
        self.word(1032).value = tail
        return found

    def samples(self):
        return [record for kind, record in self.records() if kind == 9]


def each_cpu(**what):
    fds = [open_event(cpu=cpu, **what) for cpu in range(os.cpu_count())]
    check(all(fd >= 0 for fd in fds), str(fds))
    return fds


def read_words(fd):
    return struct.unpack("<" + "Q" * (len(data := os.read(fd, 512)) // 8), data)


def a_period_of_ten_gives_a_tenth():
    fds = each_cpu(period=10)
    rings = [Ring(fd) for fd in fds]
    for fd in fds:
        check_equal(ioctl(fd, ENABLE), 0)
    emit(1000)
    counts = [read_words(fd)[0] for fd in fds]
    check_equal(sum(counts), 1000)
    check_equal([len(ring.samples()) for ring in rings], [count // 10 for count in counts])
    period = ctypes.c_uint64(1)
    check_equal(ioctl(fds[0], PERIOD, ctypes.byref(period)), 0)
    check_equal(ioctl(fds[0], PERIOD, ctypes.byref(ctypes.c_uint64(0))), -errno.EINVAL)
    for fd in fds:
        ioctl(fd, RESET)
        check_equal(read_words(fd)[0], 0)


def refresh_ends_by_itself():
    fd = open_event(pid=0, cpu=-1)
    check_equal(ioctl(fd, REFRESH, 3), 0)
    os.close(fd)
    fds = each_cpu()
    rings = [Ring(fd) for fd in fds]
    for fd in fds:
        check_equal(ioctl(fd, REFRESH, 3), 0)
    emit(100)
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    hung_up = [fd for fd, events in poll.poll(1000) if events & select.POLLHUP]
    samples = [len(ring.samples()) for ring in rings]
    check(hung_up and max(samples) == 3, f"{hung_up} {samples}")


def a_group_is_read_at_once():
    read_format = FORMAT_ENABLED | FORMAT_RUNNING | FORMAT_ID | FORMAT_GROUP | FORMAT_LOST
    leader = open_event(read_format=read_format, period=0)
    member = open_event(read_format=read_format, period=0, group=leader)
    check(leader >= 0 and member >= 0)
    number = ctypes.c_uint64()
    check_equal(ioctl(member, ID, ctypes.byref(number)), 0)
    check_equal(ioctl(leader, ENABLE, 1), 0)
    words = read_words(leader)
    check_equal(len(words), 3 + 2 * 3)
    check_equal(words[0], 2)
    check_equal(words[7], number.value)
    check(0 < words[1] <= read_words(leader)[1] and words[1] == words[2], "time goes on")
    check_equal(ioctl(leader, DISABLE, 1), 0)
    check_equal(read_words(leader)[1], read_words(leader)[1])
    check_equal(open_event(group=member), -errno.EINVAL)


def samples_have_the_values_of_their_group():
    os.sched_setaffinity(0, {0})
    read_format = FORMAT_ENABLED | FORMAT_RUNNING | FORMAT_ID | FORMAT_GROUP
    leader = open_event(read_format=read_format, sample_type=READ)
    members = [open_event(of=attr(read_format=read_format, period=0), group=leader) for _ in range(2)]
    ring = Ring(leader)
    check_equal(ioctl(leader, ENABLE, 1), 0)
    emit(6)
    check_equal(ioctl(leader, DISABLE, 1), 0)
    samples = [struct.unpack_from("<QQQ6Q", sample, 8) for sample in ring.samples()]
    check_equal([sample[0] for sample in samples], [3] * 6)
    check_equal([sample[3] for sample in samples], list(range(1, 7)))
    # As the leader or the member is first to be told of an event.
    check(all(sample[i] - sample[3] in (0, -1) for sample in samples for i in (5, 7)), samples)
    check_equal(len({sample[4::2] for sample in samples}), 1)
    check_equal(len(set(samples[0][4::2])), 3)
    times = [sample[1] for sample in samples]
    check(0 < times[0] and times == sorted(times) and times == [sample[2] for sample in samples], times)
    for fd in (leader, *members):
        check_equal(read_words(fd)[0], 3)
    os.close(leader)
    check_equal(read_words(members[0])[0], 1)


def samples_of_a_member_have_its_own_value():
    """Without PERF_FORMAT_GROUP, whoever else is in the group."""
    os.sched_setaffinity(0, {0})
    leader = open_event(read_format=FORMAT_ID, period=0)
    member = open_event(of=attr(read_format=FORMAT_ID, sample_type=READ, flags=0), group=leader)
    number = ctypes.c_uint64()
    check_equal(ioctl(member, ID, ctypes.byref(number)), 0)
    ring = Ring(member)
    check_equal(ioctl(leader, ENABLE, 1), 0)
    emit(4)
    check_equal(ioctl(leader, DISABLE, 1), 0)
    samples = [struct.unpack_from("<QQ", sample, 8) for sample in ring.samples()]
    check_equal(samples, [(count, number.value) for count in range(1, 5)])


def epoll_wakes_who_waits():
    fds = each_cpu(wakeup=1)
    rings = [Ring(fd) for fd in fds]
    epoll = select.epoll()
    for fd in fds:
        epoll.register(fd, select.EPOLLIN)
        ioctl(fd, ENABLE)
    check_equal(epoll.poll(0.05), [])
    emit(5)
    check(epoll.poll(5), "nobody was woken")
    check_equal(sum(len(ring.samples()) for ring in rings), 5)
    check_equal(epoll.poll(0.05), [])


def what_is_there_comes_before_a_signal():
    """As a child's last events, and the signal of its end. Python's own functions would wait once more after a signal."""
    signal.signal(signal.SIGCHLD, lambda *_: None)

    def epoll():
        with select.epoll() as waiting:
            waiting.register(fd, select.EPOLLIN)
            return LIBC.epoll_wait(waiting.fileno(), ctypes.create_string_buffer(12), 1, 60_000)

    def poll():
        return LIBC.poll(ctypes.create_string_buffer(struct.pack("<ihh", fd, select.POLLIN, 0)), 1, 60_000)

    def wait_in_select():
        return LIBC.select(fd + 1, ctypes.create_string_buffer((1 << fd).to_bytes(128, "little")), None, None, None)

    for wait in (poll, wait_in_select, epoll):
        reading, writing = os.pipe()
        pid = a_process_that_emits(reading, 1)
        fd = open_event(pid=pid, cpu=-1)
        ring = Ring(fd)
        check_equal(ioctl(fd, ENABLE), 0)
        threading.Timer(0.1, os.write, (writing, b"x")).start()
        began = time.monotonic()
        check_equal(wait(), 1)
        check(time.monotonic() - began < 30, "it waited")
        check_equal(len(ring.samples()), 1)
        check_equal(os.waitpid(pid, 0)[1], 0)
        # Its process has ended.
        check_equal((poll(), wait_in_select()), (1, 1))
        os.close(fd)


def a_wakeup_is_told_once():
    fd = open_event(of=attr(wakeup=2, flags=0), pid=0, cpu=-1)
    ring = Ring(fd)
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    check_equal(poll.poll(20), [])
    own = own_event()
    for _ in range(2):
        own()
        check_equal(poll.poll(20), [])
        own()
        check_equal(poll.poll(5000), [(fd, select.POLLIN)])
        check_equal(poll.poll(20), [])
    check_equal(len(ring.samples()), 4)


def a_ring_that_was_unmapped_is_gone():
    fd = open_event()
    second = open_event()
    ring = Ring(fd, pages=4)
    check_equal(ioctl(second, SET_OUTPUT, fd), 0)
    ring.refuse(fd, pages=2)
    LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    check_equal(LIBC.munmap(ring.at, 5 * PAGE), 0)
    ring = Ring(fd, pages=2)
    ioctl(fd, ENABLE)
    ioctl(second, ENABLE)
    os.sched_setaffinity(0, {0})
    emit(3)
    check_equal(read_words(fd)[0], 3)
    check_equal(len(ring.samples()), 3)


def a_wait_ends_by_its_time():
    fd = open_event()
    Ring(fd)
    check_equal(ioctl(fd, ENABLE), 0)
    waited = []
    while len(waited) < 5 and (not waited or waited[-1] >= 2):  # a machine may stand still for some seconds
        began = time.monotonic()
        check_equal(select.select([fd], [], [], 0.1), ([], [], []))
        waited.append(time.monotonic() - began)
    check(0.1 <= waited[-1] < 2)
    check_equal(select.select([fd], [], [], 0), ([], [], []))
    reading, writing = os.pipe()
    os.write(writing, b"x")
    check_equal(select.select([fd, reading], [writing], [], 5), ([reading], [writing], []))


def one_output_for_two_events():
    first = open_event()
    second = open_event()
    ring = Ring(first)
    check_equal(ioctl(second, SET_OUTPUT, first), 0)
    other_cpu = open_event(cpu=os.cpu_count() - 1)
    if os.cpu_count() > 1:
        check_equal(ioctl(other_cpu, SET_OUTPUT, first), -errno.EINVAL)
    check_equal(ioctl(second, SET_OUTPUT, second), -errno.EINVAL)
    for fd in (first, second):
        ioctl(fd, ENABLE)
    os.sched_setaffinity(0, {0})
    emit(7)
    for fd in (first, second):
        ioctl(fd, DISABLE)
    check_equal(len(ring.samples()), 14)


def one_cpu_has_its_own_events_alone():
    last = os.cpu_count() - 1
    fd = open_event(cpu=0, period=0)
    ioctl(fd, ENABLE)
    os.sched_setaffinity(0, {last})
    emit(30)
    os.sched_setaffinity(0, {0})
    emit(12)
    check_equal(read_words(fd)[0], 12 if last > 0 else 42)


def what_was_lost_is_told():
    fds = each_cpu(read_format=FORMAT_LOST)
    rings = [Ring(fd, pages=1) for fd in fds]
    for fd in fds:
        ioctl(fd, ENABLE)
    emit(200000)
    for fd in fds:
        ioctl(fd, DISABLE)
    records = [record for ring in rings for record in ring.records()]
    told = sum(struct.unpack_from("<Q", record, 16)[0] for kind, record in records if kind == 2)
    check_equal(sum(1 for kind, _ in records if kind == 9) + told, 200000)
    check_equal(sum(read_words(fd)[1] for fd in fds), told)


def what_others_emit_is_not_lost_here():
    count = 200000  # many times what the domain's ring holds
    everything = [open_event(cpu=cpu, period=0) for cpu in range(os.cpu_count())]
    for fd in everything:
        check_equal(ioctl(fd, ENABLE), 0)
    reading, writing = os.pipe()
    stranger = a_process_that_emits(reading, count)
    while sum(read_words(fd)[0] for fd in everything) < 1:
        pass
    own = [open_event(of=attr(flags=3, read_format=FORMAT_LOST), pid=0, cpu=cpu) for cpu in range(os.cpu_count())]
    rings = [Ring(fd) for fd in own]
    for fd in own:
        check_equal(ioctl(fd, ENABLE), 0)
    os.write(writing, b"x")
    check_equal(os.waitpid(stranger, 0)[1], 0)
    emit(5)
    check_equal(sum(read_words(fd)[0] for fd in everything), count + 6)
    check_equal([read_words(fd)[1] for fd in own], [0] * len(own))
    check_equal(sum(len(ring.samples()) for ring in rings), 5)


def around_an_exec(flags, becomes, period):
    """What is counted of a process that emits three and then becomes another program, and how many samples there are."""
    reading, writing = os.pipe()
    pid = a_process_that_emits(reading, 3, becomes)
    fd = open_event(of=attr(flags=flags, period=period), pid=pid, cpu=-1)
    check(fd >= 0, os.strerror(-fd))
    ring = Ring(fd) if period and not flags & INHERIT else None
    os.write(writing, b"x")
    check_equal(os.waitpid(pid, 0)[1], 0)
    for end in (reading, writing):
        os.close(end)
    counted = read_words(fd)[0]
    samples = len(ring.samples()) if ring else counted
    os.close(fd)
    return counted, samples


ELEVEN = [PRODUCER, "--abi", "--wait", "5000", "--count", "11"]


def what_comes_before_exec_is_not_the_events():
    for period in (0, 1):
        check_equal(around_an_exec(1 | ENABLE_ON_EXEC, ELEVEN, period), (11, 11))
        check_equal(around_an_exec(1 | ENABLE_ON_EXEC, ["/bin/true"], period), (0, 0))
        check_equal(around_an_exec(1 | ENABLE_ON_EXEC, None, period), (0, 0))
        check_equal(around_an_exec(1, ELEVEN, period), (0, 0))


def what_comes_behind_exec_is_not_the_events():
    for period in (0, 1):
        check_equal(around_an_exec(REMOVE_ON_EXEC, ELEVEN, period)[0], 3)
        check_equal(around_an_exec(0, ELEVEN, period)[0], 14)


def children_or_threads_are_inherited():
    threads = [PRODUCER, "--abi", "--wait", "5000", "--count", "5", "--threads", "3"]
    children = [PRODUCER, "--abi", "--wait", "5000", "--count", "5", "--children", "2"]
    for flags, of_threads, of_children in ((0, 5, 5), (INHERIT, 15, 15), (INHERIT | INHERIT_THREAD, 15, 5)):
        check_equal(around_an_exec(1 | ENABLE_ON_EXEC | flags, threads, 0)[0], of_threads)
        check_equal(around_an_exec(1 | ENABLE_ON_EXEC | flags, children, 0)[0], of_children)


def newest_first(ring, size):
    """The records of a ring that is written backwards."""
    head = ring.word(1024).value
    data = ctypes.string_at(ring.at + PAGE, size) * 2
    at, records = head % size, []
    while at < head % size + size:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == 0 or length == 0 or at + length > head % size + size:
            break
        records.append((kind, data[at:at + length]))
        at += length
    return records


def a_ring_that_is_written_backwards_has_the_newest_events():
    fds = each_cpu(of=attr(flags=1 | BACKWARD))
    rings = [Ring(fd, pages=1, protection=mmap.PROT_READ) for fd in fds]
    for fd in fds:
        check_equal(ioctl(fd, ENABLE), 0)
    os.sched_setaffinity(0, {0})
    emit(1000)
    check_equal(ioctl(fds[0], PAUSE_OUTPUT, 1), 0)
    numbers = [struct.unpack_from("<I", record, 32)[0] for kind, record in newest_first(rings[0], PAGE) if kind == 9]
    check(len(numbers) > 50, f"{len(newest_first(rings[0], PAGE))} {numbers} {rings[0].word(1024).value}")
    check_equal(numbers, list(range(999, 999 - len(numbers), -1)))
    head = rings[0].word(1024).value
    emit(30)
    read_words(fds[0])
    check_equal(rings[0].word(1024).value, head)
    check_equal(ioctl(fds[0], PAUSE_OUTPUT, 0), 0)
    read_words(fds[0])
    numbers = [struct.unpack_from("<I", record, 32)[0] for kind, record in newest_first(rings[0], PAGE) if kind == 9]
    check_equal(numbers[:31], [*range(29, -1, -1), 999])
    forward = open_event()
    check_equal(ioctl(forward, SET_OUTPUT, fds[0]), -errno.EINVAL)
    check_equal(ioctl(forward, PAUSE_OUTPUT, 1), -errno.EINVAL)


def a_ring_that_overwrites_wakes_once_for_so_much():
    fd = open_event(wakeup=0)
    Ring(fd, pages=1, protection=mmap.PROT_READ)
    check_equal(ioctl(fd, ENABLE), 0)
    os.sched_setaffinity(0, {0})
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    for _ in range(2):
        emit(500)
        check(poll.poll(5000), "nobody was woken")
        check_equal(poll.poll(20), [])


def is_running(process):
    """Neither gone nor a zombie, whose command line is empty. It may go between the opening of the file and the reading."""
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return file.read() != b""
    except (FileNotFoundError, ProcessLookupError):
        return False


def a_descriptor_keeps_its_event():
    fd = open_event()
    check(fd >= 0)
    os.kill(int(sys.argv[2]), 9)
    while is_running(sys.argv[2]):
        pass
    with open(f"{TRACEFS}/events/user_events/job/format", encoding="ascii") as file:
        check("name: job" in file.read())
    check_equal(ioctl(fd, ENABLE), 0)
    emit(3)
    check_equal(read_words(fd)[0] <= 3, True)


def a_child_does_not_disturb_its_parent():
    fds = each_cpu()
    rings = [Ring(fd) for fd in fds]
    for fd in fds:
        ioctl(fd, ENABLE)
    child = os.fork()
    if child == 0:
        for fd in fds:
            check_equal(ioctl(fd, DISABLE), -errno.ENODEV)  # it has the descriptors, and not the events
            os.close(fd)
        os._exit(0)
    check_equal(os.waitpid(child, 0)[1], 0)
    emit(20)
    copies = [os.dup(fd) for fd in fds]
    for fd in fds:
        os.close(fd)
    check_equal(sum(read_words(fd)[0] for fd in copies), 20)
    check_equal(sum(len(ring.samples()) for ring in rings), 20)


def errors_are_the_kernels():
    check_equal(open_event(pid=-1, cpu=-1), -errno.EINVAL)
    check_equal(open_event(cpu=4096), -errno.EINVAL)
    check_equal(open_event(pid=-5, cpu=-1), -errno.ESRCH)
    check_equal(open_event(group=0), -errno.EBADF)
    check_equal(open_event(group=999), -errno.EBADF)
    check_equal(open_event(pid=2**22 + 5, cpu=-1), -errno.ESRCH)
    check_equal(open_event(of=ctypes.c_void_p(8)), -errno.EFAULT)
    check_equal(open_event(size=8192), -errno.E2BIG)
    check_equal(open_event(sample_type=1 << 40), -errno.EINVAL)
    check_equal(open_event(flags=1 << 20), -errno.EINVAL)
    fd = open_event()
    check_equal(ioctl(fd, SET_FILTER, b"nosuch == 1"), -errno.EINVAL)
    check_equal(ioctl(fd, SET_FILTER, ctypes.c_void_p(8)), -errno.EFAULT)
    check_equal(ioctl(fd, ID, ctypes.c_void_p(8)), -errno.EFAULT)
    check_equal(ioctl(fd, 0x2480), -errno.ENOTTY)
    check_equal(ioctl(fd, SET_OUTPUT, 0), -errno.EBADF)
    check_equal(ioctl(fd, SET_OUTPUT, open_event()), -errno.EINVAL)
    check_equal(ioctl(fd, SET_BPF, 0), -errno.EINVAL)
    check_equal(ioctl(fd, SET_BPF, -1), -errno.EBADF)
    check_equal(ioctl(fd, MODIFY_ATTRIBUTES, attr()), -errno.EOPNOTSUPP)
    clock = struct.pack("<IIQ", 1, 64, 0).ljust(64, b"\0")
    check_equal(open_event(of=ctypes.create_string_buffer(clock), group=fd), -errno.EINVAL)
    for call, wanted in ((lambda: os.write(fd, b"12345678"), errno.EINVAL), (lambda: os.pread(fd, 8, 0), errno.ESPIPE),
                         (lambda: os.pwrite(fd, b"12345678", 0), errno.ESPIPE),
                         (lambda: os.lseek(fd, 0, os.SEEK_SET), errno.ESPIPE)):
        try:
            check(False, f"{call()} instead of {wanted}")
        except OSError as error:
            check_equal(error.errno, wanted)
    check_equal(fcntl.fcntl(fd, fcntl.F_GETFL), os.O_RDWR)
    for size in (PAGE * 4, PAGE + 1):
        LIBC.mmap.restype = ctypes.c_void_p
        LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        check_equal(LIBC.mmap(None, size, 3, mmap.MAP_SHARED, fd, 0), ctypes.c_void_p(-1).value)
    check_equal(LIBC.mmap(None, 2 * PAGE, 7, mmap.MAP_SHARED, fd, 0), ctypes.c_void_p(-1).value)
    check_equal(ctypes.get_errno(), errno.EPERM)
    check_equal(fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK), 0)
    check(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK)


def garbage_does_no_harm():
    rng = random.Random(7)
    fds = [open_event()]
    for _ in range(1500):
        bits = bytearray(rng.randbytes(128))
        bits[0:8] = struct.pack("<II", 2, rng.choice((64, 72, 112, 128, 0, 4000)))
        bits[8:16] = struct.pack("<Q", event_id())
        if rng.random() < 0.7:
            bits[24:40] = struct.pack("<QQ", rng.getrandbits(19), rng.getrandbits(5))
            bits[40:48] = struct.pack("<Q", rng.getrandbits(24))
            bits[92:128] = bytes(36)
        fd = open_event(of=ctypes.create_string_buffer(bytes(bits), 4096), pid=rng.choice((-1, 0, 1, -7)),
                        cpu=rng.choice((-1, 0, 1, -5, 10**6)), group=rng.choice((-1, *fds)))
        if fd >= 0:
            fds.append(fd)
        one = rng.choice(fds)
        ioctl(one, rng.choice((ENABLE, DISABLE, RESET, REFRESH, ID, SET_FILTER, PERIOD, SET_OUTPUT, rng.getrandbits(32))),
              rng.choice((0, 1, 2**40, *fds)))
        if rng.random() < 0.3:
            LIBC.mmap(None, rng.choice((0, 1, PAGE, 2 * PAGE, 3 * PAGE)), rng.getrandbits(2), rng.getrandbits(2), one, 0)
        if rng.random() < 0.3:
            LIBC.read(one, ctypes.c_void_p(rng.choice((0, 8))), rng.choice((0, 8, 100)))
        if len(fds) > 40:
            os.close(fds.pop(rng.randrange(1, len(fds))))
    emit(3)
    select.select([], [], [], 0.01)
    for fd in fds:  # a full ring that stays would hold what comes back for a while
        os.close(fd)
    a_period_of_ten_gives_a_tenth()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
