#include "domain/domain.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "rules/probes.hpp"
#include "domain/reaper.hpp"
#include "event/name_flags.hpp"

namespace landtrace::domain {
namespace {

constexpr std::uint32_t kMinClaimed = 8;
constexpr std::uint64_t kMinDataBytes = 1ull << 30;
constexpr std::chrono::milliseconds kPatience{200};  // with producers that are stopped in the middle
constexpr std::uint64_t kInstancesOfTopSize = 8;     // room in the arena; sparse

Result<void> check_bit(const Domain::RegisterRequest& request) {
  if (request.size != 4 && request.size != 8) return fail(EINVAL, "an enable word has 4 or 8 bytes");
  if (request.bit.bit >= request.size * 8) return fail(EINVAL, "the bit is not in the enable word");
  if (request.bit.address % request.size != 0) return fail(EINVAL, "the enable word is not aligned");
  return {};
}

}  // namespace

Domain::Domain(ControlMemory control, StatusPages pages, std::uint64_t data_bytes, std::uint32_t owner_uid)
    : owner_uid_(owner_uid), control_(std::move(control)), pages_(std::move(pages)), users_(data_bytes) {
  events_.set_on_removal([this](Event& event) {
    pages_.give_back(Page::kBits, std::exchange(event.status_bit, 0));
    pages_.give_back(Page::kBytes, std::exchange(event.status_byte, 0));
    for (Instance* const instance : instances_.all()) drop_event_file(*instance, event);
    let_go_of_base(*this, event);
  });
}

Result<std::unique_ptr<Domain>> Domain::create(const Options& options) {
  const auto cpus = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
  const std::uint32_t claimed = std::max(kMinClaimed, cpus);
  const auto geometry = ring::Geometry::holding(options.ring_bytes);
  const std::uint64_t data_bytes =
      std::max(kMinDataBytes, sizeof(plan::DataSegment) + kInstancesOfTopSize * geometry.stride() * (cpus + claimed));
  LT_TRY(ControlMemory control, ControlMemory::create({static_cast<std::uint32_t>(options.raw_clock), cpus, claimed,
                                                       data_bytes, options.abi}));
  LT_TRY(StatusPages pages, StatusPages::create());
  std::unique_ptr<Domain> domain(new Domain(std::move(control), std::move(pages), data_bytes, options.owner_uid));
  LT_TRY([[maybe_unused]] Instance* const top, domain->instances_.create("", geometry, true, true));
  return domain;
}

Result<void> Domain::give_place(Event& event, Page page) {
  std::uint32_t& place = page == Page::kBits ? event.status_bit : event.status_byte;
  if (place != 0) return {};
  LT_TRY(place, pages_.take(page));
  pages_.set(page, place, event.listeners.any());
  events_.write_down(event);
  return {};
}

void Domain::show_listeners(const std::vector<Event*>& events) {
  enable_words_.refresh(events);
  for (const Event* const event : events) {
    pages_.set(Page::kBits, event->status_bit, event->listeners.any());
    pages_.set(Page::kBytes, event->status_byte, event->listeners.any());
  }
}

Result<Event*> Domain::find_or_register(std::string_view text, std::uint16_t flags, std::uint32_t uid,
                                        Events::Match match) {
  std::string bare;
  if (abi() == abi::Version::k6_1) text = bare = event::without_flags(text);
  if ((flags & ~(kPersist | kMultiFormat)) != 0) return fail(EINVAL, "unknown registration flags");
  if ((flags & kPersist) != 0 && is_guest(uid)) return fail(EPERM, "only the domain's user may make events that stay");
  const std::uint32_t limit = is_guest(uid) ? kGuestEvents : plan::kMaxEvents;
  auto registration = events_.register_event(text, flags, uid, limit, match);
  if (!registration && registration.error().code == EADDRINUSE) {
    enable_words_.sweep();  // the one that has the name may be gone
    registration = events_.register_event(text, flags, uid, limit, match);
  }
  if (!registration) return tl::unexpected<Error>(std::move(registration).error());
  Event& event = *registration->event;
  if (!registration->made) return &event;
  LT_CHECK(listen_as_selected(event));
  // There every event has a bit; one more than the page holds does without, and nobody finds it by one.
  if (abi() == abi::Version::k6_1) std::ignore = give_place(event, Page::kBits);
  return &event;
}

// Of programs for a kernel where events stay until they are deleted.
Result<Event*> Domain::find_or_register_lasting(std::string_view text, std::uint32_t uid, Events::Match match) {
  const bool may_last = !is_guest(uid);
  LT_TRY(Event* const event, find_or_register(text, may_last ? kPersist : 0, uid, match));
  if (may_last) events_.make_lasting(*event);
  return event;
}

Result<Domain::StatusRegistration> Domain::register_status_bit(FileId file, std::string_view text, std::uint32_t uid) {
  LT_CHECK(files_.check(file, Files::Form::kIndexed));
  const auto match = abi() == abi::Version::k6_1 ? Events::Match::kByName : Events::Match::kByFields;
  LT_TRY(Event* const event, find_or_register_lasting(text, uid, match));
  const Events::Hold hold(events_, *event);
  LT_CHECK(give_place(*event, Page::kBits));
  LT_TRY(const std::uint32_t index, files_.add_event(file, *event));
  return StatusRegistration{index, event->status_bit};
}

Result<std::uint32_t> Domain::register_plain(FileId file, std::string_view text, std::uint32_t uid) {
  LT_CHECK(files_.check(file, Files::Form::kPlain));
  LT_TRY(Event* const event, find_or_register_lasting(text, uid, Events::Match::kByFields));
  const Events::Hold hold(events_, *event);
  LT_CHECK(give_place(*event, Page::kBytes));
  LT_CHECK(files_.set_plain_event(file, *event));
  return event->status_byte;
}

Result<std::uint32_t> Domain::register_for_file(FileId file, std::uint32_t pid, Identity client,
                                                const RegisterRequest& request) {
  LT_CHECK(files_.check(file, Files::Form::kIndexed));
  if ((request.flags & ~(kPersist | kMultiFormat)) != 0) return fail(EINVAL, "unknown registration flags");
  LT_CHECK(check_bit(request));
  LT_CHECK(enable_words_.check_unused(pid, client, request.bit, request.claim));
  if (request.text_error != 0) return fail(request.text_error, "the declaration could not be read");
  LT_TRY(Event* const event, find_or_register(request.text, request.flags, client.uid));
  const Events::Hold hold(events_, *event);
  LT_TRY(const std::uint32_t index, files_.add_event(file, *event));
  // The file keeps its reference also where the word turns out not to be writable, as in the kernel.
  LT_CHECK(enable_words_.add(pid, client, request.bit, *event, request.claim));
  return index;
}

Result<void> Domain::unregister(std::uint32_t pid, Identity client, EnableBit bit) {
  return enable_words_.remove(pid, client, bit);
}

Result<void> Domain::remove_event(std::string_view name, std::uint32_t uid) {
  enable_words_.sweep();
  return events_.remove(name, uid);
}

Result<void> Domain::forked(std::uint32_t parent, std::uint32_t child, Identity client) {
  return enable_words_.duplicate(parent, child, client);
}

Result<std::uint32_t> Domain::register_native(std::string_view text, std::uint16_t flags, std::uint32_t uid) {
  LT_TRY(Event* const event, find_or_register(text, flags, uid));
  events_.add_reference(*event);
  return event->slot;
}

Result<Event*> Domain::add_event(std::string system, event::Declaration declaration, std::string text,
                                 std::uint32_t uid) {
  if (is_guest(uid)) return fail(EPERM, "only the domain's user may make events that stay");
  LT_TRY(Event* const event, events_.add(std::move(system), std::move(declaration), std::move(text), uid));
  if (auto listened = listen_as_selected(*event); !listened) {
    std::ignore = events_.remove(*event, uid);
    return tl::unexpected<Error>(std::move(listened).error());
  }
  return event;
}

Result<std::uint32_t> Domain::attach_native(std::string_view system, std::string_view name) {
  Event* const event = events_.find(system, name);
  if (event == nullptr) return fail(ENOENT, fmt::format("there is no event {}:{}", system, name));
  events_.add_reference(*event);
  return event->slot;
}

Result<void> Domain::listen_pattern(Instance& instance, const Pattern& pattern, bool on) {
  std::erase_if(instance.selections, [&](const Selection& other) { return other.pattern.text() == pattern.text(); });
  if (on) return select(instance, {pattern, {}, {}});
  std::vector<Event*> matching = events_.all();
  std::erase_if(matching, [&](const Event* event) { return !pattern.matches(event->system, event->name); });
  return listen(instance, matching, false);
}

void Domain::settle(std::chrono::milliseconds limit) {
  grace_.after_readers([] {});
  grace_.drain(limit);
}

void Domain::quiesce(Instance& instance) {
  instance.selections.clear();
  drop_event_files(instance);
  std::ignore = listen(instance, events_.all(), false);
  settle(kPatience);
}

void Domain::destroy_instance(std::uint32_t index) {
  Instance* const instance = instances_.at(index);
  if (instance == nullptr || index == 0) return;
  instance->selections.clear();
  drop_event_files(*instance);
  std::ignore = listen(*instance, events_.all(), false);
  instances_.destroy(index);
}

Result<std::uint32_t> Domain::join(std::uint32_t uid) {
  LT_TRY(const std::uint32_t user, users_.find_or_create(uid));
  const auto count = static_cast<std::uint32_t>(users_.all().size());
  if (control_.segment().user_count == count) return user;
  cells_.spread();
  attention_.watch(&users_.all()[user].data().attention);
  // Without an acquire as its partner: tell_others(), plan/triggers.cc, reads it without an order. A cell that a
  // producer changes meanwhile, and does not tell of, is carried over since watch() makes the owner look once more.
  __atomic_store_n(&control_.segment().user_count, count, __ATOMIC_RELEASE);
  return user;
}

// What changed about an instance reaches the plans of all events that it listens to.
Result<void> Domain::publish_listeners(const Instance& instance) {
  for (Event* const event : events_.all()) {
    if (event->listeners[instance.index]) LT_CHECK(publish(*event));
  }
  return {};
}

Result<void> Domain::set_flip(Instance& instance, std::optional<Flip> flip) {
  const RingPlace place = instance.place;
  const std::optional<Flip> old = std::exchange(instance.flip, std::move(flip));
  const std::optional<Flip>& rings = instance.flip ? instance.flip : old;
  instance.place = rings->places[cells_.count_of(rings->counter) & 1];
  if (auto published = publish_listeners(instance); !published) {
    instance.place = place;
    instance.flip = old;
    std::ignore = publish_listeners(instance);
    return published;
  }
  const bool counter_stays = old && instance.flip && old->counter == instance.flip->counter;
  if (old && !counter_stays) grace_.after_readers([this, cell = old->counter] { cells_.give_back(cell); });
  return {};
}

Result<RingPlace> Domain::replace_rings(Instance& instance, ring::Geometry geometry) {
  LT_TRY(const RingPlace next, instances_.make_place(geometry, instance.place.overwrite));
  auto old = exchange_rings(instance, next);
  if (!old) grace_.after_readers([this, next] { instances_.free_place(next); });
  return old;
}

Result<RingPlace> Domain::exchange_rings(Instance& instance, const RingPlace& next) {
  const RingPlace old = std::exchange(instance.place, next);
  if (auto published = publish_listeners(instance); !published) {
    instance.place = old;
    std::ignore = publish_listeners(instance);
    return tl::unexpected<Error>(std::move(published).error());
  }
  settle(kPatience);
  return old;
}

void Domain::producers_ended() { reap(users_, instances_); }

bool Domain::maintain() {
  const bool waiting = enable_words_.sweep();
  if (const auto due = next_deadline(); due && std::chrono::steady_clock::now() >= *due) let_go_of_waiting_events();
  return grace_.poll() || waiting;
}

void Domain::shut_down() {
  enable_words_.clear_all();
  for (Event* const event : events_.all()) {
    std::ignore = events_.publish_plan(*event, {});
    pages_.set(Page::kBits, event->status_bit, false);
    pages_.set(Page::kBytes, event->status_byte, false);
  }
  if (journal_ && successor_ == Successor::kMayCome && is_anything_to_take_over()) return journal_->leave();
  if (journal_) journal_->end();
  pages_.remove_files();
}

}  // namespace landtrace::domain
