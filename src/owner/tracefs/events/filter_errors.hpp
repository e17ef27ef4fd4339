// What the files that take filter expressions share.
#pragma once

#include <string_view>

#include "language/filter/text.hpp"
#include "tracefs/instance_state.hpp"

namespace landtrace::tracefs {

// The expression that was written. EINVAL: it is longer than any expression may be.
Result<language::WrittenFilter> filter_in(std::string_view bytes);

// Adds the failure to the instance's error log. The expression begins after `before` bytes of what was written.
tl::unexpected<Error> refuse_filter(InstanceState& instance, std::string_view expression,
                                    const language::FilterFailure& failure, std::size_t before = 0);

}  // namespace landtrace::tracefs
