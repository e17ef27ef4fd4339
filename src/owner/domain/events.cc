#include "domain/events.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "arch/clock.hpp"
#include "event/description.hpp"

namespace landtrace::domain {
namespace {

// Ids start where no kernel's are, so that perf, which takes one for the kernel's, fails cleanly; and they fit 15 bits,
// because KernelShark shows no name for an id beyond them.
std::uint16_t id_of_slot(std::uint32_t slot) {
  constexpr std::uint32_t kFirst = 16384;
  static_assert(kFirst + plan::kMaxEvents <= 32768);
  return static_cast<std::uint16_t>(kFirst + slot - plan::kFirstEventSlot);
}

constexpr std::uint32_t kGoldenRatio = 0x9e3779b1;

// Of what is one user's and not yet free: whoever registers and lets go faster than slots become free leaves others
// theirs.
constexpr std::size_t kMaxWaiting = 4096;

std::unique_ptr<Event> make_print(const std::string& system) {
  auto event = std::make_unique<Event>(system);
  event->slot = plan::kPrintSlot;
  event->name = "print";
  event->flags = kPersist;
  event->defined = std::make_unique<Event::Defined>();
  event::Declaration& declaration = event->defined->declaration;
  declaration.name = event->name;
  // The text ends where the payload does.
  declaration.fields = {
      {"unsigned long", "ip", abi::kEntryHeaderSize, sizeof(std::uint64_t), false, event::FieldKind::kInteger},
      {"char[]", "buf", abi::kEntryHeaderSize + sizeof(std::uint64_t), kMaxMarker, true, event::FieldKind::kCharArray}};
  declaration.min_size = sizeof(std::uint64_t);
  return event;
}

std::unique_ptr<const char[]> copy_of(std::string_view text) {
  auto copy = std::make_unique<char[]>(text.size() + 1);
  std::copy(text.begin(), text.end(), copy.get());
  return copy;
}

std::uint32_t hash_of(const Event& event) { return SlotIndex::hash_of(event.name); }
std::uint32_t registered_hash_of(const Event& event) { return SlotIndex::hash_of(event.registered_name()); }

}  // namespace

std::string_view Event::registered_name() const {
  const std::string_view shown = name;
  return is_user_event() && (flags & kMultiFormat) != 0 ? shown.substr(0, shown.rfind('.')) : shown;
}

std::string Event::text() const {
  if (defined) return defined->text;
  std::string text(registered_name());
  if (fields[0] != 0) text.append(1, ' ').append(fields.get());
  return text;
}

std::shared_ptr<const event::Declaration> Event::declaration() const {
  if (defined) return {std::shared_ptr<void>(), &defined->declaration};
  return std::make_shared<const event::Declaration>(*event::parse_declaration(text()));
}

Events::Events(ControlMemory& control, Grace& grace, StatusPages& pages, RulesLink& rules)
    : control_(control), grace_(grace), pages_(pages), rules_(rules), slots_(plan::kFirstEventSlot) {
  if (::getrandom(&first_generation_, sizeof first_generation_, 0) < 0) first_generation_ = kGoldenRatio;
  slots_[plan::kPrintSlot] = make_print(take_system("ftrace"));
  control_.segment().events[plan::kPrintSlot].id = plan::kPrintId;
}

Event* Events::at(std::uint32_t slot) { return slot < slots_.size() ? slots_[slot].get() : nullptr; }

Event* Events::find(std::string_view system, std::string_view name) {
  const std::uint32_t slot = by_shown_name_.find(SlotIndex::hash_of(name), [&](std::uint32_t candidate) {
    return slots_[candidate]->name == name && slots_[candidate]->system == system;
  });
  return slot == SlotIndex::kNone ? nullptr : slots_[slot].get();
}

Event* Events::find_or_print(std::string_view system, std::string_view name) {
  return system == print().system && name == print().name ? &print() : find(system, name);
}

std::vector<Event*> Events::all_and_print() {
  std::vector<Event*> events = all();
  events.push_back(&print());
  return events;
}

std::vector<Event*> Events::all() {
  std::vector<Event*> events;
  events.reserve(order_.size());
  for (const std::uint32_t slot : order_) events.push_back(slots_[slot].get());
  return events;
}

Event* Events::find_registered(const event::DeclarationParts& parts, bool multi, Match match, bool& taken) {
  taken = false;
  const std::uint32_t slot = by_registered_name_.find(SlotIndex::hash_of(parts.name), [&](std::uint32_t candidate) {
    const Event& event = *slots_[candidate];
    if (event.registered_name() != parts.name || ((event.flags & kMultiFormat) != 0) != multi) return false;
    // The same text is what most programs come with.
    if (match == Match::kByName || parts.fields == event.fields.get()) return true;
    if (declares_same_fields(*event.declaration(), parts.fields)) return true;
    taken = !multi;
    return false;
  });
  return slot == SlotIndex::kNone ? nullptr : slots_[slot].get();
}

// One user's programs that are stopped in the middle of an event must not use the domain up either: what waits for them
// counts, also where the user has no other limit.
Result<void> Events::check_limit(const Event* found, std::uint32_t uid, std::uint32_t limit) {
  const auto is_counted = [uid](const EventUsers::User& user) { return user.uid == uid && user.counts; };
  if (found != nullptr && found->users.any_of(is_counted)) return {};
  if (grace_.waiting_of(uid) >= kMaxWaiting) grace_.poll();
  const std::size_t held = grace_.held_by(uid), waiting = grace_.waiting_of(uid);
  if (count_of(uid) + held < limit && waiting < kMaxWaiting) return {};
  if (waiting == 0) return fail(ENOSPC, fmt::format("a user of the domain may have {} events", limit));
  return fail(ENOSPC,
              fmt::format("a user of the domain may have {} events, and {} things of uid {} wait for a program that "
                          "is in the middle of one",
                          limit, waiting, uid));
}

const std::string& Events::take_system(std::string_view name) {
  auto known = systems_.find(name);
  if (known == systems_.end()) known = systems_.emplace(name, 0).first;
  ++known->second;
  return known->first;
}

void Events::let_go_of_system(const std::string& name) {
  const auto known = systems_.find(name);
  if (--known->second == 0) systems_.erase(known);
}

void Events::count(EventUsers::User& user, bool counts) {
  if (std::exchange(user.counts, counts) == counts) return;
  std::uint32_t& events = events_of_[user.uid];
  events += counts ? 1 : -1;
  if (events == 0) events_of_.erase(user.uid);
}

// What is not registered by programs is reached from other events, whosoever.
Holders Events::holders_of(const Event& event) {
  if (!event.is_user_event()) return Holders::anybody();
  return Holders::these(event.users.uids());
}

Result<std::uint32_t> Events::take_slot() {
  if (slots_.size() < plan::kMaxEvents) {
    slots_.emplace_back();
    const auto slot = static_cast<std::uint32_t>(slots_.size() - 1);
    // Pairs with the acquire loads in EventTable::refresh(), buffer/event_table.cc, and of the command line's lists.
    __atomic_store_n(&control_.segment().event_high, slot + 1, __ATOMIC_RELEASE);
    return slot;
  }
  if (free_slots_.empty()) grace_.poll();
  if (free_slots_.empty()) {
    return fail(ENOSPC, fmt::format("the domain has {} events, as many as it can", plan::kMaxEvents));
  }
  const std::uint32_t slot = free_slots_.front();
  free_slots_.pop_front();
  plan::EventSlot& shared = control_.segment().events[slot];
  // Before the texts are touched: whoever is reading them sees afterwards that they were not the old ones any more. The
  // fence pairs with the acquire fence in copy_slot_text(), buffer/event_table.cc.
  publish(shared.generation, shared.generation + 1);
  std::atomic_thread_fence(std::memory_order_release);
  control_.free(shared.text);
  control_.free(shared.checks);
  set_description(slot, 0, 0);
  shared = {.plan = 0,
            .generation = shared.generation,
            .min_size = 0,
            .checks = 0,
            .check_count = 0,
            .id = 0,
            .text = 0,
            .text_size = 0,
            .registered = 0};
  return slot;
}

// Writes what producers and consumers need to know into the control segment.
Result<void> Events::describe(const Event& event, const event::Declaration& declaration) {
  plan::EventSlot& shared = control_.segment().events[event.slot];
  std::string text = event.system;
  text.append(1, '\0').append(event.name).append(1, '\0').append(fields_text(declaration)).append(1, '\0');
  text.append(flavour_text(declaration)).append(1, '\0');
  const auto checks = dynamic_field_checks(declaration);
  LT_TRY(const std::uint32_t text_at, control_.store(std::as_bytes(std::span(text))));
  const auto checks_at = control_.store(std::as_bytes(std::span(checks)));
  if (!checks_at) {
    control_.free(text_at);
    return tl::unexpected<Error>(checks_at.error());
  }
  shared.min_size = declaration.min_size;
  shared.check_count = static_cast<std::uint16_t>(checks.size());
  shared.checks = *checks_at;
  shared.id = id_of_slot(event.slot);
  shared.text_size = static_cast<std::uint32_t>(text.size());
  // The texts, then the generation: copy_slot_text() and emits find all of this event once they see its generation. The
  // count of changes pairs with the acquire load in EventTable::refresh().
  publish(shared.registered, 1);
  publish(shared.text, text_at);
  // 0 is a slot that was never used.
  const std::uint32_t first = std::max(first_generation_ + event.slot * kGoldenRatio, 1u);
  publish(shared.generation, shared.generation == 0 ? first : shared.generation + 1);
  __atomic_fetch_add(&control_.segment().event_changes, 1, __ATOMIC_RELEASE);
  return {};
}

Result<Events::Registration> Events::register_event(std::string_view text, std::uint16_t flags, std::uint32_t uid,
                                                    std::uint32_t limit, Match match) {
  const bool multi = (flags & kMultiFormat) != 0;
  LT_TRY(const event::DeclarationParts parts, event::split_declaration(text));
  bool taken = false;
  if (Event* const found = find_registered(parts, multi, match, taken)) {
    LT_CHECK(check_limit(found, uid, limit));
    return Registration{found, false};
  }
  if (taken) return fail(EADDRINUSE, fmt::format("event '{}' exists with other fields", parts.name));
  if (!multi && find(kSystem, parts.name) != nullptr) {
    return fail(EADDRINUSE, fmt::format("there is an event probe {}/{}", kSystem, parts.name));
  }
  if (auto may = check_limit(nullptr, uid, limit); !may) {
    LT_CHECK(event::parse_declaration(text));  // a bad one is worse
    return tl::unexpected<Error>(std::move(may).error());
  }
  LT_TRY(Event* const event,
         make(text, flags, uid, multi ? fmt::format("{}.{:x}", parts.name, next_multi_) : std::string(parts.name)));
  if (multi) ++next_multi_;
  write_down(*event);
  return Registration{event, true};
}

Result<Event*> Events::make(std::string_view text, std::uint16_t flags, std::uint32_t uid, std::string name) {
  LT_TRY(const event::Declaration declaration, event::parse_declaration(text));
  LT_TRY(const event::DeclarationParts parts, event::split_declaration(text));
  auto event = std::make_unique<Event>(take_system((flags & kMultiFormat) != 0 ? kMultiSystem : kSystem));
  event->name = std::move(name);
  event->fields = copy_of(parts.fields);
  event->flags = flags;
  event->uid = uid;
  return enter(std::move(event), declaration);
}

Result<Event*> Events::add(std::string_view system, event::Declaration declaration, std::string text,
                           std::uint32_t uid) {
  if (find(system, declaration.name) != nullptr) {
    return fail(EEXIST, fmt::format("there is an event {}:{}", system, declaration.name));
  }
  auto event = std::make_unique<Event>(take_system(system));
  event->name = declaration.name;
  event->kind = declaration.flavour;
  event->flags = kPersist;
  event->uid = uid;
  event->defined = std::make_unique<Event::Defined>();
  event->defined->declaration = std::move(declaration);
  event->defined->text = std::move(text);
  const auto declared = event->declaration();
  return enter(std::move(event), *declared);
}

Result<Event*> Events::enter(std::unique_ptr<Event> event, const event::Declaration& declaration) {
  const auto slot_taken = take_slot();
  if (!slot_taken) {
    let_go_of_system(event->system);
    return tl::unexpected<Error>(slot_taken.error());
  }
  const std::uint32_t slot = *slot_taken;
  event->slot = slot;
  event->serial = next_serial_++;
  if (auto described = describe(*event, declaration); !described) {
    free_slots_.push_front(slot);
    let_go_of_system(event->system);
    return tl::unexpected<Error>(std::move(described).error());
  }
  event->of_guest = event->uid != 0 && event->uid != owner_uid_;
  count(event->users.of(event->uid), true);
  slots_[slot] = std::move(event);
  made_at_.resize(slots_.size());
  made_at_[slot] = arch::read_raw_clock(static_cast<arch::RawClock>(control_.segment().raw_clock));
  order_.push_back(slot);
  Event& entered = *slots_[slot];
  if (entered.is_user_event()) by_registered_name_.insert(registered_hash_of(entered), slot);
  by_shown_name_.insert(hash_of(entered), slot);
  return &entered;
}

Result<Event*> Events::restore(const SavedEvent& saved) {
  LT_TRY(const event::DeclarationParts parts, event::split_declaration(saved.text));
  const bool multi = (saved.flags & kMultiFormat) != 0;
  const bool sound = multi ? saved.name.starts_with(std::string(parts.name) + ".") : saved.name == parts.name;
  if (!sound || find(multi ? kMultiSystem : kSystem, saved.name) != nullptr) {
    return fail(EINVAL, "an event under a name that is not its own");
  }
  LT_TRY(Event* const event, make(saved.text, saved.flags, saved.uid, saved.name));
  write_down(*event);
  return event;
}

namespace {

// What it is made by again: of a probe of functions one line for each of its places. "": nothing is kept of it.
std::string definition_of(const Event& event) {
  if (event.flavour() == event::Flavour::kEventProbe) return event.defined->command;
  if (!event::is_function_probe(event.flavour())) return event.text();
  std::string lines;
  for (const Event::Definition& each : event.defined->definitions) {
    if (!each.command.empty()) lines += each.command + '\n';
  }
  return lines;
}

}  // namespace

void Events::write_down(const Event& event) {
  const std::string definition = journal_ == nullptr ? "" : definition_of(event);
  if (definition.empty()) return;
  journal_->event_made({event.slot, event.flags, event.uid, event.name, event.flavour(), definition, event.status_bit,
                        event.status_byte},
                       next_multi_);
}

// The text is touched between two odd and even versions: see plan::SlotDescription.
void Events::set_description(std::uint32_t slot, std::uint32_t text, std::uint32_t size) {
  plan::SlotDescription& shared = control_.segment().descriptions[slot];
  const std::uint32_t old = shared.text;
  if (old == 0 && text == 0) return;
  publish(shared.version, shared.version + 1);
  // Pairs with the acquire fence in copy_description(), buffer/event_table.cc.
  std::atomic_thread_fence(std::memory_order_release);
  if (old != 0) control_.free(old);
  __atomic_store_n(&shared.text, text, __ATOMIC_RELAXED);
  __atomic_store_n(&shared.size, size, __ATOMIC_RELAXED);
  publish(shared.version, shared.version + 1);
}

Result<void> Events::describe_structs(Event& event, std::string_view description) {
  if (!event::is_description(description)) return fail(EINVAL, "want a description in one line of at most 4 KiB");
  const plan::SlotDescription& shared = control_.segment().descriptions[event.slot];
  if (description.empty()) return {};
  const bool is_known = shared.text != 0 && shared.size == description.size() &&
                        std::memcmp(control_.at(shared.text), description.data(), description.size()) == 0;
  if (is_known) return {};
  LT_TRY(const std::uint32_t text, control_.store(std::as_bytes(std::span(description))));
  set_description(event.slot, text, static_cast<std::uint32_t>(description.size()));
  // Pairs with the acquire load in EventTable::refresh().
  __atomic_fetch_add(&control_.segment().event_changes, 1, __ATOMIC_RELEASE);
  return {};
}

Result<void> Events::give_place(Event& event, Page page) {
  std::uint32_t& place = page == Page::kBits ? event.status_bit : event.status_byte;
  if (place != 0) return {};
  LT_TRY(place, pages_.take(page));
  pages_.set(page, place, event.listeners.any());
  write_down(event);
  return {};
}

void Events::give_place_again(Event& event, Page page, std::uint32_t place) {
  if (!pages_.take_again(page, place)) return;
  (page == Page::kBits ? event.status_bit : event.status_byte) = place;
  pages_.set(page, place, event.listeners.any());
  write_down(event);
}

void Events::make_lasting(Event& event) {
  if ((event.flags & kPersist) != 0) return;
  event.flags |= kPersist;
  write_down(event);
}

void Events::add_reference(Event& event, std::uint32_t uid) {
  add_reference(event);
  ++event.users.of(uid).references;
  event.users.for_each([this](EventUsers::User& user) { count(user, user.references > 0); });
}

void Events::drop_reference(std::uint32_t slot, std::uint32_t uid) {
  Event* const event = at(slot);
  if (event == nullptr) return;
  EventUsers::User& own = event->users.of(uid);
  if (own.references > 0) --own.references;
  const bool is_last = !event->users.any_of([](const EventUsers::User& user) { return user.references > 0; });
  if (own.references == 0 && !is_last) count(own, false);
  drop_reference(slot);
}

void Events::drop_reference(std::uint32_t slot) {
  Event* const event = at(slot);
  if (event == nullptr) return;
  if (event->references > 0) --event->references;
  if (!event->in_use() && (event->flags & kPersist) == 0) destroy(*event);
}

Result<void> Events::check_removable(const Event& event, std::uint32_t uid) {
  if (event.in_use()) return fail(EBUSY, fmt::format("event '{}' is in use", event.name));
  if (uid != 0 && uid != event.uid) return fail(EPERM, fmt::format("event '{}' is another user's", event.name));
  return {};
}

Result<void> Events::remove(Event& event, std::uint32_t uid) {
  LT_CHECK(check_removable(event, uid));
  destroy(event);
  return {};
}

Result<void> Events::remove(std::string_view registered_name, std::uint32_t uid) {
  std::vector<Event*> victims;
  std::ignore = by_registered_name_.find(SlotIndex::hash_of(registered_name), [&](std::uint32_t slot) {
    if (slots_[slot]->registered_name() == registered_name) victims.push_back(slots_[slot].get());
    return false;  // all of them
  });
  if (victims.empty()) return fail(ENOENT, fmt::format("no event '{}'", registered_name));
  for (const Event* const event : victims) LT_CHECK(check_removable(*event, uid));
  for (Event* const event : victims) destroy(*event);
  return {};
}

void Events::destroy(Event& event) {
  const std::uint32_t slot = event.slot;
  ++event.references;  // whoever takes its rules away holds it for a moment, and lets go of it
  if (event.listeners.any()) {
    event.listeners.reset();
    if (plans_ != nullptr) plans_->withdraw(event);
  }
  pages_.give_back(Page::kBits, std::exchange(event.status_bit, 0));
  pages_.give_back(Page::kBytes, std::exchange(event.status_byte, 0));
  rules_->gone(event);
  if (journal_ != nullptr) journal_->event_gone(slot);
  if (event.is_user_event()) by_registered_name_.erase(registered_hash_of(event), slot);
  by_shown_name_.erase(hash_of(event), slot);
  std::erase(order_, slot);
  const Holders holders = holders_of(event);
  event.users.for_each([this](EventUsers::User& user) { count(user, false); });
  // Pairs with the acquire load in EventTable::refresh().
  publish(control_.segment().events[slot].registered, 0);
  __atomic_fetch_add(&control_.segment().event_changes, 1, __ATOMIC_RELEASE);
  let_go_of_system(event.system);
  slots_[slot].reset();
  // The slot's texts stay until it is taken again: rings may still hold records of this event.
  grace_.after_readers([this, slot] { free_slots_.push_back(slot); }, holders);
}

}  // namespace landtrace::domain
