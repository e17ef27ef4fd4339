#include "perf/source.hpp"

#include <algorithm>
#include <cstring>

#include "buffer/stream.hpp"
#include "output/stack/user_stack.hpp"
#include "perf/counter.hpp"
#include "ring/writer.hpp"

namespace landtrace::perf {
namespace {

// A few milliseconds of a program at full speed.
constexpr std::uint64_t kSourceRingBytes = 1u << 21;
constexpr std::uint64_t kLeastRingBytes = 1u << 18;
constexpr std::uint64_t kRenewAfter_ns = 20'000'000;
// Of raw time: a stack is written microseconds after its event.
constexpr std::uint64_t kLongestWait = 1u << 28;
// What a sample has besides its payload and its stack, at most.
constexpr std::size_t kFixedBytes = 256;

}  // namespace

Result<std::unique_ptr<Source>> Source::open(const std::string& socket, const ThreadGate::IsMeant& is_meant) {
  LT_TRY(consumer::DomainView view, consumer::DomainView::connect(socket));
  std::unique_ptr<Source> source(new Source(std::make_unique<consumer::DomainView>(std::move(view))));
  LT_TRY(consumer::Session session, consumer::Session::open(*source->view_, {.ring_bytes = kSourceRingBytes,
                                                                             .least_ring_bytes = kLeastRingBytes}));
  source->session_ = std::make_unique<consumer::Session>(std::move(session));
  source->gate_.emplace(*source->view_, *source->session_, is_meant);
  source->line_.emplace(source->session_->raw_clock(), CLOCK_MONOTONIC);
  return source;
}

bool Source::takes(const Event& event) const {
  const std::uint32_t slot = event.tracepoint.slot;
  return slot >= by_slot_.size() || !by_slot_[slot] || by_slot_[slot]->filter == event.filter;
}

Result<void> Source::select(const Tracepoint& tracepoint, const Listeners& listeners) {
  consumer::Session::Selection selection{tracepoint.full_name(), listeners.filter, {}};
  if (listeners.has_stacks) selection.triggers.emplace_back("stacktrace");
  return session_->select(selection);
}

Source::Listeners& Source::listeners_for(const Event& event) {
  const std::uint32_t slot = event.tracepoint.slot;
  if (slot >= by_slot_.size()) by_slot_.resize(slot + 1);
  std::unique_ptr<Listeners>& listeners = by_slot_[slot];
  if (!listeners) {
    listeners = std::make_unique<Listeners>();
    listeners->filter = event.filter;
    listeners->id = event.tracepoint.id;
    listeners->address_at = event.tracepoint.address_at;
    listeners->events.resize(std::size_t{view_->cpus()} + 1);
  }
  return *listeners;
}

Result<void> Source::listen(Event& event) {
  if (!view_) return fail(ENODEV);
  if (event.source != this) {
    gate_->let_in([&event](std::uint32_t tid) { return !event.target || event.target->has(tid, 0); });
  }
  Listeners& listeners = listeners_for(event);
  const bool needs_stacks = event.wants_stack() && !listeners.has_stacks;
  if (needs_stacks) listeners.has_stacks = has_stacks_ = true;
  if (!listeners.is_listening || needs_stacks) {
    LT_CHECK(select(event.tracepoint, listeners));
    listeners.is_listening = true;
  }
  if (event.source == this) return {};
  listeners.events[event.cpu < 0 ? view_->cpus() : static_cast<std::uint32_t>(event.cpu)].push_back(&event);
  all_.push_back(&event);
  event.source = this;
  return {};
}

void Source::unlisten(const Tracepoint& tracepoint) {
  by_slot_[tracepoint.slot]->is_listening = false;
  if (view_) {
    std::ignore = view_->ask({.operation = ipc::Operation::kSessionEvents, .a = 0}, tracepoint.full_name());
  }
}

bool Source::is_wanted(std::uint32_t slot) const {
  return std::any_of(all_.begin(), all_.end(), [slot](const Event* event) {
    return event->tracepoint.slot == slot && (event->is_on || event->waits_for_exec);
  });
}

void Source::hush(Event& event) {
  if (!is_wanted(event.tracepoint.slot) && by_slot_[event.tracepoint.slot]->is_listening) unlisten(event.tracepoint);
  if (std::none_of(all_.begin(), all_.end(), [](const Event* e) { return e->is_on || e->waits_for_exec; })) finish();
}

void Source::remove(Event& event) {
  Listeners& listeners = *by_slot_[event.tracepoint.slot];
  for (auto& events : listeners.events) std::erase(events, &event);
  std::erase(all_, &event);
  event.source = nullptr;
  if (listeners.is_listening && !is_wanted(event.tracepoint.slot)) unlisten(event.tracepoint);
}

void Source::add_new_users() {
  std::ignore = view_->map_new_users();
  const auto& users = view_->users();
  const std::uint32_t rings = view_->cpus() + view_->claimed();
  for (std::size_t i = objects_.size(); i < users.size(); ++i) {
    objects_.emplace_back(users[i].uid);
    for (std::uint32_t ring = 0; ring < rings; ++ring) {
      rings_.push_back({static_cast<std::uint32_t>(i), ring,
                        std::make_unique<buffer::RingCursor>(session_->ring(users[i], ring), session_->geometry(),
                                                             static_cast<std::uint32_t>(i), session_->raw_clock(),
                                                             session_->started())});
      const std::uint32_t cpu = ring::cpu_of_ring(ring, view_->cpus());
      merge_.add({rings_.back().cursor.get(), cpu});
    }
  }
}

void Source::look_at_objects() {
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    objects_[i].refresh(view_->users()[i].data(),
                        [this](output::MappedObject object) { known_objects_.push_back(std::move(object)); });
  }
}

