// Emits an event by the C++ API, from a function whose name is long.
#include <landtrace/landtrace.hpp>

using landtrace::Event, landtrace::Field;

namespace {

using Job = Event<"job", Field<"source", std::uint32_t>, Field<"sequence", std::uint32_t>>;

}  // namespace

template <typename AnEvent>
[[gnu::noinline]] void caller() {
  AnEvent::emit(1u, 2u);
  asm volatile("");
}

int main() {
  caller<Job>();
  return Job::registration() == 0 ? 0 : 1;
}
