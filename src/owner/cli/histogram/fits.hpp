// Whether an event has what a histogram of it needs. The owner checks that, too, but it knows a command and not the
// options, so the place of the mistake is found here. Each error is a sentence, and in lines of their own what the
// user typed and a caret.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "output/record.hpp"

namespace landtrace::cli {

// What a histogram can use of each: "common_pid", "stacktrace", "hitcount".
bool is_of_every_event(const std::string& name);

// `fields` are the value of `option`, and may have modifiers ("took.log2"). EINVAL.
Result<void> check_has_fields(const std::string& option, const std::vector<std::string>& fields,
                              const output::EventType& type);

// `values` are those of --vals: only integers can be added up. EINVAL.
Result<void> check_can_be_added(const std::vector<std::string>& values, const output::EventType& type);

// EINVAL.
Result<void> check_filter_fits(const std::string& filter, const output::EventType& type);

}  // namespace landtrace::cli
