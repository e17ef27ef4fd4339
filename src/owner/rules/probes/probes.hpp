// Probes of places in programs' code: the events of uprobe_events and kprobe_events. What is defined stands here as
// data. Whoever brings probes into programs is told which of them are listened to: ProbeObserver. Whoever calls these
// holds the domain.
//
//     event my/ev  ---- Probe ----+---- ProbePlace: /usr/bin/app, 0x1136     device, inode, build id, offset
//                                 +---- ProbePlace: libxyz:run               waits until some program has libxyz
//
// All places of an event have arguments of the same names and types, but may fetch them in different ways.
#pragma once

#include <functional>
#include <optional>

#include "language/probe/function_probe.hpp"
#include "language/probe/probe_pattern.hpp"
#include "programs/object_files.hpp"
#include "programs/program_functions.hpp"
#include "rules/domain_names.hpp"
#include "rules/probes/probed_objects.hpp"

namespace landtrace::rules {

class CallersObjects;

// Where threads come by.
struct ProbeSpot {
  std::uint64_t offset = 0;  // in the object's file
  std::vector<language::ProbeArgument> arguments;
  std::int64_t usdt_counter = 0;  // how far a USDT place's semaphore is from it; 0: there is none
};

// A definition's place. That of a USDT probe is wherever the object has one of its name, that of an ifunc at all that
// it may choose, and that of a pattern at all functions that fit it.
struct ProbePlace : ProbeSpot {
  language::NamedPlace named;
  std::optional<programs::ObjectFile> object;  // nullopt: no program has it yet; `named` says what is waited for
  std::vector<ProbeSpot> others;               // besides the first
  std::uint32_t maxactive = 0;                 // 0: as many as there are
  std::uint64_t serial = 0;                    // no other place of the domain has or had this one
};

// What a probe has beyond an event.
struct Probe final : domain::Attachment {
  language::ProbeFamily family = language::ProbeFamily::kUprobe;
  bool is_return = false;
  std::vector<ProbePlace> places;  // in the order of Event::definitions
  bool is_on = false;              // the observer was told so
};

// nullptr: the event is none.
const Probe* find_probe(const Event& event);

struct ProbeCounts {
  std::uint64_t hits = 0;
  std::uint64_t missed = 0;
};

// A program in which a place could not be probed.
struct RefusedPlace {
  std::uint32_t pid = 0;
  std::string program;  // its name
  std::string object;
  std::uint64_t offset = 0;
  std::string why;
};

class ProbeObserver {
 public:
  virtual ~ProbeObserver() = default;
  // There is one more, or it has one more place; programs that start from here on are to be ready for it.
  virtual void defined() = 0;
  // The probe is listened to from here on, at all of its places; or it is, and its places have changed. If this fails,
  // nobody listens to it.
  virtual Result<void> start(const Event& event, const Probe& probe) = 0;
  // Nobody listens to it any more; the event may be about to go.
  virtual void stop(const Event& event, const Probe& probe) = 0;
  // The place is one of the event's no more; nobody asks for its counts.
  virtual void gone(const ProbePlace& place) = 0;
  // How often programs got there.
  virtual ProbeCounts counts(const Event& event, const ProbePlace& place) = 0;
  // What a program says of the place that has this slot: an agent::Reason; 0: it is probed there after all.
  virtual void refused(std::uint32_t /*pid*/, std::uint32_t /*slot*/, std::uint32_t /*generation*/,
                       std::uint8_t /*reason*/) {}
  // As long as the event is listened to.
  virtual std::vector<RefusedPlace> refusals(const Event& /*event*/) { return {}; }
};

class Probes {
 public:
  Probes(Events& events, Registrar& registrar, programs::ProgramFunctions& programs)
      : events_(events), registrar_(registrar), programs_(programs) {}

  // nullptr: probes may be listened to, and are never hit.
  void observe(ProbeObserver* observer);

  // A line of the family's file. The refusal has the code FunctionProbeCommand::kOther for a line that is none of that
  // family's; EACCES and so on for a file that the caller may not read.
  language::AcceptedProbe<Event*> define(language::ProbeFamily family, std::string_view line,
                                         const programs::Asker& asker) {
    CallersObjects objects(files_, programs_, asker);
    return define(family, line, asker, objects);
  }
  // What is defined from here on is, or is not, for the next owner, too.
  void set_passing(bool is_passing) { is_passing_ = is_passing; }
  // Before define(): whether the object that the line names is known. False: it is large, and being looked through; the
  // line is to be defined in a moment.
  bool is_prepared(std::string_view line, const programs::Asker& asker);
  // As define(), and what was left out of a pattern, for a person.
  language::AcceptedProbe<std::string> define_some(language::ProbeFamily family, std::string_view line,
                                                   const programs::Asker& asker);
  // The same as the journal has it.
  void restore(std::string_view commands, std::uint32_t uid);

  // Takes one place away. `remove_event` is called if it is the event's last. EPERM for another user's.
  Result<void> remove_place(Event& event, std::uint64_t serial, std::uint32_t uid,
                            const std::function<Result<void>(Event&)>& remove_event);

  // Who listens to the event may have changed. Other events are passed over.
  Result<void> attach(Event& event);
  // The event goes.
  void let_go(Event& event);

  // Of uprobe_events or kprobe_events, in the order of definition.
  struct Line {
    Event* event;
    std::size_t place;  // its index in Probe::places
  };
  [[nodiscard]] std::vector<Line> lines(language::ProbeFamily family);
  [[nodiscard]] ProbeCounts counts(const Event& event, const ProbePlace& place) const;
  // nullptr: there is none.
  [[nodiscard]] ProbeObserver* observer() const { return observer_; }

  // Places that wait for an object are looked for again. Calls the observer for those that are found.
  void look_again();

 private:
  friend class ManyProbes;
  language::AcceptedProbe<Event*> define(language::ProbeFamily family, std::string_view line,
                                         const programs::Asker& asker, CallersObjects& objects);
  struct Definition {
    const language::FunctionProbeCommand& command;
    const language::FunctionProbe& probe;
    std::uint32_t uid;
    // Why it is refused if it is not for another reason.
    const std::optional<language::ProbeRefusal>& error;
  };
  language::AcceptedProbe<Event*> define_place(const language::FunctionProbeCommand& command, CallersObjects& objects,
                                               const programs::Asker& asker);
  language::AcceptedProbe<Event*> add(const Definition& definition, ProbePlace place);
  language::AcceptedProbe<Event*> append(Event& event, const Definition& definition, ProbePlace place);
  Result<void> start(const Event& event, const Probe& probe);
  [[nodiscard]] bool has_other_counter(const ProbePlace& place);
  Result<void> enter(Event& event, const language::FunctionProbe& probe, ProbePlace place);

  Events& events_;
  Registrar& registrar_;
  programs::ProgramFunctions& programs_;
  ProbeObserver* observer_ = nullptr;
  programs::ObjectFiles files_;
  bool is_passing_ = false;
  bool is_waited_ = false;     // some place may have no object yet
  bool has_counters_ = false;  // or had
};

}  // namespace landtrace::rules
