// What owner and clients say to each other over a SOCK_SEQPACKET Unix socket.
//
//   a request, one datagram
//
//     0       4         8           12          16          20                24                       56
//     +-------+---------+-----------+-----------+-----------+-----------------+-----+-----+-----+-----+----------
//     | magic | version | operation | text_size | file_slot | file_generation | a   | b   | c   | d   | text …
//     +-------+---------+-----------+-----------+-----------+-----------------+-----+-----+-----+-----+----------
//
//   its one reply, one datagram, perhaps with descriptors
//
//     0       4       8                 32          36         40
//     +-------+-------+-----+-----+-----+-----------+----------+----------
//     | magic | error | a   | b   | c   | text_size |          | text …
//     +-------+-------+-----+-----+-----+-----------+----------+----------
//
// A request about a file has the file's key in b, above the low 8 bits. It stands in the FileIdentity, so whoever has
// the descriptor has it; the file's slot and generation stand in the control segment, for everybody to read. A program
// from before there were keys says none, and may name the files of its own user.
//
// A text has at most kMaxText bytes. Numbers are in the machine's byte order. The owner knows who asks from the kernel
// (SCM_CREDENTIALS), never from the message.
//
// A connection is one of
//   control  of a process or a consumer; it asks, one request at a time
//   file     an open user_events_data of an unmodified program. Its first request makes it one (kOpenFile,
//            kReopenFile), and it asks nothing more: the descriptor stands for the file, so that dup, fork, passing and
//            last close mean what they mean in the kernel. The owner leaves one datagram in it, a FileIdentity, which
//            is only ever peeked at: so a process that got the descriptor from elsewhere can tell which file it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace landtrace::ipc {

inline constexpr std::uint32_t kProtocolVersion = 2;
inline constexpr std::uint32_t kRequestMagic = 0x5172544c;           // "LTrQ"
inline constexpr std::uint32_t kReplyMagic = 0x5072544c;             // "LTrP"
inline constexpr std::uint64_t kIdentityMagic = 0x656c69465472544c;  // "LTrTFile"
inline constexpr std::uint32_t kMaxText = 64 * 1024;

// Behind each what the request has, and behind the arrow what the reply has.
enum class Operation : std::uint32_t {
  // This connection becomes a file.
  kOpenFile = 1,
  // -> a = user index, b = bytes of a data segment, c = pid as the owner sees it; descriptors of the control segment
  // and of
  //    the user's data segment.
  kAttach,
  // DIAG_IOCSREG: file; a = address, b = bit, c = size, and above the low 8 bits the address of a Claim, or 0; d =
  // flags,
  //    and above the low 16 bits the errno of a name that could not be read (the kernel looks at it last); text
  // -> a = write index, b = pid as the owner sees it.
  kRegister,
  // DIAG_IOCSUNREG: a = address, b = bit.
  kUnregister,
  // DIAG_IOCSDEL: text.
  kDelete,
  // The asking process is about to fork: should it end first, its enable words wait for the child.
  kForking,
  // The asking process is a child of process a (as the owner sees that): it has a copy of its enable words.
  // -> b = pid as the owner sees it.
  kForked,
  // d = flags; text -> event slot, held by this connection.
  kRegisterNative,
  // a = event slot.
  kReleaseNative,
  // An instance of the consumer's own: a = bytes per ring, b = 1 to overwrite; c = bytes that will do where larger
  //    rings would leave little room for others (0: none but `a`)
  // -> a = offset of its rings in data segments, b = size_log2, c = instance.
  kOpenSession,
  // text = pattern; a = 1 listen, 0 stop. Holds for events that register later, too.
  kSessionEvents,
  // Stop listening to everything and wait until no producer is in the middle of an event.
  kSessionStop,
  // text = ConsumedPosition[].
  kConsumed,
  // a = user index -> that user's data segment (for consumers), a = uid, b = a number that no other user of the domain
  //    has or had: an index may be another user's by now, see ControlSegment::user_changes.
  kDataSegment,
  // This connection becomes one of those that stand for a file of an earlier owner: file.
  kReopenFile,
  // text = "PATTERN\0FILTER\0" and "TRIGGER\0" each: as kSessionEvents with a = 1, but what matches has the filter
  //    ("": none) and the triggers.
  kSessionSelect,
  // a = entries to pass over
  // -> a = 1: it records, 0: a traceoff trigger has ended that; b = where to go on, 0: that was all;
  //    text = "EVENT\0RULE\0REASON\0" each, RULE "f" or "t" and a filter or trigger of kSessionSelect that the event
  //    does not have.
  kSessionState,
  // a = 0: nothing is recorded from here on, but triggers go on; 1: it is again.
  kSessionRecord,
  // What an event's histograms have counted, for who may read its `hist` file. text = "SYSTEM\0EVENT\0INSTANCE\0", the
  // instance "" for the top one; b = 1: that of the connection's session. a = bytes to pass over: 0 counts anew, and
  //    what follows is read on from there
  // -> text = the bytes of histogram_table.hpp from there on, a = the size of all of them.
  //    (19 is not used: it had the `hist` file's text.)
  kHistograms = 20,
  // The events that have histograms, for who may read their `hist` files. a = entries to pass over
  // -> text = "INSTANCE\0SYSTEM\0EVENT\0" each, the instance "" for the top one; a = where to go on, 0: that was all.
  kHistogramEvents,
  // text = uint32_t[], threads by their ids: the session takes no event of these from here on, and again of those that
  //    an earlier list named.
  kSessionThreads,

