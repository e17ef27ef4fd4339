// The registry of events: names, declarations, references, who listens.
#pragma once

#include <bitset>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "domain/event_file.hpp"
#include "domain/event_rules.hpp"
#include "domain/event_users.hpp"
#include "domain/journal.hpp"
#include "domain/segment_names.hpp"
#include "domain/slot_index.hpp"
#include "domain/status_pages.hpp"
#include "event/declaration.hpp"

namespace landtrace::domain {

// Flags of DIAG_IOCSREG.
inline constexpr std::uint16_t kPersist = 1;      // the event stays when the last reference goes
inline constexpr std::uint16_t kMultiFormat = 2;  // the same name may stand for several declarations

// Bytes of text that one write to trace_marker takes.
inline constexpr std::uint32_t kMaxMarker = 4096;

inline constexpr const char* kSystem = "user_events";
inline constexpr const char* kMultiSystem = "user_events_multi";

// A domain may have thousands, of which most are looked at seldom: what few of them have, or what can be worked out
// again, is not here.
struct Event {
  // The domain has the system's name as long as an event has it.
  explicit Event(const std::string& of_system) : system(of_system) {}

  // No other event of the domain has or had this one; grows with each registration.
  std::uint64_t serial = 0;
  const std::string& system;
  std::string name;  // as the events directory shows it
  std::uint32_t slot = 0;
  std::uint32_t uid = 0;         // who may delete it
  std::uint32_t references = 0;  // of files, enable words, native clients, histograms, event probes
  std::uint16_t flags = 0;
  event::Flavour kind = event::Flavour::kUser;
  bool of_guest = false;  // of a user who neither runs the domain nor is root
  EventUsers users;
  std::bitset<plan::kMaxInstances> listeners;
  // Those that listen because the event's name is one that they have selected, whatever is registered under it: they do
  // not keep a guest's event.
  std::bitset<plan::kMaxInstances> selected_by;
  EventFiles files;
  std::uint32_t status_bit = 0;   // its place in Page::kBits; 0: none
  std::uint32_t status_byte = 0;  // in Page::kBytes
  // Of one that a program registered: its fields as they were declared first.
  std::unique_ptr<const char[]> fields;
  // Of all others.
  struct Definition {
    std::uint64_t serial;  // among those of events
    std::string text;      // as it is shown
    std::string command;   // as the journal has it; "": it goes with this owner
  };
  struct Defined {
    event::Declaration declaration;
    std::string text;                     // how it was defined; of an event probe how it is shown
    std::string command;                  // how an event probe was defined
    std::vector<Definition> definitions;  // of a probe of functions: each of its places
    std::unique_ptr<Attachment> rules;    // of a probe
  };
  std::unique_ptr<Defined> defined;

  // Worked out of `fields`, or that of `defined`, which goes with the event.
  [[nodiscard]] std::shared_ptr<const event::Declaration> declaration() const;
  // As programs know it: without the number that tells those of several formats apart.
  [[nodiscard]] std::string_view registered_name() const;
  // How it was declared or defined.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] event::Flavour flavour() const { return kind; }
  [[nodiscard]] bool is_user_event() const { return flavour() == event::Flavour::kUser; }
  [[nodiscard]] const EventFile* file(std::uint32_t instance) const { return files.find(instance); }
  [[nodiscard]] bool in_use() const {
    return references > 0 || (of_guest ? listeners & ~selected_by : listeners).any();
  }
};

// What events do, as producers find it.
class EventPlans {
 public:
  // The event, which is about to go, does nothing any more.
  virtual void withdraw(const Event& event) = 0;

 protected:
  ~EventPlans() = default;
};

class Events {
 public:
  // Keeps an event while somebody makes it theirs; if nobody does, it goes with this.
  class Hold {
   public:
    Hold(Events& events, Event& event) : events_(events), slot_(event.slot) { events.add_reference(event); }
    ~Hold() { events_.drop_reference(slot_); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Events& events_;
    std::uint32_t slot_;
  };

  Events(ControlMemory& control, Grace& grace, StatusPages& pages, RulesLink& rules);

  // Finds the event that `text` declares or makes it. EADDRINUSE where the name is taken by other fields, EINVAL for
  // a bad declaration of a new name, ENOSPC where all slots are in use, or it is one more for the user than
  // `limit`: with those that wait for readers of theirs. `made`
  // tells which it was.
  struct Registration {
    Event* event;
    bool made;
  };
  // kByName: an event that has the name is the one, whatever its fields.
  enum class Match { kByFields, kByName };
  Result<Registration> register_event(std::string_view text, std::uint16_t flags, std::uint32_t uid,
                                      std::uint32_t limit = plan::kMaxEvents, Match match = Match::kByFields);

  // A synthetic event or an event probe, whom no program registers and which stays until it is removed. EEXIST, ENOSPC.
  // `text`: how it was defined.
  Result<Event*> add(std::string_view system, event::Declaration declaration, std::string text, std::uint32_t uid);

