// What owner and clients say to each other over a SOCK_SEQPACKET Unix socket.
//
// Every request is one datagram, a Request and up to kMaxText bytes of text, and gets one Reply with up to
// kMaxText bytes of text and possibly descriptors. Numbers are in the machine's byte order. The owner knows who asks from
// the kernel (SCM_CREDENTIALS), never from the message.
//
// A connection is one of
//   control  of a process or a consumer; it asks, one request at a time
//   file     an open user_events_data of an unmodified program. Its first request makes it one (kOpenFile, kReopenFile), and it
//            asks nothing more: the descriptor stands for the file, so that dup, fork, passing and last close mean
//            what they mean in the kernel. The owner leaves one datagram in it, a FileIdentity, which is only ever
//            peeked at: so a process that got the descriptor from elsewhere can tell which file it is.
#pragma once

#include <cstdint>

namespace landtrace::ipc {

inline constexpr std::uint32_t kProtocolVersion = 2;
inline constexpr std::uint32_t kRequestMagic = 0x5172544c;           // "LTrQ"
inline constexpr std::uint32_t kReplyMagic = 0x5072544c;             // "LTrP"
inline constexpr std::uint64_t kIdentityMagic = 0x656c69465472544c;  // "LTrTFile"
inline constexpr std::uint32_t kMaxText = 64 * 1024;

enum class Operation : std::uint32_t {
  kOpenFile = 1,    // this connection becomes a file
  kAttach,          // -> a = user index, b = bytes of a data segment, c = pid as the owner sees it; descriptors of the
                    // control segment and of the user's data segment
  kRegister,        // DIAG_IOCSREG:   file; a = address, b = bit, c = size, and above the low 8 bits the address of a
                    // Claim, or 0; d = flags, and above the low 16 bits the errno of a name that could not be read (the
                    // kernel looks at it last); text
                    // -> a = write index, b = pid as the owner sees it
  kUnregister,      // DIAG_IOCSUNREG: a = address, b = bit
  kDelete,          // DIAG_IOCSDEL:   text
  kForking,         // the asking process is about to fork: should it end first, its enable words wait for the child
  kForked,          // the asking process is a child of a (as the owner sees that): it has a copy of its enable words
                    // -> b = pid as the owner sees it
  kRegisterNative,  // d = flags; text -> event slot, held by this connection
  kReleaseNative,   // a = event slot
  kOpenSession,     // an instance of the consumer's own: a = bytes per ring, b = 1 to overwrite
                    // -> a = offset of its rings in data segments, b = size_log2, c = instance
  kSessionEvents,   // text = pattern; a = 1 listen, 0 stop. Holds for events that register later, too
  kSessionStop,     // stop listening to everything and wait until no producer is in the middle of an event
  kConsumed,        // text = ConsumedPosition[]
  kDataSegment,     // a = user index -> that user's data segment (for consumers), a = uid
  kReopenFile,      // this connection becomes one of those that stand for a file of an earlier owner: file
  kSessionSelect,  // text = "PATTERN\0FILTER\0" and "TRIGGER\0" each: as kSessionEvents with a = 1, but what matches has
                   // the filter ("": none) and the triggers
  kSessionState,  // a = entries to pass over -> a = 1: it records, 0: a traceoff trigger has ended that; b = where to go
  // on, 0: that was all; text = "EVENT\0RULE\0REASON\0" each, RULE "f" or "t" and a filter or trigger of
  // kSessionSelect that the event does not have

  kSessionRecord,  // a = 0: nothing is recorded from here on, but triggers go on; 1: it is again
  kSessionHist,  // text = "SYSTEM:EVENT"; a = bytes to pass over -> text = what the event's `hist` file in the session says,
                 // a = its size

  // Older programs' user_events; which rules the domain has for structures is in its control segment (abi).
  kRegisterStatusBit = 64,  // DIAG_IOCSREG of 6.0 and 6.1: file, text -> a = write index, b = status bit
  kRegisterPlain,           // the 2021 proposal's: file, text -> a = the event's byte. Writes to the file have no index
  kStatusPage,              // -> a read-only descriptor of a page to be mapped: a = 0 user_events_status (bits),
                            // a = 1 user_events_mmap (bytes)
  kStatusText,              // what user_events_status says: a = offset -> text from there, a = size of all of it

  // The owner itself, and what is mounted elsewhere.
  kAbout = 128,  // -> a = pid, b = uid of the owner, as it sees itself; text = program and version
  kOfferMount,   // the connection is going to carry a descriptor; a = the ABI that is wanted (601, 612; 0: any)
  kServeMount,   // after kOfferMount: one descriptor, a /dev/fuse that is mounted; text = where, to the asker

  // The file tree without a mount. text = a path from its root, but where it says otherwise; who may do what goes by the
  // files' modes.
  kTreeStat = 192,  // -> a = mode with the file's type, b = size
  kTreeList,        // a = entries to pass over -> text = "MODE NAME\0" each, the mode octal as of kTreeStat;
                    // a = where to go on, 0: that was all
  kTreeOpen,        // a = flags as of open(2). A connection has one file open; another takes its place
  kTreeRead,        // a = most bytes, b = position -> text; EAGAIN: nothing now, ask again
  kTreeWrite,  // text = the bytes, b = position -> a = bytes taken; with an error, one more than the number of bytes
               // before what is wrong, 0: that is not known
  kTreeMakeFolder,
  kTreeRemoveFolder,
  kTreeClose,  // the file that is open, if any: an open file may keep an instance from being removed

  // Events that are there, for <landtrace/trace_events.h>. text = "SYSTEM\0EVENT\0"
  kHoldEvent = 224,  // -> event slot, held by this connection; given up with kReleaseNative
  kEventLayout,  // text is followed by the name of an instance, "" the top one -> a = 1: a synthetic event, b = the instance's
                 // index; text = "OFFSET SIZE KIND NAME\0" each field, OFFSET in the payload, KIND of ipc::field_kind
};

// How a field of a synthetic event gets its value.
namespace field_kind {
inline constexpr char kNumber = 'n';
inline constexpr char kText = 't';         // SIZE bytes
inline constexpr char kDynamicText = 'd';  // __data_loc
inline constexpr char kStack = 's';        // __data_loc of 64-bit addresses
}  // namespace field_kind

struct Request {
  std::uint32_t magic = kRequestMagic;
  std::uint32_t version = kProtocolVersion;
  Operation operation{};
  std::uint32_t text_size = 0;
  std::uint32_t file_slot = 0;
  std::uint32_t file_generation = 0;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint64_t d = 0;
};

struct Reply {
  std::uint32_t magic = kReplyMagic;
  std::int32_t error = 0;  // errno, or 0
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint32_t text_size = 0;  // an error's sentence, or what the operation gives
  std::uint32_t reserved = 0;
};

struct FileIdentity {
  std::uint64_t magic = kIdentityMagic;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  std::int32_t error = 0;  // errno: the file could not be opened
  std::uint32_t reserved = 0;
};

struct ConsumedPosition {
  std::uint32_t user;
  std::uint32_t ring;
  std::uint64_t position;
};

}  // namespace landtrace::ipc
