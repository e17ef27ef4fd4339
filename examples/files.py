#!/usr/bin/env python3
"""An event of a Python program, with nothing but files: landtrace run --tracefs -- examples/files.py"""
import ctypes
import fcntl
import os
import struct
import sys

TRACEFS = sys.argv[1] if len(sys.argv) > 1 else "/sys/kernel/tracing"
DIAG_IOCSREG = 0xC0082A00


class Event:
    """An event as the kernel's user_events document has it; enabled.value is its enable word."""

    def __init__(self, declaration):
        self.file = os.open(TRACEFS + "/user_events_data", os.O_RDWR)
        self.enabled = ctypes.c_uint32(0)
        text = ctypes.create_string_buffer(declaration.encode())
        # struct user_reg: size, enable_bit, enable_size, flags, enable_addr, name_args, write_index
        reg = bytearray(struct.pack("<IBBHQQI", 28, 0, 4, 0, ctypes.addressof(self.enabled), ctypes.addressof(text), 0))
        fcntl.ioctl(self.file, DIAG_IOCSREG, reg)
        self.index = reg[24:28]

    def emit(self, payload):
        if self.enabled.value:
            os.write(self.file, self.index + payload)


def switch(name, on):
    with open("%s/events/user_events/%s/enable" % (TRACEFS, name), "w") as file:
        file.write(str(int(on)))


def main():
    event = Event("request u32 id;u64 took_ns;char[16] route")
    event.emit(struct.pack("<IQ16s", 1, 1000, b"/nobody/listens"))
    switch("request", True)
    for number in (2, 3):
        event.emit(struct.pack("<IQ16s", number, 1000 * number, b"/orders"))
    switch("request", False)
    with open(TRACEFS + "/trace") as trace:
        print("".join(line for line in trace if "request:" in line), end="")


if __name__ == "__main__":
    main()
