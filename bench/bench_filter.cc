// Filters alone: what one costs that refuses an event, on a payload as a producer has it. The loop is in the figure,
// the context of the event too, since a producer has to fill it in.
#include <cstring>
#include <stdexcept>

#include "benchmarks.hpp"
#include "filter/evaluate.hpp"
#include "language/filter/compile.hpp"
#include "rules.hpp"

namespace landtrace::bench {
namespace {

struct FilteredEvent {
  FilteredEvent() { std::memcpy(text, rules::kText, sizeof text); }

  std::uint32_t n = rules::kNumber;
  std::int32_t s = 0;
  std::uint64_t q = 1;
  char text[rules::kTextSize];
};

language::ProgramBuffer compiled(const char* expression) {
  const auto event = event::parse_declaration("filtered u32 n;s32 s;u64 q;char[32] text");
  auto program = language::compile_filter(expression, {event->fields, 1, nullptr});
  if (!program) throw std::runtime_error(std::string("not a filter: ") + expression);
  return *std::move(program);
}

void filter_alone(benchmark::State& state, const language::ProgramBuffer& buffer) {
  FilteredEvent event;
  const arch::Segment segment{&event, sizeof event};
  const filter::Program* program = &buffer.program();
  std::int32_t tid = 4711;
  for (auto _ : state) {
    benchmark::DoNotOptimize(program);
    benchmark::DoNotOptimize(tid);
    filter::Context context;
    context.header.type = 60000;
    context.header.pid = tid;
    bool passed = filter::passes(*program, context, &segment, 1);
    benchmark::DoNotOptimize(passed);
    benchmark::ClobberMemory();
  }
  if (filter::passes(*program, {}, &segment, 1)) state.SkipWithError("the filter lets the event pass");
}

void add(const char* name, const char* expression) {
  benchmark::RegisterBenchmark(name, [program = compiled(expression)](auto& state) { filter_alone(state, program); });
}

}  // namespace

void add_filter() {
  add(name::kFilterOne, rules::kOne);
  add(name::kFilterTwo, rules::kTwo);
  add(name::kFilterInside, rules::kInside);
  add(name::kFilterGlob, "text ~ \"*j?mp[a-z] *x*\"");
}

}  // namespace landtrace::bench
