// The command that removes dynamic events, "-:[GROUP/]NAME [WHAT…]".
#pragma once

#include <functional>
#include <string_view>

#include "tracefs/context.hpp"
#include "tracefs/node.hpp"
#include "tracefs/rest.hpp"

namespace landtrace::tracefs {

// Of the events that `is_ours`: those that the command means, in the order of definition, until one cannot go. Of a
// probe the place follows, and its first arguments: of one at several places just those places go. EINVAL; ENOENT: none
// is meant. With a pattern for NAME, which is ours, of probes: all of them or none, unless somebody begins to use one
// in between. kNotYet: the turn was over, the same command goes on with it.
Result<void> remove_dynamic(Context& context, const Caller& caller, std::string_view command,
                            const std::function<bool(const domain::Event&)>& is_ours, Rest& rest);

}  // namespace landtrace::tracefs
