#include "perf/listening.hpp"

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
  if (event.is_sampled()) {
    if (event.source != nullptr) return event.source->listen(event);
    LT_TRY(Source* const source, listener_for(sources_, event, [&] { return Source::open(socket, is_meant_); }));
    return source->listen(event);
  }
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
  std::erase_if(sources_, [](const auto& source) { return !source->is_used(); });
  std::erase_if(counters_, [](const auto& counter) { return !counter->is_used(); });
}

bool Listening::pull() {
  bool any = false;
  for (const auto& source : sources_) any |= source->pull();
  return any;
}

// What it would free it shares with its parent's descriptors.
void Listening::leave_to_parent() {
  leave(sources_);
  leave(counters_);
}

}  // namespace landtrace::perf
