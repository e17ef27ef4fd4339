// Event probes: events that are made out of another one's fields whenever that happens. While anybody listens to a probe, the
// event that it is attached to has a trigger for it in one instance, and is in soft mode there. Who calls these holds the
// domain.
#pragma once

#include <optional>

#include "domain/domain.hpp"
#include "language/probe/event_probe_command.hpp"

namespace landtrace::rules {

// What an event probe has beyond an event.
struct Probe {
  std::uint32_t base;                 // the slot of what it is attached to, which stays as long
  std::uint32_t plan = 0;             // offset of its plan::ProbePlan in the control segment
  std::uint32_t program = 0;          // of its filter::Program; 0: none
  std::optional<std::uint32_t> host;  // the instance where its trigger is
};

struct RefusedProbe {
  language::EventProbeRefusal refusal;
  std::optional<language::FilterFailure> filter;  // why its filter is none
  std::string expression;                         // that filter
};

// A command that ProbeCommand::is_one(). ENODEV without the event, EINVAL, E2BIG, EEXIST as the kernel has them; E2BIG for more
// values than a probe can carry; ENOSPC.
tl::expected<Event*, RefusedProbe> define_probe(Domain& domain, std::string_view line, std::uint32_t uid);

// Who listens to the probe may have changed: it begins to happen, or ends.
Result<void> attach_probe(Domain& domain, Event& probe);
// The probe goes.
void let_go_of_base(Domain& domain, Event& probe);

}  // namespace landtrace::rules
