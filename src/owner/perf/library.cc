#include "perf/library.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "buffer/event_table.hpp"
#include "language/filter/compile.hpp"
#include "perf/attr.hpp"

namespace landtrace::perf {
namespace {

constexpr std::size_t kLongestFilter = 4096;
// Samples carry the number; the kernel's own count from 1.
constexpr std::uint64_t kFirstId = 1ull << 40;
constexpr std::uint64_t kSampleClocksAfter_ns = 50'000'000;
constexpr std::uint64_t kLookForEndsAfter_ns = 50'000'000;

bool is_dummy(const perf_event_attr& attr) {
  return attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_DUMMY;
}

// A descriptor of ours has a number that the program does not count on.
Fd out_of_the_way(int fd) {
  constexpr int kFrom = 512;
  const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, kFrom);
  return Fd(high >= 0 ? high : ::fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

Result<void> check_filter(const buffer::SlotText& text, const std::string& filter, std::uint32_t cpus) {
  LT_TRY(const output::EventType type, buffer::type_of(text));
  const auto program = language::compile_filter(filter, {type.declaration.fields, cpus});
  if (!program) return fail(EINVAL);
  return {};
}

}  // namespace

bool Library::watches_memory = false;
bool Library::awaits_exec = false;
bool Library::is_sampling = false;

Library& Library::get() {
  static Library* const library = new Library();  // a program may end while it polls in another thread
  return *library;
}

Result<void> Library::connect(const std::string& socket) {
  if (view_ && !view_->owner_died()) return {};
  LT_TRY(consumer::DomainView view, consumer::DomainView::connect(socket));
  socket_ = socket;
  view_ = std::make_unique<consumer::DomainView>(std::move(view));
  if (!births_) births_ = std::make_unique<Births>();
  clocks_ = std::make_unique<SampleClocks>(static_cast<arch::RawClock>(view_->control().raw_clock));
  return {};
}

std::optional<Tracepoint> Library::find_tracepoint(std::uint64_t id) {
  const plan::ControlSegment& control = view_->control();
  // Pairs with the release store in the owner's Events: the slots below are complete.
  const std::uint32_t end = std::min(__atomic_load_n(&control.event_high, __ATOMIC_ACQUIRE), plan::kMaxEvents);
  for (std::uint32_t slot = plan::kFirstEventSlot; slot < end; ++slot) {
    if (control.events[slot].id != id || __atomic_load_n(&control.events[slot].registered, __ATOMIC_RELAXED) == 0) {
      continue;
    }
    const auto text = buffer::copy_slot_text(control, slot);
    if (!text || text->id != id) continue;
    const auto type = buffer::type_of(*text);
    if (type) return Tracepoint{slot, type->id, type->system, type->name};
  }
  return std::nullopt;
}

Event* Library::find(std::uint32_t handle) {
  const auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

std::vector<Event*> Library::group_of(const Event& leader) {
  std::vector<Event*> group;
  for (const auto& [handle, event] : events_) {
    if (event->leader == leader.handle) group.push_back(event.get());
  }
  return group;
}

Result<std::unique_ptr<Event>> Library::make_event(const ipc::PerfOpen& wanted, const perf_event_attr& attr) {
  constexpr std::uint64_t kKnownFlags =
      PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC;
  if ((wanted.flags & ~kKnownFlags) != 0) return fail(EINVAL);
  if ((wanted.flags & PERF_FLAG_PID_CGROUP) != 0) return fail(EOPNOTSUPP);
  if (wanted.pid < -1 || wanted.cpu < -1 || (wanted.pid == -1 && wanted.cpu == -1)) return fail(EINVAL);
  if (wanted.cpu >= 0 && static_cast<std::uint32_t>(wanted.cpu) >= view_->cpus()) return fail(ENODEV);
  LT_CHECK(check_attr(attr));
  auto event = std::make_unique<Event>();
  event->handle = next_handle_;
  event->id = kFirstId + next_handle_;
  event->leader = next_handle_;
  event->attr = attr;
  event->cpu = wanted.cpu;
  event->clock = clocks_->find(attr);
  if (event->clock == nullptr) return fail(EINVAL);
  // A rate is as many samples as there are events.
  event->period = attr.freq != 0 ? 1 : std::max<std::uint64_t>(attr.sample_period, 1);
  event->until_sample = event->period;
  if (wanted.pid >= 0) {
    const auto tid = static_cast<std::uint32_t>(wanted.pid == 0 ? ::gettid() : wanted.pid);
    if (::kill(static_cast<pid_t>(tid), 0) != 0 && errno == ESRCH) return fail(ESRCH);
    event->target.emplace(*births_, tid, attr.inherit != 0);
  }
  if (wanted.has_group && (wanted.flags & PERF_FLAG_FD_NO_GROUP) == 0) {
    const Event* const leader = find(wanted.group);
    if (leader == nullptr || leader->leader != leader->handle) return fail(EINVAL);
    event->leader = leader->handle;
  }
  return event;
}

// True: it is an event of the domain.
Result<bool> Library::open(const ipc::PerfOpen& wanted, ipc::PerfOpened& opened) {
  LT_TRY(const perf_event_attr attr, read_attr(wanted.attr));
  const bool dummy = is_dummy(attr);
  if (attr.type != PERF_TYPE_TRACEPOINT && !dummy) return false;
  if (!connect(wanted.socket)) return false;
  const std::optional<Tracepoint> tracepoint = dummy ? std::nullopt : find_tracepoint(attr.config);
  if (!dummy && !tracepoint) return false;
  LT_TRY(std::unique_ptr<Event> event, make_event(wanted, attr));
  event->is_dummy = dummy;
  if (!dummy) event->tracker = Tracker(attr, wanted.pid, wanted.cpu);
  if (tracepoint) {
    event->tracepoint = *tracepoint;
    std::string name = tracepoint->system + '\0' + tracepoint->name;
    name += '\0';
    // For as long as this process has a descriptor of it: its `format` is read at the end, too.
    std::ignore = view_->ask({.operation = ipc::Operation::kHoldEvent}, name);
    // Who may not record the domain learns it now.
    LT_CHECK(view_->map_new_users());
  }
  const bool closes_on_exec = (wanted.flags & PERF_FLAG_FD_CLOEXEC) != 0;
  Fd descriptor(::eventfd(0, EFD_NONBLOCK | (closes_on_exec ? EFD_CLOEXEC : 0)));
  if (!descriptor) return fail_errno("eventfd");
  event->notifier = out_of_the_way(descriptor.get());
  if (!event->notifier) return fail(EMFILE);
  if ((wanted.flags & PERF_FLAG_FD_OUTPUT) != 0) {
    if (const Event* const leader = find(event->leader)) move_output(*event, leader->output);
  }
  Event& kept = *(events_[next_handle_] = std::move(event));
  ++next_handle_;
  if (!dummy) {
    kept.waits_for_exec = attr.enable_on_exec != 0 && attr.disabled != 0;
    kept.begin = arch::read_raw_clock(clocks_->raw());
    const auto begun = attr.disabled == 0 ? enable(kept) : kept.waits_for_exec ? listen(kept) : Result<void>();
    if (!begun) {
      const Error error = begun.error();
      drop(kept.handle);
      return tl::unexpected<Error>(error);
    }
  }
  opened = {descriptor.release(), kept.handle};
  return true;
}

template <typename Listener>
Result<Listener*> Library::listener_for(std::vector<std::unique_ptr<Listener>>& listeners, const Event& event) {
  for (const auto& listener : listeners) {
    if (!listener->is_dead() && listener->takes(event)) return listener.get();
  }
  LT_TRY(std::unique_ptr<Listener> fresh, Listener::open(socket_));
  listeners.push_back(std::move(fresh));
  return listeners.back().get();
}

Result<void> Library::listen(Event& event) {
  if (event.is_dummy) return {};
  if (event.is_sampled()) {
    if (event.source != nullptr) return event.source->listen(event);
    LT_TRY(Source* const source, listener_for(sources_, event));
    return source->listen(event);
  }
  if (event.counter != nullptr) return event.counter->listen(event);
  LT_TRY(Counter* const counter, listener_for(counters_, event));
  return counter->listen(event);
}

Result<void> Library::enable(Event& event) {
  if (event.is_on) return {};
  std::ignore = pull();
  event.tracker.enable(true);
  event.begin = arch::read_raw_clock(clocks_->raw());
  event.end = kNotYet;
  event.waits_for_exec = false;
  event.has_ended = false;
  event.is_on = true;
  event.on_since_ns = arch::monotonic_ns();
  auto listening = listen(event);
  if (!listening) event.is_on = false;
  note_what_is_watched();
  return listening;
}

void Library::disable(Event& event) {
  if (!event.is_on && !event.waits_for_exec) return;
  std::ignore = pull();
  if (event.is_on) event.enabled_ns += arch::monotonic_ns() - event.on_since_ns;
  event.is_on = event.waits_for_exec = false;
  event.end = std::min(event.end, arch::read_raw_clock(clocks_->raw()));
  if (event.source != nullptr) event.source->hush(event);
  if (event.counter != nullptr) event.counter->hush(event);
  event.tracker.enable(false);
  publish_outputs();
  note_what_is_watched();
}

void Library::stop_listening(Event& event) {
  if (event.source != nullptr) event.source->remove(event);
  if (event.counter != nullptr) event.counter->remove(event);
  std::erase_if(sources_, [](const auto& source) { return !source->is_used(); });
  std::erase_if(counters_, [](const auto& counter) { return !counter->is_used(); });
}

void Library::move_output(Event& event, std::shared_ptr<OutputRing> to) {
  if (event.output) event.output->remove(event);
  event.output = std::move(to);
  if (event.output) event.output->add(event);
  if (event.output && event.tracker) {
    const Renumbering as{event.attr.sample_id_all != 0 ? event.attr.sample_type : 0, event.id};
    std::ignore = kernel_.take_over(event.tracker.fd(), event.output, as);
  }
  note_what_is_watched();
}

void Library::note_what_is_watched() {
  watches_memory = std::any_of(events_.begin(), events_.end(), [](const auto& entry) {
    const Event& event = *entry.second;
    return event.output && event.is_on && event.target.has_value();
  });
  is_sampling = std::any_of(events_.begin(), events_.end(), [](const auto& entry) {
    return entry.second->output && (entry.second->is_on || entry.second->waits_for_exec);
  });
  awaits_exec = std::any_of(events_.begin(), events_.end(),
                            [](const auto& entry) { return entry.second->output && entry.second->waits_for_exec; });
}

Result<long> Library::for_all(Event& event, void* argument, bool on) {
  const bool whole_group = (reinterpret_cast<std::uintptr_t>(argument) & PERF_IOC_FLAG_GROUP) != 0;
  const Event* const leader = whole_group ? find(event.leader) : nullptr;
  for (Event* const one : leader != nullptr ? group_of(*leader) : std::vector<Event*>{&event}) {
    if (!on) {
      disable(*one);
      continue;
    }
    LT_CHECK(enable(*one));
  }
  return 0;
}

Result<long> Library::set_filter(Event& event, void* argument) {
  std::string filter(kLongestFilter, '\0');
  std::size_t size = 0;
  const auto* const from = static_cast<const char*>(argument);
  while (size < filter.size() && copy_in(filter.data() + size, from + size, 1) && filter[size] != '\0') ++size;
  if (size == filter.size()) return fail(EINVAL);
  if (size == 0 && !copy_in(filter.data(), from, 1)) return fail(EFAULT);
  filter.resize(size);
  if (event.is_dummy) return fail(EINVAL);
  const auto text = buffer::copy_slot_text(view_->control(), event.tracepoint.slot);
  if (!text) return fail(ENODEV);
  if (filter == "0") filter.clear();  // as in a `filter` file: none
  if (!filter.empty()) {
    LT_CHECK(check_filter(*text, filter, view_->cpus()));
  }
  if (filter == event.filter) return 0;
  const bool listens = event.source != nullptr || event.counter != nullptr;
  if (listens) {
    std::ignore = pull();
    if (event.counter != nullptr) event.counter->hush(event);
    stop_listening(event);
  }
  event.filter = filter;
  if (event.is_on || event.waits_for_exec) {
    LT_CHECK(listen(event));
  }
  return 0;
}

Result<long> Library::set_period(Event& event, void* argument) {
  std::uint64_t period = 0;
  if (!copy_in(&period, argument, sizeof period)) return fail(EFAULT);
  if (!event.is_sampled() || period == 0 || (period >> 63) != 0) return fail(EINVAL);
  event.period = event.attr.freq != 0 ? 1 : period;
  event.until_sample = event.period;
  return 0;
}

Result<long> Library::refresh(Event& event, void* argument) {
  if (event.attr.inherit != 0 || !event.is_sampled()) return fail(EINVAL);
  const auto samples = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(argument));
  event.samples_left += samples;
  LT_CHECK(enable(event));
  return 0;
}

Result<long> Library::ioctl(std::uint32_t handle, unsigned long request, void* argument) {
  Event* const event = find(handle);
  if (event == nullptr) return fail(ENODEV);
  switch (request) {
    case PERF_EVENT_IOC_ENABLE:
      return for_all(*event, argument, true);
    case PERF_EVENT_IOC_DISABLE:
      return for_all(*event, argument, false);
    case PERF_EVENT_IOC_RESET:
      std::ignore = pull();
      if (event->counter != nullptr && event->is_on) {
        event->counter->hush(*event);
        LT_CHECK(event->counter->listen(*event));
      }
      event->count = 0;
      return 0;
    case PERF_EVENT_IOC_REFRESH:
      return refresh(*event, argument);
    case PERF_EVENT_IOC_PERIOD:
      return set_period(*event, argument);
    case PERF_EVENT_IOC_ID:
      if (!copy_out(argument, &event->id, sizeof event->id)) return fail(EFAULT);
      return 0;
    case PERF_EVENT_IOC_SET_FILTER:
      return set_filter(*event, argument);
    case PERF_EVENT_IOC_PAUSE_OUTPUT:
      return event->output ? Result<long>(0) : fail(EINVAL);
    case PERF_EVENT_IOC_SET_BPF:
      return fail(EOPNOTSUPP);
    case PERF_EVENT_IOC_QUERY_BPF:
    case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
      return fail(EINVAL);
    default:
      return fail(ENOTTY);
  }
}

Result<long> Library::set_output(std::uint32_t handle, int fd, std::uint32_t to) {
  Event* const event = find(handle);
  if (event == nullptr) return fail(ENODEV);
  if (fd == -1) {
    move_output(*event, nullptr);
    return 0;
  }
  if (to == 0) {
    LT_TRY(std::shared_ptr<OutputRing> ring, kernel_.replace_memory(fd));
    move_output(*event, std::move(ring));
    return 0;
  }
  const Event* const other = find(to);
  if (other == nullptr) return fail(EBADF);
  if (other == event) return fail(EINVAL);
  if (other->cpu != event->cpu) return fail(EINVAL);
  move_output(*event, other->output);
  return 0;
}

Result<long> Library::take_output(int fd, std::uint32_t to) {
  Event* const event = find(to);
  if (event == nullptr) return fail(EBADF);
  if (!event->output) return fail(EINVAL);
  LT_CHECK(kernel_.take_over(fd, event->output));
  return 0;
}

Reading Library::reading_of(Event& event) {
  const std::uint64_t now = arch::monotonic_ns();
  const std::uint64_t on_ns = event.enabled_ns + (event.is_on ? now - event.on_since_ns : 0);
  const std::uint64_t count = event.counter != nullptr ? event.counter->count(event) : event.count;
  return {count, on_ns, on_ns, event.id, event.lost};
}

Result<long> Library::read(std::uint32_t handle, void* buffer, std::size_t size) {
  Event* const event = find(handle);
  if (event == nullptr) return fail(ENODEV);
  std::ignore = pull();
  if (event->waits_for_exec && event->counter != nullptr && event->target && event->target->has_called_exec()) {
    event->waits_for_exec = false;
    event->is_on = true;
    event->on_since_ns = arch::monotonic_ns() - 1;
  }
  std::vector<Reading> readings;
  const bool is_group = (event->attr.read_format & PERF_FORMAT_GROUP) != 0;
  const std::vector<Event*> read = is_group ? group_of(*event) : std::vector<Event*>{event};
  for (Event* const one : read) readings.push_back(reading_of(*one));
  if (readings.empty()) readings.push_back(reading_of(*event));
  const std::vector<std::uint64_t> words = make_reading(event->attr.read_format, readings);
  const std::size_t bytes = words.size() * sizeof words[0];
  if (size < bytes) return fail(ENOSPC);
  if (!copy_out(buffer, words.data(), bytes)) return fail(EFAULT);
  return static_cast<long>(bytes);
}

Result<int> Library::memory(std::uint32_t handle, std::size_t size, int protection, int flags, std::int64_t offset) {
  Event* const event = find(handle);
  if (event == nullptr) return fail(ENODEV);
  if ((flags & MAP_SHARED) == 0 || offset != 0) return fail(EINVAL);
  // The kernel's: one ring for the threads of several CPUs would be written by all of them.
  if (event->cpu == -1 && event->attr.inherit != 0) return fail(EINVAL);
  const std::size_t pages = size / MappedRing::kPage;
  if (pages == 0 || size % MappedRing::kPage != 0 || (pages > 1 && !std::has_single_bit(pages - 1)))
    return fail(EINVAL);
  if (event->output) {
    if (event->output->ring().bytes() != size) return fail(EINVAL);
    return event->output->ring().fd();
  }
  LT_TRY(std::shared_ptr<MappedRing> ring, MappedRing::create(pages - 1, (protection & PROT_WRITE) == 0));
  move_output(*event, std::make_shared<OutputRing>(std::move(ring)));
  return event->output->ring().fd();
}

void Library::publish_outputs() {
  for (const auto& [handle, event] : events_) {
    if (event->output && event->output->events().front() == event.get()) event->output->publish();
  }
}

bool Library::pull() {
  bool any = false;
  // First: a program's name stands before its samples.
  any |= kernel_.pull();
  for (const auto& source : sources_) any |= source->pull();
  const std::uint64_t now = arch::monotonic_ns();
  if (clocks_ && now - sampled_ns_ > kSampleClocksAfter_ns) {
    clocks_->sample();
    sampled_ns_ = now;
  }
  publish_outputs();
  for (const auto& [handle, event] : events_) {
    if (event->has_ended && event->is_on) {
      event->enabled_ns += now - event->on_since_ns;
      event->is_on = false;
    }
  }
  if (awaits_exec) note_what_is_watched();
  return any;
}

bool Library::is_hung_up(std::uint32_t handle) {
  Event* const event = find(handle);
  if (event == nullptr || event->has_ended) return true;
  if (view_ && view_->owner_died()) return true;
  if (!event->target || !event->target->is_gone()) return false;
  // What it has emitted since the last look, and before it ended.
  std::ignore = pull();
  return true;
}

void Library::drop(std::uint32_t handle) {
  Event* const event = find(handle);
  if (event == nullptr) return;
  event->is_on = event->waits_for_exec = false;
  stop_listening(*event);
  move_output(*event, nullptr);
  for (Event* const sibling : group_of(*event)) sibling->leader = sibling->handle;
  events_.erase(handle);
  note_what_is_watched();
}

// What it has of its parent's is not its own: the sessions end with the parent.
void Library::child() {
  for (const auto& source : sources_) source->disconnect();
  for (const auto& counter : counters_) counter->disconnect();
  watches_memory = awaits_exec = is_sampling = false;
  for (auto& [handle, event] : events_) std::ignore = event.release();
  events_.clear();
  for (auto& source : sources_) std::ignore = source.release();
  sources_.clear();
  for (auto& counter : counters_) std::ignore = counter.release();
  counters_.clear();
  std::ignore = births_.release();
  kernel_.forget();
  view_.reset();
}

}  // namespace landtrace::perf
