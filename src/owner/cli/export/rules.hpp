// --span and --counter of `landtrace export`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "output/chrome/writer.hpp"

namespace landtrace::cli {

// "FROM,TO,KEY" or "FROM,TO"; an event without a system is one of user_events. EINVAL.
Result<output::SpanRule> parse_span(const std::string& text);
// "EVENT.FIELD" or "SYSTEM:EVENT.FIELD". EINVAL.
Result<output::CounterRule> parse_counter(const std::string& text);

// EINVAL: the recording has no such event, or the event no such field, or a counter's is no number; says what there is.
Result<void> check_rules(const std::vector<output::SpanRule>& spans, const std::vector<output::CounterRule>& counters,
                         const std::map<std::uint16_t, output::EventType>& types);
// The same of the rules that name this event, where others may be known later.
Result<void> check_rules(const std::vector<output::SpanRule>& spans, const std::vector<output::CounterRule>& counters,
                         const output::EventType& type);

}  // namespace landtrace::cli
