// `landtrace collect`: keeps the sums of a fleet in memory, and answers who asks for them. It has nothing that it could
// lose: what it knows stands in the stream. Any number of them share the questions.
#pragma once

#include "fleet/serving/transport.hpp"
#include "fleet/sums.hpp"

namespace landtrace::fleet {

// A question is "SEQUENCE ORDER BY": what was counted for the order up to that place in the stream, or more; BY labels
// with commas between them. An answer is kAnswered and frames as bytes, or kUnanswered: the stream has to be read.
inline constexpr const char* kQuestions = "landtrace.ask";
inline constexpr char kAnswered = '+';
inline constexpr char kUnanswered = '-';

// Until `stop` can be read. `memory`: bytes, of what was counted when.
Result<void> collect(Transport& transport, std::uint64_t memory, int stop);

// An order's sums as frames, one for each event. What a frame has of a host is how many hosts it is the sum of, and
// those whose histogram does not fit the others: "3", "3 web-7 web-8".
std::vector<Frame> answer_of(const Sums& sums, const std::string& order, const std::string& by);

}  // namespace landtrace::fleet
