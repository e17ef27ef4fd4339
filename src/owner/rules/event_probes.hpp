// Event probes: events that are made out of another one's fields whenever that happens. While anybody listens to a
// probe, the event that it is attached to has a trigger for it in one instance, and is in soft mode there. Whoever
// calls these holds the domain.
#pragma once

#include <optional>

#include "language/filter/failure.hpp"
#include "language/probe/event_probe_command.hpp"
#include "rules/domain_names.hpp"
#include "rules/filters.hpp"
#include "rules/trigger_list.hpp"

namespace landtrace::rules {

// What an event probe has beyond an event, to which it is attached.
struct EventProbe final : domain::Attachment {
  std::uint32_t base = 0;             // the slot of the event that it is made out of, which stays as long
  std::uint32_t plan = 0;             // offset of its plan::EventProbePlan in the control segment
  std::uint32_t program = 0;          // of its filter::Program; 0: none
  std::optional<std::uint32_t> host;  // the instance where its trigger is
};

// nullptr: the event is none, or has been let go of.
const EventProbe* find_event_probe(const Event& event);

struct RefusedEventProbe {
  language::ProbeRefusal refusal;
  std::optional<language::FilterFailure> filter;  // why its filter is none
  std::string expression;                         // that filter
};

class EventProbes {
 public:
  EventProbes(ControlMemory& control, Grace& grace, Events& events, Instances& instances, Registrar& registrar,
              Listening& listening, Filters& filters, TriggerLists& lists)
      : control_(control),
        grace_(grace),
        events_(events),
        instances_(instances),
        registrar_(registrar),
        listening_(listening),
        filters_(filters),
        lists_(lists) {}

  // A command that EventProbeCommand::is_one(). ENODEV without the event, EINVAL, E2BIG, EEXIST as the kernel has them;
  // ENOSPC.
  tl::expected<Event*, RefusedEventProbe> define(std::string_view line, std::uint32_t uid);

  // Who listens to the probe may have changed: it begins to happen, or ends. Other events are passed over.
  Result<void> attach(Event& probe);
  // The probe goes.
  void let_go(Event& probe);

 private:
  // What one needs before it is there; ENOSPC.
  tl::expected<Event*, RefusedEventProbe> make(const language::EventProbeCommand& command, Event& base,
                                               std::uint32_t program, std::uint32_t uid);
  Result<void> put_trigger(Instance& instance, Event& base, const Event& probe);
  void take_trigger(Instance& instance, Event& base, const Event& probe);
  [[nodiscard]] std::optional<std::uint32_t> host_of(const Event& probe, std::optional<std::uint32_t> now) const;

  ControlMemory& control_;
  Grace& grace_;
  Events& events_;
  Instances& instances_;
  Registrar& registrar_;
  Listening& listening_;
  Filters& filters_;
  TriggerLists& lists_;
};

}  // namespace landtrace::rules