  // Older programs' user_events; which rules the domain has for structures is in its control segment (abi).

  // DIAG_IOCSREG of 6.0 and 6.1: file, text -> a = write index, b = status bit.
  kRegisterStatusBit = 64,
  // The 2021 proposal's: file, text -> a = the event's byte. Writes to the file have no index.
  kRegisterPlain,
  // -> a read-only descriptor of a page to be mapped: a = 0 user_events_status (bits), a = 1 user_events_mmap (bytes).
  kStatusPage,
  // What user_events_status says: a = offset -> text from there, a = size of all of it.
  kStatusText,

  // The owner itself, and what is mounted elsewhere.

  // -> a = pid, b = uid of the owner, as it sees itself; text = program and version.
  kAbout = 128,
  // The connection is going to carry a descriptor; a = the ABI that is wanted (601, 612; 0: any).
  kOfferMount,
  // After kOfferMount: one descriptor, a /dev/fuse that is mounted; text = where, to the asker.
  kServeMount,

  // What users have of the domain, for who may record it; others see themselves
  // -> text = a line each, a = how many users there may be.
  kUsers,

  // The file tree without a mount. text = a path from its root, but where it says otherwise; who may do what goes by
  // the files' modes.

  // -> a = mode with the file's type, b = size.
  kTreeStat = 192,
  // a = entries to pass over -> text = "MODE NAME\0" each, the mode octal as of kTreeStat; a = where to go on, 0: that
  // was
  //    all.
  kTreeList,
  // a = flags as of open(2). A connection has one file open; another takes its place.
  kTreeOpen,
  // a = most bytes, b = position -> text; EAGAIN: nothing now, ask again.
  kTreeRead,
  // text = the bytes, b = position -> a = bytes taken; with an error, one more than the number of bytes before what is
  //    wrong, 0: that is not known.
  kTreeWrite,
  kTreeMakeFolder,
  kTreeRemoveFolder,
  // Closes the file that is open, if any: an open file may keep an instance from being removed.
  kTreeClose,
  // text is written to the file that is open when the connection ends, however it ends; the file is closed for all
  // else. a = 1: what was said so before is not. a = 2: text is the path of a folder, which goes then.
  kTreeWriteAtEnd,

  // Events that are there, for <landtrace/trace_events.h>. text = "SYSTEM\0EVENT\0".

  // -> event slot, held by this connection; given up with kReleaseNative.
  kHoldEvent = 224,
  // text is followed by the name of an instance, "" the top one
  // -> a = 1: a synthetic event, b = the instance's index; text = "OFFSET SIZE KIND NAME\0" each field, OFFSET in the
  //    payload, KIND of ipc::field_kind.
  kEventLayout,

  // What a program says of its events' structs (event/description.hpp).
  // a = event slot, which this connection holds; text.
  kDescribeStructs = 240,

  // What became of probes.

  // From a program's agent: text = RefusedPlace[], places that it could not patch, or has patched after all.
  kPlacesRefused = 244,
  // For who may record: text = "SYSTEM\0EVENT\0", a = entries to pass over
  // -> text = "PID OFFSET PROGRAM\0OBJECT\0WHY\0" each, for each program in which one of the event's places could not
  //    be probed; a = where to go on, 0: that was all; b = how often it was hit and that was missed (of returns: too
  //    many calls were in progress; by a signal handler in the middle of a hit).
  kRefusedPlaces,

  // eBPF: maps, programs, and which program is at which event. What a connection has made goes with it.