void Source::watch_for_exec(Event& event) {
  if (!event.waits_for_exec || !event.target) return;
  // Read first: what the program emits once it has called exec comes later.
  const std::uint64_t now = arch::read_raw_clock(session_->raw_clock());
  const std::optional<std::uint64_t> exec_ns = event.target->exec_ns();
  if (!exec_ns) {
    event.waited_until = now;
    return;
  }
  event.waits_for_exec = false;
  event.is_on = true;
  event.begin = *exec_ns == Target::kSomeTime ? event.waited_until : raw_at(*exec_ns, event.waited_until);
  event.end = kNotYet;
  event.on_since_ns = std::min(line_->to_ns(event.begin), arch::monotonic_ns());
}

std::uint64_t Source::raw_at(std::uint64_t monotonic_ns, std::uint64_t not_before) const {
  std::uint64_t low = not_before;
  std::uint64_t high = std::max(low, arch::read_raw_clock(session_->raw_clock()));
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (line_->to_ns(middle) < monotonic_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool Source::pull(std::uint64_t horizon) {
  if (!view_ || all_.empty()) return false;
  const std::uint64_t now_ns = arch::monotonic_ns();
  if (now_ns - renewed_ns_ > kRenewAfter_ns) {
    tasks_.renew();
    renewed_ns_ = now_ns;
  }
  line_->sample();
  for (Event* const event : all_) {
    watch_for_exec(*event);
    if (event->target) event->target->look_around();
  }
  look_at_kernel();
  add_new_users();
  if (has_stacks_) look_at_objects();
  const bool any = pull_rings(horizon);
  if (has_stacks_) give_old(horizon);
  note_rest();
  publish_positions();
  gate_->renew(now_ns);
  return any;
}

// Behind the horizon: what the kernel has told of a program before that emitted is there by then.
void Source::look_at_kernel() const {
  for (const Event* const event : all_) {
    if (event->output) event->output->look_at_kernel_again();
  }
}

// Behind the last record of a ring: nobody knows whether another one follows, and a program may look for the last time.
void Source::note_rest() {
  for (const RingOfUser& ring : rings_) {
    if (!is_finishing_ && ring.cursor->ready()) continue;
    note_lost(ring::cpu_of_ring(ring.ring, view_->cpus()), ring.cursor->take_rest());
  }
  for (const Event* const event : all_) {
    if (!event->output || !event->output->has_lost()) continue;
    SampleFacts facts;
    facts.time = event->clock->to_ns(newest_);
    event->output->tell_lost(facts);
  }
}

void Source::finish() {
  if (!view_) return;
  is_finishing_ = true;
  // When it returns, no producer is in the middle of an event any more.
  std::ignore = session_->stop();
  std::ignore = pull(buffer::kNoHorizon);
  is_finishing_ = false;
}

bool Source::pull_rings(std::uint64_t horizon) {
  merge_.begin(horizon);
  bool any = false;
  waits_for_room_ = false;
  while (const buffer::Merge::Source* const next = merge_.next()) {
    waits_for_room_ = !take(next->cpu, *next->cursor);
    if (waits_for_room_) break;
    next->cursor->pop();
    any = true;
  }
  return any;
}

// False: there is no room for it yet.
bool Source::take(std::uint32_t cpu, buffer::RingCursor& cursor) {
  if (cursor.has_lost()) note_lost(cpu, cursor.take_lost());
  const ring::RecordView& record = cursor.record();
  if (has_stacks_) return take_with_stack(cpu, cursor);
  Listeners* const listeners = listeners_of(record.header.event);
  if (listeners == nullptr) return true;
  return give(*listeners, {cursor.clock(), cpu, cursor.user(), record.header.tid, record.payload, {}});
}

// A stack is the next record of its thread.
bool Source::take_with_stack(std::uint32_t cpu, buffer::RingCursor& cursor) {
  const ring::RecordView& record = cursor.record();
  const std::uint32_t tid = record.header.tid;
  if (record.header.event == plan::kUserStackSlot) {
    return give_waiting(tid, output::parse_user_stack(record.payload).caller);
  }
  if (!give_waiting(tid, {})) return false;
  Listeners* const listeners = listeners_of(record.header.event);
  if (listeners == nullptr) return true;
  if (!listeners->has_stacks) {
    return give(*listeners, {cursor.clock(), cpu, cursor.user(), tid, record.payload, {}});
  }
  waiting_[tid] = {cursor.clock(), cpu, cursor.user(), record.header.event,
                   Bytes(record.payload.begin(), record.payload.end())};
  return true;
}

bool Source::give_waiting(std::uint32_t tid, std::span<const std::uint64_t> frames) {
  const auto found = waiting_.find(tid);
  if (found == waiting_.end()) return true;
  const Waiting& what = found->second;
  Listeners* const listeners = listeners_of(what.slot);
  if (listeners != nullptr && !give(*listeners, {what.clock, what.cpu, what.user, tid, what.payload, frames})) {
    return false;
  }
  waiting_.erase(found);
  return true;
}

// Whose stack does not come: the program was killed, or ended recording in between.
void Source::give_old(std::uint64_t now) {
  std::vector<std::uint32_t> old;
  for (const auto& [tid, what] : waiting_) {
    if (now > what.clock && now - what.clock > kLongestWait) old.push_back(tid);
  }
  for (const std::uint32_t tid : old) std::ignore = give_waiting(tid, {});
}

bool Source::has_room(const Listeners& listeners, const Happened& what) {
  const std::size_t bytes = kFixedBytes + what.payload.size() + (what.frames.size() + 2) * sizeof(std::uint64_t);
  for (const std::size_t cpu : {std::size_t{what.cpu}, listeners.events.size() - 1}) {
    for (const Event* const event : listeners.events[cpu]) {
      // What never fits need not be waited for.
      if (!event->output || !event->is_sampled() || bytes > event->output->ring().size() / 2) continue;
      if (!event->output->has_room(bytes) && !event->output->is_left_alone()) return false;
    }
  }
  return true;
}

bool Source::is_about(Event& event, const Happened& what, std::uint32_t tgid) {
  if (event.target && !event.target->has(what.tid, tgid)) return false;
  // The kernel has told of an exec before the program goes on.
  watch_for_exec(event);
  if (event.counter != nullptr) {
    if (event.waits_for_exec || what.clock < event.begin) ++event.before_exec;
    return true;
  }
  if (!event.was_on_at(what.clock)) return false;
  return event.attr.remove_on_exec == 0 || !event.target ||
         !event.target->has_left(what.tid, tgid, line_->to_ns(what.clock));
}

// A program's name stands before its samples, its end behind them.
void Source::tell_older(const Listeners& listeners, const Happened& what) {
  for (const std::size_t cpu : {std::size_t{what.cpu}, listeners.events.size() - 1}) {
    for (const Event* const event : listeners.events[cpu]) {
      if (!event->output || !event->output->has_kernel_records()) continue;
      std::ignore = event->output->copy_kernel_until(event->clock->to_ns(what.clock));
    }
  }
}

bool Source::give(Listeners& listeners, const Happened& what) {
  if (what.cpu + 1 >= listeners.events.size()) return true;
  tell_older(listeners, what);
  if (!is_finishing_ && !has_room(listeners, what)) return false;
  const output::Task* const task = tasks_.find(what.tid, view_->users()[what.user].data());
  SampleFacts facts;
  facts.tid = what.tid;
  facts.pid = task != nullptr && task->tgid != 0 ? task->tgid : what.tid;
  facts.cpu = what.cpu;
  facts.frames = what.frames;
  facts.type = listeners.id;
  if (listeners.address_at && *listeners.address_at + sizeof facts.address <= what.payload.size()) {
    std::memcpy(&facts.address, what.payload.data() + *listeners.address_at, sizeof facts.address);
  }
  facts.payload = what.payload;
  bool is_wanted = false;
  for (const std::size_t cpu : {std::size_t{what.cpu}, listeners.events.size() - 1}) {
    for (Event* const event : listeners.events[cpu]) {
      if (!is_about(*event, what, facts.pid)) continue;
      if (event->counter == nullptr) give_to(*event, what, facts, task);
      is_wanted = true;
    }
  }
  if (!is_wanted) gate_->note_unwanted(facts.tid, facts.pid);
  return true;
}

// What a read() would have given then.
void Source::read_group(const Event& event, std::uint64_t clock) {
  readings_.clear();
  const auto read = [&](Event& one) {
    const bool was_on = one.was_on_at(clock);
    const std::uint64_t on_ns = one.enabled_ns + (was_on ? line_->to_ns(clock) - line_->to_ns(one.begin) : 0);
    readings_.push_back({one.counter != nullptr ? one.counter->count(one) : one.count, on_ns, on_ns, one.id, one.lost});
  };
  const bool is_group = (event.attr.read_format & PERF_FORMAT_GROUP) != 0;
  for (Event* const one : *event.group) {
    if (is_group || one == &event) read(*one);
  }
}

void Source::give_to(Event& event, const Happened& what, SampleFacts facts, const output::Task* task) {
  ++event.count;
  newest_ = std::max(newest_, what.clock);
  if (!event.output || !event.is_sampled() || --event.until_sample > 0) return;
  event.until_sample = event.period;
  facts.time = event.clock->to_ns(what.clock);
  facts.id = event.id;
  facts.period = event.period;
  if ((event.attr.sample_type & PERF_SAMPLE_READ) != 0) {
    read_group(event, what.clock);
    facts.readings = readings_;
  }
  OutputRing& output = *event.output;
  if (task != nullptr) output.tell_name(facts, task->comm);
  if (has_stacks_) output.tell_objects(facts, known_objects_);
  make_sample(bytes_, event.attr, facts);
  if (!output.write(bytes_, event, facts)) output.lose(event, 1);
  if (event.samples_left > 0 && --event.samples_left == 0) {
    event.end = what.clock + 1;
    event.has_ended = true;
  }
}

// Which of its events the ring has lost nobody knows.
void Source::note_lost(std::uint32_t cpu, std::uint64_t count) {
  if (count == 0) return;
  const auto found = std::find_if(all_.begin(), all_.end(), [cpu](const Event* event) {
    return event->output && (event->cpu < 0 || static_cast<std::uint32_t>(event->cpu) == cpu);
  });
  if (found != all_.end()) (*found)->output->lose(**found, count);
}

void Source::publish_positions() {
  positions_.clear();
  for (RingOfUser& ring : rings_) {
    const consumer::User& user = view_->users()[ring.user];
    if (user.has_left || ring.cursor->position() == ring.published) continue;
    ring.published = ring.cursor->position();
    positions_.push_back({user.index, ring.ring, ring.cursor->give_back(ring.published)});
  }
  if (!positions_.empty()) std::ignore = session_->publish(positions_);
}

}  // namespace landtrace::perf
