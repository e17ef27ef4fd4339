#include "perf/library.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "perf/attr.hpp"

namespace landtrace::perf {
namespace {

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

}  // namespace

bool Library::watches_memory = false;
bool Library::awaits_exec = false;
bool Library::is_sampling = false;

Library& Library::get() {
  static Library* const library = new Library();  // a program may end while it polls in another thread
  return *library;
}

Result<void> Library::connect(const std::string& socket) {
  if (tracepoints_.is_connected() && !tracepoints_.are_gone()) return {};
  LT_CHECK(tracepoints_.connect(socket));
  if (!births_) births_ = std::make_unique<Births>();
  clocks_ = std::make_unique<SampleClocks>(tracepoints_.raw_clock());
  return {};
}

Event* Library::find(std::uint32_t handle) {
  const auto found = events_.find(handle);
  return found == events_.end() ? nullptr : found->second.get();
}

Result<std::unique_ptr<Event>> Library::make_event(const ipc::PerfOpen& wanted, const perf_event_attr& attr) {
  constexpr std::uint64_t kKnownFlags =
      PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC;
  if ((wanted.flags & ~kKnownFlags) != 0) return fail(EINVAL);
  if ((wanted.flags & PERF_FLAG_PID_CGROUP) != 0) return fail(EOPNOTSUPP);
  LT_CHECK(check_attr(attr));
  const bool has_group = wanted.group_fd != -1;
  if (has_group && wanted.group == 0 && !is_kernel_event(wanted.group_fd)) return fail(EBADF);
  if (wanted.pid < -1) return fail(ESRCH);
  if (wanted.cpu < -1 || (wanted.pid == -1 && wanted.cpu == -1)) return fail(EINVAL);
  if (wanted.cpu >= 0 && static_cast<std::uint32_t>(wanted.cpu) >= tracepoints_.cpus()) return fail(EINVAL);
  auto event = std::make_unique<Event>();
  event->handle = next_handle_;
  event->id = kFirstId + next_handle_;
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
    using Inherits = Target::Inherits;
    event->target.emplace(*births_, tid,
                          attr.inherit == 0          ? Inherits::kNothing
                          : attr.inherit_thread != 0 ? Inherits::kThreads
                                                     : Inherits::kAll,
                          attr.enable_on_exec != 0 || attr.remove_on_exec != 0);
  }
  // One of the kernel's leads none of ours: EINVAL, as to groups across kinds of events that cannot be.
  if (has_group && (wanted.flags & PERF_FLAG_FD_NO_GROUP) == 0) {
    const Event* const leader = find(wanted.group);
    if (leader == nullptr || &leader->leader() != leader) return fail(EINVAL);
    event->group = leader->group;
  }
  if (!event->group) event->group = std::make_shared<std::vector<Event*>>(1, event.get());
  return event;
}

