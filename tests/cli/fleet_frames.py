"""Frames of hosts that are not there, as docs/fleet.proto has them: what they counted is known here."""
import collections

STEPS = 32


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def part_of_subject(name):
    return "".join(c if c.isalnum() or c in "-_" else f"%{ord(c):02X}" for c in name)


def step_of(value):
    width = max(1, (1 << value.bit_length() - 1) // STEPS) if value else 1
    return value // width * width


def in_parts(subject, frame, size):
    """(subject, bytes) of each part, of so many bytes of the frame."""
    sequence = next(value for field, value in fields(frame) if field == 9)
    whole = number(1, 1) + number(2, sequence) + number(3, len(frame)) + number(4, hash_of(frame))
    return [(subject + f".{offset // size}".encode(),
             whole + number(5, offset) + text(6, frame[offset:offset + size])) for offset in range(0, len(frame), size)]


def hash_of(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 % 2 ** 64
    return value


def take_varint(data, at):
    value = shift = 0
    while data[at] > 127:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
    return value | data[at] << shift, at + 1


def fields(message):
    """(number, value) of each field: numbers and bytes."""
    at = 0
    while at < len(message):
        tag, at = take_varint(message, at)
        value, at = take_varint(message, at)
        if tag & 7 == 2:
            value, at = message[at:at + value], at + value
        yield tag >> 3, value


class Counting:
    """A histogram of one host: counts by route, spread by the time that it took."""

    def __init__(self, host, order, generation_ns, labels="", boot="boot", event="user_events:a -> user_events:b"):
        self.host, self.order, self.generation_ns, self.labels, self.boot = host, order, generation_ns, labels, boot
        self.event = event
        self.trigger = "latency"
        self.sequence = 0
        self.counts, self.sums = collections.Counter(), collections.Counter()
        self.values, self.events = [], []

    def count(self, route, value):
        row = (route, step_of(value))
        self.counts[row] += 1
        self.sums[row] += value
        self.values.append(value)
        self.events.append((route, value))

    def subject(self):
        return (f"landtrace.system.{part_of_subject(self.host)}.hist.{self.order}.{self.generation_ns}."
                f"{part_of_subject(self.event)}").encode()

    def gone(self, time_ns):
        """The last one, of a histogram that was removed."""
        self.sequence += 1
        return self.around(time_ns, number(11, 1), b"")

    def frame(self, time_ns):
        """The next one: all that was counted so far."""
        self.sequence += 1
        table = (text(1, self.trigger) + text(2, number(1, 3) + text(2, "route")) +
                 text(2, number(1, 13) + text(2, "latency_ns") + number(3, STEPS)) +
                 text(3, text(1, "latency_ns")) + number(4, len(self.values)))
        for (route, step), hits in self.counts.items():
            table += text(6, text(1, varint(step)) + text(2, route) + number(3, hits) +
                          text(4, varint(self.sums[route, step])))
        return self.around(time_ns, number(12, self.sequence), table)

    def around(self, time_ns, numbers, table):
        return (number(1, 1) + text(2, self.host) + text(3, self.boot) + text(4, "system") + text(5, self.labels) +
                text(6, self.order) + text(7, self.event) + number(8, self.generation_ns) + number(9, self.sequence) +
                number(10, time_ns) + numbers + text(15, table))
