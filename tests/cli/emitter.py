"""Emits events through the files, byte by byte as a test wants them: emitter.py [--comm NAME] {DECLARATION PAYLOAD}..., in hex."""
import ctypes
import fcntl
import os
import struct
import sys

PR_SET_NAME = 15
DIAG_IOCSREG = 0xC0082A00


def register(file, declaration, word):
    """Its write index."""
    text = ctypes.create_string_buffer(os.fsencode(declaration))
    request = bytearray(struct.pack("=IBBHQQI", 28, 0, 4, 0, ctypes.addressof(word), ctypes.addressof(text), 0))
    fcntl.ioctl(file, DIAG_IOCSREG, request)
    return request[-4:]


def main(words):
    if words[0] == "--comm":
        ctypes.CDLL(None).prctl(PR_SET_NAME, os.fsencode(words[1]))
        words = words[2:]
    file = os.open("/sys/kernel/tracing/user_events_data", os.O_RDWR)
    known = {}
    for declaration, payload in zip(words[::2], words[1::2]):
        if declaration not in known:
            word = ctypes.c_uint32()
            known[declaration] = (register(file, declaration, word), word)
        os.write(file, known[declaration][0] + bytes.fromhex(payload))


main(sys.argv[1:])