// True: it is an event of the domain.
Result<bool> Library::open(const ipc::PerfOpen& wanted, ipc::PerfOpened& opened) {
  LT_TRY(const perf_event_attr attr, read_attr(wanted.attr));
  const bool dummy = is_dummy(attr);
  if (attr.type != PERF_TYPE_TRACEPOINT && !dummy) return false;
  if (!connect(wanted.socket)) return false;
  const std::optional<Tracepoint> tracepoint = dummy ? std::nullopt : tracepoints_.find(attr.config);
  if (!dummy && !tracepoint) return false;
  LT_TRY(std::unique_ptr<Event> event, make_event(wanted, attr));
  event->is_dummy = dummy;
  if (!dummy) event->tracker = Tracker(attr, wanted.pid, wanted.cpu);
  if (tracepoint) {
    event->tracepoint = *tracepoint;
    LT_CHECK(tracepoints_.hold(*tracepoint));
  }
  const bool closes_on_exec = (wanted.flags & PERF_FLAG_FD_CLOEXEC) != 0;
  Fd descriptor(::eventfd(0, closes_on_exec ? EFD_CLOEXEC : 0));
  if (!descriptor) return fail_errno("eventfd");
  event->notifier = out_of_the_way(descriptor.get());
  if (!event->notifier) return fail(EMFILE);
  if ((wanted.flags & PERF_FLAG_FD_OUTPUT) != 0) {
    const Event* const other = find(wanted.group);
    if (other == nullptr || !other->output) return fail(EINVAL);
    move_output(*event, other->output);
  }
  Event& kept = *(events_[next_handle_] = std::move(event));
  ++next_handle_;
  if (&kept.leader() != &kept) kept.group->push_back(&kept);
  if (!dummy) {
    kept.waits_for_exec = attr.enable_on_exec != 0 && attr.disabled != 0;
    kept.waited_until = arch::read_raw_clock(clocks_->raw());
    kept.begin = kNotYet;
    const auto begun = attr.disabled == 0    ? enable(kept)
                       : kept.waits_for_exec ? listening_.begin(kept, tracepoints_.socket())
                                             : Result<void>();
    if (!begun) {
      const Error error = begun.error();
      drop(kept.handle);
      return tl::unexpected<Error>(error);
    }
  }
  opened = {descriptor.release(), kept.handle};
  return true;
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
  auto listening = event.is_dummy ? Result<void>() : listening_.begin(event, tracepoints_.socket());
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
  Listening::hush(event);
  event.tracker.enable(false);
  publish_outputs();
  note_what_is_watched();
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

Result<long> Library::take_output(int fd, std::uint32_t to) {
  Event* const event = find(to);
  if (event == nullptr) return fail(EBADF);
  if (!event->output) return fail(EINVAL);
  LT_CHECK(kernel_.take_over(fd, event->output));
  return 0;
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
  if ((protection & PROT_EXEC) != 0) return fail(EPERM);
  if (event->output && !event->output->ring().is_mapped_besides()) forget_output(event->output);
  if (event->output) {
    if (event->output->ring().bytes() != size) return fail(EINVAL);
    return event->output->ring().fd();
  }
  LT_TRY(std::shared_ptr<MappedRing> ring,
         MappedRing::create(pages - 1, {(protection & PROT_WRITE) == 0, event->attr.write_backward != 0}));
  move_output(*event, std::make_shared<OutputRing>(std::move(ring)));
  return event->output->ring().fd();
}

// The program has unmapped it: it is nobody's any more.
void Library::forget_output(const std::shared_ptr<OutputRing>& output) {
  const std::shared_ptr<OutputRing> gone = output;
  for (const auto& [handle, event] : events_) {
    if (event->output == gone) move_output(*event, nullptr);
  }
}

void Library::polled(std::uint32_t handle) {
  Event* const event = find(handle);
  if (event != nullptr && event->output) event->output->polled();
}

void Library::publish_outputs() {
  for (const auto& [handle, event] : events_) {
    if (event->output && event->output->events().front() == event.get()) event->output->publish();
  }
}

bool Library::pull() {
  bool any = false;
  // All that a program has emitted before the kernel told of its end is among the samples that come now.
  kernel_.look();
  any |= listening_.pull();
  any |= kernel_.copy_rest();
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
  if (tracepoints_.are_gone()) return true;
  if (!event->target || !event->target->is_gone()) return false;
  // What it has emitted since the last look, and before it ended. perf unmaps the ring of an event that has hung up
  // when it has read it.
  std::ignore = pull();
  return event->source == nullptr || !event->source->waits_for_room();
}

// Those that a leader leaves are in no group any more.
void Library::leave_group(Event& event) {
  const auto group = event.group;
  if (&event.leader() == &event) {
    for (Event* const one : *group) one->group = std::make_shared<std::vector<Event*>>(1, one);
  } else {
    std::erase(*group, &event);
    event.group = std::make_shared<std::vector<Event*>>(1, &event);
  }
}

void Library::drop(std::uint32_t handle) {
  Event* const event = find(handle);
  if (event == nullptr) return;
  event->is_on = event->waits_for_exec = false;
  listening_.end(*event);
  move_output(*event, nullptr);
  leave_group(*event);
  events_.erase(handle);
  note_what_is_watched();
}

bool Library::is_meant(std::uint32_t tid, std::uint32_t tgid) {
  return std::any_of(events_.begin(), events_.end(), [&](const auto& entry) {
    Event& event = *entry.second;
    const bool is_recorded = event.is_recorded() || event.waits_for_exec;
    return !event.is_dummy && is_recorded && (!event.target || event.target->has(tid, tgid));
  });
}

// What it has of its parent's is not its own: the sessions end with the parent.
void Library::child() {
  listening_.leave_to_parent();
  watches_memory = awaits_exec = is_sampling = false;
  for (auto& [handle, event] : events_) std::ignore = event.release();
  events_.clear();
  std::ignore = births_.release();
  std::ignore = clocks_.release();
  kernel_.forget();
  tracepoints_.disconnect();
}

}  // namespace landtrace::perf