  // An event of an earlier owner, under the name that it had, which is still to be had.
  Result<Event*> restore(const SavedEvent& saved);
  // Numbers below this one were given to events of several formats.
  void restore_next_multi(std::uint64_t next) { next_multi_ = next; }
  // Who runs the domain, and where producers find what events do.
  void set_up(std::uint32_t owner_uid, EventPlans& plans) {
    owner_uid_ = owner_uid;
    plans_ = &plans;
  }
  // Where events are written down from here on.
  void keep(Journal* journal) { journal_ = journal; }

  // The event stays when its last reference goes.
  void make_lasting(Event& event);
  // Who may be in the middle of it.
  [[nodiscard]] static Holders holders_of(const Event& event);
  // Something of the event that the next owner needs has changed.
  void write_down(const Event& event);

  void add_reference(Event& event) { ++event.references; }
  // The same of a user's program.
  void add_reference(Event& event, std::uint32_t uid);
  // Removes the event if that was the last reference and nothing else keeps it.
  void drop_reference(std::uint32_t slot);
  void drop_reference(std::uint32_t slot, std::uint32_t uid);

  // What a program says of the event's structs: event/description.hpp. It stays until another one says something else,
  // or the slot has another event. EINVAL, ENOSPC.
  Result<void> describe_structs(Event& event, std::string_view description);

  // The event has a place in the status page from here on. EMFILE.
  Result<void> give_place(Event& event, Page page);
  // This one, which it had with an earlier owner, if that is to be had: programs know the place, and look there.
  void give_place_again(Event& event, Page page, std::uint32_t place);

  // ENOENT, EBUSY while anybody refers to it, EPERM for another user's (root may).
  Result<void> remove(std::string_view registered_name, std::uint32_t uid);
  // Just this one of those that share a name.
  Result<void> remove(Event& event, std::uint32_t uid);

  // Whether remove() would do it.
  static Result<void> check_removable(const Event& event, std::uint32_t uid);

  // How many events the user has.
  [[nodiscard]] std::uint32_t count_of(std::uint32_t uid) const {
    const auto own = events_of_.find(uid);
    return own == events_of_.end() ? 0 : own->second;
  }
  [[nodiscard]] Event* at(std::uint32_t slot);
  // One that no event gets, for what is listed among them.
  [[nodiscard]] std::uint64_t take_serial() { return next_serial_++; }
  // The serial that the next event gets.
  [[nodiscard]] std::uint64_t next_serial() const { return next_serial_; }
  // When the slot's event, or the one that was there last, was made (a raw time): older records are of another one.
  [[nodiscard]] std::uint64_t made_at(std::uint32_t slot) const { return slot < made_at_.size() ? made_at_[slot] : 0; }
  // By system and shown name; nullptr if there is none.
  [[nodiscard]] Event* find(std::string_view system, std::string_view name);
  // In the order in which they were registered.
  [[nodiscard]] std::vector<Event*> all();

  // ftrace:print: what is written to trace_marker. It is always there, always recorded, and may have triggers; nobody
  // enables, filters or removes it, so neither find() nor all() knows it.
  [[nodiscard]] Event& print() { return *slots_[plan::kPrintSlot]; }
  [[nodiscard]] Event* find_or_print(std::string_view system, std::string_view name);
  [[nodiscard]] std::vector<Event*> all_and_print();

 private:
  Result<std::uint32_t> take_slot();
  Result<Event*> make(std::string_view text, std::uint16_t flags, std::uint32_t uid, std::string name);
  Result<Event*> enter(std::unique_ptr<Event> event, const event::Declaration& declaration);
  Result<void> describe(const Event& event, const event::Declaration& declaration);
  void destroy(Event& event);
  void count(EventUsers::User& user, bool counts);
  const std::string& take_system(std::string_view name);
  void let_go_of_system(const std::string& name);
  [[nodiscard]] Result<void> check_limit(const Event* found, std::uint32_t uid, std::uint32_t limit);
  void set_description(std::uint32_t slot, std::uint32_t text, std::uint32_t size);
  [[nodiscard]] Event* find_registered(const event::DeclarationParts& parts, bool multi, Match match, bool& taken);

  ControlMemory& control_;
  Grace& grace_;
  StatusPages& pages_;
  RulesLink& rules_;
  std::map<std::string, std::uint32_t, std::less<>> systems_;  // how many events each has
  std::vector<std::unique_ptr<Event>> slots_;
  // Generations of slots begin elsewhere in each domain and in each slot: a program that moves from one owner to the
  // next does not take another event for its own.
  std::uint32_t first_generation_ = 0;
  std::vector<std::uint64_t> made_at_;    // by slot
  std::vector<std::uint32_t> order_;      // slots by registration
  std::deque<std::uint32_t> free_slots_;  // first in, first out: an old record keeps its meaning for long
  SlotIndex by_registered_name_;
  SlotIndex by_shown_name_;
  std::unordered_map<std::uint32_t, std::uint32_t> events_of_;  // how many, by uid
  std::uint32_t owner_uid_ = 0;
  EventPlans* plans_ = nullptr;
  std::uint64_t next_multi_ = 0;
  std::uint64_t next_serial_ = 1;
  Journal* journal_ = nullptr;
};

}  // namespace landtrace::domain
