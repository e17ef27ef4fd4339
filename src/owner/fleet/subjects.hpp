// Where things travel: names of subjects, of the stream and of the bucket.
//
//   landtrace.DOMAIN.HOST.status                            in the stream: a host's newest status
//   landtrace.DOMAIN.HOST.hist.ORDER.GENERATION.EVENT       … its newest frames of a histogram
//   landtrace.DOMAIN.HOST.hist.ORDER.GENERATION.EVENT.K     … parts of those that are too large, K from 0 on
//   landtrace.DOMAIN.HOST.lines.ORDER                       events as lines, for who listens: nobody keeps them
//   landtrace.DOMAIN.HOST.clock.ORDER                       a host asks what time it is where ORDER was given
//   landtrace.DOMAIN.HOST.snapshot.ORDER.K                  in another stream: parts of its snapshot, K from 0 on
//   landtrace.DOMAIN.HOST.snapshot.ORDER.end                … and what all of them are
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/frame.hpp"
#include "fleet/status.hpp"

namespace landtrace::fleet {

inline constexpr const char* kStream = "LANDTRACE";
inline constexpr const char* kStatusSubjects = "landtrace.*.*.status";
inline constexpr const char* kHistSubjects = "landtrace.*.*.hist.>";
// Of snapshots, of which it keeps the newest for an hour.
inline constexpr const char* kSnapshotStream = "LANDTRACE_SNAPSHOTS";
inline constexpr const char* kSnapshotSubjects = "landtrace.*.*.snapshot.>";
// Stands in lines of landtrace-fleet before the name of what makes no sense.
inline constexpr char kRefusedLine = '?';
inline constexpr const char* kOrders = "landtrace_orders";  // the bucket
// Where NATS keeps it: a key is what stands behind kOrderPrefix.
inline constexpr const char* kOrdersStream = "KV_landtrace_orders";
inline constexpr std::string_view kOrderPrefix = "$KV.landtrace_orders.";
inline constexpr const char* kOrderSubjects = "$KV.landtrace_orders.>";

// A text as one part of a subject: what cannot stand there is %XX.
std::string part_of_subject(std::string_view text);

// What the subjects of answers to this user begin with, so that others may be kept from hearing them: "_INBOX.web-1",
// and "_INBOX" for "".
std::string inbox_of(const std::string& user);

std::string subject_of(const Status& status);
std::string subject_of(const Frame& frame);
// What was sent under a subject: who may send there is all that the transport checks, so a message that names another
// host, domain or histogram than its subject does is EPROTO, and so is one without a host or domain.
Result<Status> status_in(const std::string& subject, const std::string& json);
Result<void> check_subject(const std::string& subject, const Frame& head);
// HOST of a subject, as it stands there: who may publish as one host may take any domain.
std::string host_part(std::string_view subject);
// … as it is called: "%2E" is a dot.
std::string host_in(std::string_view subject);
// Whether it is a frame's, which may travel in parts.
bool is_frame_subject(std::string_view subject);
std::string part_subject(const std::string& frame_subject, std::uint64_t number);
// The subject of the frame that this is a part of; nullopt: it is no part's.
std::optional<std::string> whole_of(std::string_view subject);
// All frames of an order, and their parts.
std::string frames_of(const std::string& order);
// A host's lines for an order, and those of all hosts.
std::string lines_subject(const std::string& domain, const std::string& host, const std::string& order);
std::string lines_of(const std::string& order);
// A host's snapshot without ".K" behind it, and those of all hosts.
std::string snapshot_subject(const std::string& domain, const std::string& host, const std::string& order);
std::string snapshots_of(const std::string& order);
inline constexpr const char* kSnapshotEnd = "end";
// A host's questions, and those of all hosts.
std::string clock_subject(const std::string& domain, const std::string& host, const std::string& order);
std::string clocks_of(const std::string& order);

}  // namespace landtrace::fleet
