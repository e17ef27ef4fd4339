// Emits an event by the C++ API, from a function whose name is long; with an argument, a synthetic one in two ways.
#include <landtrace/landtrace.hpp>
#include <landtrace/trace_events.hpp>

using landtrace::Event, landtrace::Field;

namespace {

using Job = Event<"job", Field<"source", std::uint32_t>, Field<"sequence", std::uint32_t>>;

}  // namespace

template <typename AnEvent>
[[gnu::noinline]] void caller() {
  AnEvent::emit(1u, 2u);
  asm volatile("");
}

[[gnu::noinline]] void trace_at_once(const landtrace::SyntheticEvent& event) {
  event.trace(1);
  asm volatile("");
}
[[gnu::noinline]] void trace_in_pieces(const landtrace::SyntheticEvent& event) {
  landtrace::SyntheticTrace trace(event);
  trace.add_next(2);
}

int main(int argc, char** /*argv*/) {
  if (argc > 1) {
    if (landtrace::make_synthetic("done", {{"u64", "n"}}) != 0) return 1;
    const landtrace::SyntheticEvent event("done");
    trace_at_once(event);
    trace_in_pieces(event);
    return event.error() == 0 ? 0 : 1;
  }
  caller<Job>();
  return Job::registration() == 0 ? 0 : 1;
}
