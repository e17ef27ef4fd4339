// Where things travel: names of subjects, of the stream and of the bucket.
//
//   landtrace.DOMAIN.HOST.status                            in the stream: a host's newest status
//   landtrace.DOMAIN.HOST.hist.ORDER.GENERATION.EVENT       … its newest frames of a histogram
//   landtrace.DOMAIN.HOST.lines.ORDER                       events as lines, for who listens: nobody keeps them
#pragma once

#include <string>
#include <string_view>

#include "fleet/frame.hpp"
#include "fleet/status.hpp"

namespace landtrace::fleet {

inline constexpr const char* kStream = "LANDTRACE";
inline constexpr const char* kStatusSubjects = "landtrace.*.*.status";
inline constexpr const char* kHistSubjects = "landtrace.*.*.hist.>";
inline constexpr const char* kOrders = "landtrace_orders";  // the bucket

// A text as one part of a subject: what cannot stand there is %XX.
std::string part_of_subject(std::string_view text);

std::string subject_of(const Status& status);
std::string subject_of(const Frame& frame);
// All frames of an order.
std::string frames_of(const std::string& order);
// A host's lines for an order, and those of all hosts.
std::string lines_subject(const std::string& domain, const std::string& host, const std::string& order);
std::string lines_of(const std::string& order);

}  // namespace landtrace::fleet
