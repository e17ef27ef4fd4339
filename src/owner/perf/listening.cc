#include "perf/listening.hpp"

#include <map>

#include "arch/clock.hpp"

namespace landtrace::perf {
namespace {

// One that can have the event; else one that `open` makes.
template <typename Listener, typename Open>
Result<Listener*> listener_for(std::vector<std::unique_ptr<Listener>>& listeners, const Event& event,
                               const Open& open) {
  for (const auto& listener : listeners) {
    if (!listener->is_dead() && listener->takes(event)) return listener.get();
  }
  LT_TRY(std::unique_ptr<Listener> fresh, open());
  listeners.push_back(std::move(fresh));
  return listeners.back().get();
}

template <typename Listener>
void leave(std::vector<std::unique_ptr<Listener>>& listeners) {
  for (auto& listener : listeners) {
    listener->disconnect();
    std::ignore = listener.release();
  }
  listeners.clear();
}

}  // namespace

Result<void> Listening::begin(Event& event, const std::string& socket) {
  if (event.is_recorded()) {
    if (event.source != nullptr) return event.source->listen(event);
    LT_TRY(Source* const source, listener_for(sources_, event, [&] { return Source::open(socket, is_meant_); }));
    return source->listen(event);
  }
  if (event.source != nullptr) event.source->remove(event);
  if (event.waits_for_exec) {
    // Before the counter: what both have is taken off.
    LT_TRY(Source* const source, listener_for(before_exec_, event, [&] { return Source::open(socket, is_meant_); }));
    LT_CHECK(source->listen(event));
  }
  return begin_counting(event, socket);
}

Result<void> Listening::begin_counting(Event& event, const std::string& socket) {
  if (event.counter != nullptr) return event.counter->listen(event);
  LT_TRY(Counter* const counter, listener_for(counters_, event, [&] { return Counter::open(socket); }));
  return counter->listen(event);
}

void Listening::hush(Event& event) {
  if (event.source != nullptr) event.source->hush(event);
  if (event.counter != nullptr) event.counter->hush(event);
}

void Listening::end(Event& event) {
  if (event.source != nullptr) event.source->remove(event);
  if (event.counter != nullptr) event.counter->remove(event);
  for (auto* const sources : {&sources_, &before_exec_}) {
    std::erase_if(*sources, [](const auto& source) { return !source->is_used(); });
  }
  std::erase_if(counters_, [](const auto& counter) { return !counter->is_used(); });
}

// One horizon for all that have the same clock: what the kernel tells of a program stands behind what each of them
// gives of it before.
bool Listening::pull() {
  std::map<arch::RawClock, std::uint64_t> horizons;
  bool any = false;
  for (const auto& source : sources_) {
    const auto [horizon, is_new] = horizons.try_emplace(source->raw_clock());
    if (is_new) horizon->second = arch::read_raw_clock(source->raw_clock());
    any |= source->pull(horizon->second);
  }
  return pull_before_exec() || any;
}

// Once an exec is known, all that came before it is read, and the counter is all that counts.
bool Listening::pull_before_exec() {
  bool any = false;
  for (const auto& source : before_exec_) {
    const auto pull = [&source] { return source->pull(arch::read_raw_clock(source->raw_clock())); };
    any |= pull();
    std::vector<Event*> done = source->events();
    std::erase_if(done, [](const Event* event) { return event->waits_for_exec; });
    if (!done.empty()) any |= pull();
    for (Event* const event : done) source->remove(*event);
  }
  std::erase_if(before_exec_, [](const auto& source) { return !source->is_used(); });
  return any;
}

// What it would free it shares with its parent's descriptors.
void Listening::leave_to_parent() {
  leave(sources_);
  leave(before_exec_);
  leave(counters_);
}

}  // namespace landtrace::perf
