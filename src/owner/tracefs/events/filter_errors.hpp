// What the files that take filter expressions share.
#pragma once

#include <string_view>

#include "filter/text.hpp"
#include "tracefs/instance_state.hpp"

namespace landtrace::tracefs {

// What a write says; EINVAL where it is longer than any expression.
Result<filter::Written> filter_in(std::string_view bytes);

// Leaves the failure in the instance's error log. The expression begins behind `before` bytes of what was written.
tl::unexpected<Error> refuse_filter(InstanceState& instance, std::string_view expression,
                                    const filter::Failure& failure, std::size_t before = 0);

}  // namespace landtrace::tracefs
