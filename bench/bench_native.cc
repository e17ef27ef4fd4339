// Programs that link the library: an event nobody listens to, and one that is recorded.
#include <fmt/format.h>

#include <array>
#include <deque>

#include "benchmarks.hpp"
#include "native_event.hpp"
#include "roles.hpp"

namespace landtrace::bench {
namespace {

LANDTRACE_EVENT(bench_recorded, LT_U64(a), LT_U64(b));
LANDTRACE_EVENT(bench_disabled, LT_U64(a), LT_U64(b));

void empty_loop(benchmark::State& state) {
  for (auto _ : state) benchmark::ClobberMemory();
}

void disabled(benchmark::State& state) {
  if (Disabled::enabled() || Disabled::backend() != LANDTRACE_DOMAIN) {
    return state.SkipWithError("the event is enabled, or not in a domain");
  }
  std::uint64_t i = 0;
  for (auto _ : state) {
    Disabled::emit(i, ~i);
    ++i;
    benchmark::ClobberMemory();
  }
}

void recorded(benchmark::State& state, Owner& owner) {
  const RecordedCheck check([&] { return owner.written(); });
  std::uint64_t i = 0;
  for (auto _ : state) {
    Recorded::emit(i, ~i);
    ++i;
  }
  check.expect(state, i);
}

// The macros of C and C++11.
void disabled_macro(benchmark::State& state) {
  if (LANDTRACE_ENABLED(bench_disabled)) return state.SkipWithError("the event is enabled");
  std::uint64_t i = 0;
  for (auto _ : state) {
    LANDTRACE_EMIT(bench_disabled, i, ~i);
    ++i;
    benchmark::ClobberMemory();
  }
}

void recorded_by_macro(benchmark::State& state, Owner& owner) {
  const RecordedCheck check([&] { return owner.written(); });
  std::uint64_t i = 0;
  for (auto _ : state) {
    LANDTRACE_EMIT(bench_recorded, i, ~i);
    ++i;
  }
  check.expect(state, i);
}

// Through the C API, which copies the bytes once, into the ring.
void payload(benchmark::State& state, Owner& owner, const landtrace_event& event, std::size_t size) {
  static std::array<std::byte, 4096> bytes{};
  const RecordedCheck check([&] { return owner.written(); });
  const iovec vector{bytes.data(), size};
  for (auto _ : state) {
    if (landtrace_enabled(&event)) landtrace_emit(&event, &vector, size > 0 ? 1 : 0);
  }
  check.expect(state, state.iterations());
}

void clock_alone(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(__builtin_ia32_rdtsc());
}

// How a process writes is decided once, so this one is another.
void portable(benchmark::State& state, Owner& owner, const char* rounds) {
  const RecordedCheck check([&] { return owner.written_portably(); });
  std::uint64_t emitted = 0;
  for (auto _ : state) {
    Command command = role("portable", {owner.socket(), rounds});
    command.environment.emplace_back("LANDTRACE_WRITER", "portable");
    Child child(command);
    state.counters[kValue] = std::stod(child.line());
    emitted = std::stoull(child.line());
  }
  check.expect(state, emitted);
}

void add_payload(Owner& owner, int size) {
  static std::deque<landtrace_event> events;  // an event stays in its place
  static std::deque<std::string> declarations;
  landtrace_event& event = events.emplace_back(landtrace_event LANDTRACE_EVENT_INIT);
  // Without fields: a field has a limit of 1024 bytes, what may follow the fields does not.
  const std::string& declaration = declarations.emplace_back(fmt::format("bench_payload_{}", size));
  if (landtrace_register(&event, declaration.c_str(), 0) != 0 || !landtrace_enabled(&event)) {
    throw Broken(declaration + " is not recorded");
  }
  benchmark::RegisterBenchmark((name::kPayload + std::to_string(size)).c_str(), [&owner, &event, size](auto& state) {
    payload(state, owner, event, static_cast<std::size_t>(size));
  });
}

}  // namespace

void add_native(Owner& owner, const Setting& setting) {
  landtrace::attach();
  if (!Recorded::enabled()) throw Broken("the native event is not recorded");
  benchmark::RegisterBenchmark(name::kEmptyLoop, empty_loop);
  benchmark::RegisterBenchmark(name::kDisabled, disabled);
  benchmark::RegisterBenchmark(name::kClock, clock_alone);
  benchmark::RegisterBenchmark(name::kRecorded, [&](auto& state) { recorded(state, owner); });
  benchmark::RegisterBenchmark(name::kDisabledMacro, disabled_macro);
  benchmark::RegisterBenchmark(name::kRecordedByMacro, [&](auto& state) { recorded_by_macro(state, owner); });
  for (const int size : name::kPayloads) add_payload(owner, size);
  const char* const rounds = setting.quick ? "3" : "9";
  benchmark::RegisterBenchmark(name::kPortable, [&, rounds](auto& state) {
    portable(state, owner, rounds);
  })->Iterations(1);
}

}  // namespace landtrace::bench
