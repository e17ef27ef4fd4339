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


class Counting:
    """A histogram of one host: counts by route, spread by the time that it took."""

    def __init__(self, host, order, generation_ns, labels="", boot="boot", event="user_events:a -> user_events:b"):
        self.host, self.order, self.generation_ns, self.labels, self.boot = host, order, generation_ns, labels, boot
        self.event = event
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

    def frame(self, time_ns):
        """The next one: all that was counted so far."""
        self.sequence += 1
        table = (text(1, "latency") + text(2, number(1, 3) + text(2, "route")) +
                 text(2, number(1, 13) + text(2, "latency_ns") + number(3, STEPS)) +
                 text(3, text(1, "latency_ns")) + number(4, len(self.values)))
        for (route, step), hits in self.counts.items():
            table += text(6, text(1, varint(step)) + text(2, route) + number(3, hits) +
                          text(4, varint(self.sums[route, step])))
        return (number(1, 1) + text(2, self.host) + text(3, self.boot) + text(4, "system") + text(5, self.labels) +
                text(6, self.order) + text(7, self.event) + number(8, self.generation_ns) + number(9, self.sequence) +
                number(10, time_ns) + number(12, self.sequence) + text(15, table))
