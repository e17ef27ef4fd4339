// Filters of events in an instance, and of their triggers. Who calls these holds the domain.
#pragma once

#include <optional>
#include <string_view>

#include "filter/program.hpp"
#include "language/filter/failure.hpp"
#include "language/filter/functions.hpp"
#include "rules/file_rules.hpp"

namespace landtrace::rules {

class Filters {
 public:
  Filters(ControlMemory& control, Grace& grace, Plans& plans, language::FunctionResolver& functions)
      : control_(control), grace_(grace), plans_(plans), functions_(functions) {}

  // The expression compiled against the event's fields, in the control segment: its offset, for whoever frees it behind
  // a grace period. ENOSPC where there is no room.
  language::FilterResult<std::uint32_t> store(const Event& event, std::string_view expression);

  // `expression` is the event's filter in the instance from here on. One that is refused is shown with its failure, and
  // then the event has no filter: everything passes. `shown`: what it is shown with instead of its own failure.
  language::FilterResult<void> set(Instance& instance, Event& event, std::string_view expression,
                                   const std::optional<language::FilterFailure>& shown = {});
  void clear(Instance& instance, Event& event);

  // Whether the program looks for functions, which are elsewhere in each process.
  [[nodiscard]] bool uses_functions(std::uint32_t program) const;
  // Another program has come: if the event's filter looks for functions it is to look into that, too.
  void refresh_functions(Instance& instance, Event& event);

 private:
  Result<void> replace(Instance& instance, Event& event, EventFilter shown, std::uint32_t program);

  ControlMemory& control_;
  Grace& grace_;
  Plans& plans_;
  language::FunctionResolver& functions_;
};

}  // namespace landtrace::rules
