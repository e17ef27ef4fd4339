// Filters of events in an instance. Who calls these holds the domain.
#pragma once

#include <optional>
#include <string_view>

#include "domain/domain.hpp"
#include "filter/program.hpp"

namespace landtrace::rules {

// The expression compiled against the event's fields, in the control segment: its offset, for who frees it behind a grace
// period. ENOSPC where there is no room.
language::FilterResult<std::uint32_t> store_program(Domain& domain, const Event& event, std::string_view expression);

// `expression` is the event's filter in the instance from here on. One that is refused is shown with its failure, and then
// the event has no filter: everything passes. `shown`: what it is shown with instead of its own failure.
language::FilterResult<void> set_filter(Domain& domain, Instance& instance, Event& event, std::string_view expression,
                                        const std::optional<language::FilterFailure>& shown = {});
void clear_filter(Domain& domain, Instance& instance, Event& event);

// Whether the program looks for functions, which are elsewhere in each process.
bool uses_functions(Domain& domain, std::uint32_t program);
// Another program has come: filters that look for functions are to look into that, too.
void refresh_functions(Domain& domain);

}  // namespace landtrace::rules
