// Filters and triggers where they act: in a program that links the library, from emit() to the ring or to the
// refusal. What a filter refuses is measured beside an event that is refused by a switch alone, so that what finding
// the plan costs is known.
#include <landtrace/landtrace.hpp>

#include <fmt/format.h>

#include "benchmarks.hpp"
#include "rules.hpp"

namespace landtrace::bench {
namespace {

template <landtrace::detail::Literal Name>
using Numbers = Event<Name, Field<"n", std::uint32_t>, Field<"s", std::int32_t>, Field<"q", std::uint64_t>>;
template <landtrace::detail::Literal Name>
using Text = Event<Name, Field<"text", char[rules::kTextSize]>>;

using Source = Event<"bench_rule_source">;  // its trigger is what makes an event be found and not recorded
using Found = Numbers<"bench_rule_found">;
using One = Numbers<"bench_rule_one">;
using Two = Numbers<"bench_rule_two">;
using Passed = Numbers<"bench_rule_passed">;
using Watched = Numbers<"bench_rule_watched">;
using Triggered = Numbers<"bench_rule_triggered">;
using FoundText = Text<"bench_rule_found_text">;
using Inside = Text<"bench_rule_inside">;

enum class Recorded : bool { kNever, kAlways };

void set(Owner& owner, const std::string& event, const char* file, const std::string& text) {
  owner.write(fmt::format("events/user_events/{}/{}", event, file), text);
}

template <typename E, typename Emit>
void add(Owner& owner, const char* name, Recorded recorded, Emit emit) {
  benchmark::RegisterBenchmark(name, [&owner, recorded, emit](benchmark::State& state) {
    if (!E::enabled()) return state.SkipWithError("the event has no plan");
    const RecordedCheck check([&] { return owner.written(); });
    std::uint64_t i = 0;
    for (auto _ : state) {
      emit(i);
      ++i;
      benchmark::ClobberMemory();
    }
    check.expect(state, recorded == Recorded::kAlways ? i : 0);
  });
}

template <typename E>
void add_numbers(Owner& owner, const char* name, Recorded recorded) {
  add<E>(owner, name, recorded, [](std::uint64_t i) { E::emit(rules::kNumber, 0, i); });
}
template <typename E>
void add_text(Owner& owner, const char* name) {
  add<E>(owner, name, Recorded::kNever, [](std::uint64_t) { E::emit(rules::kText); });
}

void set_rules(Owner& owner) {
  for (const char* const event : {"bench_rule_found", "bench_rule_found_text"}) {
    set(owner, "bench_rule_source", "trigger", fmt::format("enable_event:user_events:{}", event));
  }
  const std::pair<const char*, const char*> kFilters[] = {{"bench_rule_one", rules::kOne},
                                                          {"bench_rule_two", rules::kTwo},
                                                          {"bench_rule_passed", rules::kPassed},
                                                          {"bench_rule_inside", rules::kInside}};
  for (const auto& [event, filter] : kFilters) set(owner, event, "filter", filter);
  for (const char* const event : {"bench_rule_watched", "bench_rule_triggered"}) {
    set(owner, event, "trigger", fmt::format("traceoff if {}", rules::kOne));
  }
  for (const char* const event :
       {"bench_rule_one", "bench_rule_two", "bench_rule_passed", "bench_rule_inside", "bench_rule_triggered"}) {
    set(owner, event, "enable", "1");
  }
}

}  // namespace

void add_rules(Owner& owner) {
  static_cast<void>(Source::registration());
  set_rules(owner);
  add_numbers<Found>(owner, name::kRuleFound, Recorded::kNever);
  add_numbers<One>(owner, name::kRuleOne, Recorded::kNever);
  add_numbers<Two>(owner, name::kRuleTwo, Recorded::kNever);
  add_numbers<Passed>(owner, name::kRulePassed, Recorded::kAlways);
  add_numbers<Watched>(owner, name::kRuleWatched, Recorded::kNever);
  add_numbers<Triggered>(owner, name::kRuleTriggered, Recorded::kAlways);
  add_text<FoundText>(owner, name::kRuleFoundText);
  add_text<Inside>(owner, name::kRuleInside);
}

}  // namespace landtrace::bench