  // text = BpfMapWish -> a = the map's number, text = its bpf::MapLayout.
  kBpfMap = 256,
  // What is too large for one request, piece by piece: a = bytes that were said before (0: begins anew); text.
  kBpfCode,
  // What kBpfCode has said is a BpfProgramWish with all that follows it -> a = the program's number, b = bytes of an
  // event that it looks at, c = the size of the log. An error has the verifier's reason.
  kBpfLoad,
  // a = bytes to pass over -> text = the log of the last kBpfLoad from there on, a = its size.
  kBpfLog,
  // a = a program, text = "SYSTEM\0EVENT\0", or b = an event's id; c = 1: once the event is there
  // -> a = the link's number.
  kBpfAttach,
  // a = a map, a program, a link: the connection does not hold it any more.
  kBpfDrop,
  // -> text = a bpf::MapLayout: of the ring buffer with the lines of bpf_trace_printk(), for programs that are loaded
  //    from here on.
  kBpfLines,
  // For who may record; others see their own. a = entries to pass over -> text = "NUMBER KIND UID NAME\0WHAT\0" each;
  //    a = where to go on, 0: that was all.
  kBpfList,
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
LT_SHARED(Request, 56, 8);
LT_SHARED_AT(Request, magic, 0);
LT_SHARED_AT(Request, version, 4);
LT_SHARED_AT(Request, operation, 8);
LT_SHARED_AT(Request, text_size, 12);
LT_SHARED_AT(Request, file_slot, 16);
LT_SHARED_AT(Request, file_generation, 20);
LT_SHARED_AT(Request, a, 24);
LT_SHARED_AT(Request, b, 32);
LT_SHARED_AT(Request, c, 40);
LT_SHARED_AT(Request, d, 48);

struct Reply {
  std::uint32_t magic = kReplyMagic;
  // errno, or 0.
  std::int32_t error = 0;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  // Of an error's sentence, or of what the operation gives.
  std::uint32_t text_size = 0;
  std::uint32_t reserved = 0;
};
LT_SHARED(Reply, 40, 8);
LT_SHARED_AT(Reply, magic, 0);
LT_SHARED_AT(Reply, error, 4);
LT_SHARED_AT(Reply, a, 8);
LT_SHARED_AT(Reply, b, 16);
LT_SHARED_AT(Reply, c, 24);
LT_SHARED_AT(Reply, text_size, 32);

// What a request about a file has in b: the file's key, and what the operation has there besides.
inline constexpr unsigned kKeyBits = 56;
inline std::uint64_t with_key(std::uint64_t key, std::uint8_t low = 0) { return key << 8 | low; }
inline std::uint64_t key_of(const Request& request) { return request.b >> 8; }

// What lies in a file's connection. (Owners from before there were keys leave one that ends at 24.)
//
//   0       8      12           16      20   24    32
//   +-------+------+------------+-------+----+-----+
//   | magic | slot | generation | error |    | key |
//   +-------+------+------------+-------+----+-----+
struct FileIdentity {
  std::uint64_t magic = kIdentityMagic;
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  // errno: the file could not be opened.
  std::int32_t error = 0;
  std::uint32_t reserved = 0;
  // Of kKeyBits; 0: there is none.
  std::uint64_t key = 0;
};
LT_SHARED(FileIdentity, 32, 8);
LT_SHARED_AT(FileIdentity, magic, 0);
LT_SHARED_AT(FileIdentity, slot, 8);
LT_SHARED_AT(FileIdentity, generation, 12);
LT_SHARED_AT(FileIdentity, error, 16);
LT_SHARED_AT(FileIdentity, key, 24);

//   0      4            8        9
//   +------+------------+--------+----+
//   | slot | generation | reason |    |
//   +------+------------+--------+----+
struct RefusedPlace {
  // Of the probe's slot in the control segment.
  std::uint32_t slot;
  std::uint32_t generation;
  // An agent::Reason; 0: it is patched now.
  std::uint8_t reason;
  std::uint8_t reserved[3];
};
LT_SHARED(RefusedPlace, 12, 4);
LT_SHARED_AT(RefusedPlace, slot, 0);
LT_SHARED_AT(RefusedPlace, generation, 4);
LT_SHARED_AT(RefusedPlace, reason, 8);

struct ConsumedPosition {
  std::uint32_t user;
  std::uint32_t ring;
  std::uint64_t position;  // with its turn: ring/layout.hpp
};
LT_SHARED(ConsumedPosition, 16, 8);
LT_SHARED_AT(ConsumedPosition, user, 0);
LT_SHARED_AT(ConsumedPosition, ring, 4);
LT_SHARED_AT(ConsumedPosition, position, 8);

}  // namespace landtrace::ipc
