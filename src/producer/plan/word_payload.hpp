// The usual probe's payload: a few words as they are, registers and what was kept of a call. It is put together in
// line, and a filter that refuses by one of the registers is asked before anything else is done for the event.
// made_payload.hpp makes all others.
#pragma once

#include <cstring>

#include "arch/registers.hpp"
#include "filter/program.hpp"
#include "plan/event_probe.hpp"

namespace landtrace::plan {

using enum arch::Register;
using arch::Register;

// What a call leaves for its return, where it is probed:
//
//   0               48     56      64
//   +---------------+------+-------+
//   | 6 arguments   | time | which |
//   +---------------+------+-------+
//
// `which`: the kNeeds… of ProbeHooks as they were at the call, so which of the others are there.
inline constexpr std::uint32_t kKeptArguments = 6;
inline constexpr std::uint32_t kKeptTime = 6;  // by the raw clock
inline constexpr std::uint32_t kKeptWhich = 7;
inline constexpr std::uint32_t kKeptWords = 8;
inline constexpr std::uint32_t kNeedsArguments = 1;
inline constexpr std::uint32_t kNeedsTime = 2;

// A longer payload is put together elsewhere.
inline constexpr std::uint32_t kMaxWordPayload = 128;

// A place in code, and the registers there.
struct ProbedMoment {
  const std::uint64_t* registers;  // [kRegisters]
  std::uint64_t place;
  // Of a return: where the function goes back to.
  std::uint64_t return_address;
  // Of a return: the call's, or nullptr.
  const std::uint64_t* kept;  // [kKeptWords]

  [[nodiscard]] bool has(std::uint32_t need) const { return kept != nullptr && (kept[kKeptWhich] & need) != 0; }
  // One that was not kept is 0, as in the kernel what cannot be read.
  [[nodiscard]] std::uint64_t argument(std::uint64_t index) const {
    return has(kNeedsArguments) && index < kKeptArguments ? kept[index] : 0;
  }
};

// Of the call whose return is at this moment; its time was kept.
std::uint64_t elapsed_ns(const Thread& thread, std::uint64_t began);

// The source is the value.
inline bool is_plain(const EventProbeArg& arg) {
  return arg.store == EventProbeStore::kValue && (arg.step_count | arg.bits | arg.count) == 0;
}
inline bool is_plain_register(const EventProbeArg& arg) {
  return arg.source == EventProbeSource::kRegister && arg.at < kRegisters && is_plain(arg);
}

// The low bytes of a number: 1, 2, 4 or 8.
inline void store_number(std::byte* to, std::uint64_t number, std::uint32_t size) {
  if (__builtin_expect(size == 8, 1)) {
    std::memcpy(to, &number, 8);
  } else if (size == 4) {
    std::memcpy(to, &number, 4);
  } else if (size == 2) {
    std::memcpy(to, &number, 2);
  } else {
    std::memcpy(to, &number, 1);
  }
}

// Bytes between values are sent, too. `out` has room for whole words. Most payloads are short: no call of memset().
inline void clear_values(std::byte* out, std::uint32_t size) {
  for (std::uint32_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t zero = 0;
    std::memcpy(out + at, &zero, sizeof zero);
  }
}

enum class WordPayload : std::uint8_t {
  kReady,
  kNotOfWords,  // and anything in `out`
  kNothing,     // the event does not happen: it wants the time of a call that began before anybody asked for it
};

[[gnu::always_inline]] inline WordPayload make_of_words(const EventProbePlan& plan, const Thread& thread,
                                                        const ProbedMoment& moment, std::byte* out) {
  if (plan.values_size > kMaxWordPayload) return WordPayload::kNotOfWords;
  clear_values(out, plan.values_size);
  if (plan.header >= sizeof moment.place) std::memcpy(out, &moment.place, sizeof moment.place);
  if (plan.header > sizeof moment.place) {
    std::memcpy(out + sizeof moment.place, &moment.return_address, sizeof moment.return_address);
  }
  const EventProbeArg* arg = plan.args();
  for (const EventProbeArg* const end = arg + plan.arg_count; arg != end; ++arg) {
    std::uint64_t word = 0;
    if (__builtin_expect(is_plain_register(*arg), 1)) {
      word = moment.registers[arg->at];
    } else if (arg->source == EventProbeSource::kKept && is_plain(*arg)) {
      word = moment.argument(arg->number);
    } else if (arg->source == EventProbeSource::kElapsed && is_plain(*arg)) {
      if (!moment.has(kNeedsTime)) return WordPayload::kNothing;
      word = elapsed_ns(thread, moment.kept[kKeptTime]);
    } else {
      return WordPayload::kNotOfWords;
    }
    store_number(out + arg->target, word, arg->size);
  }
  return WordPayload::kReady;
}

// True where the event's filter refuses by its first comparison, and that is one of a register: the usual
// `size > 4096`, and the first of several with && between them.
inline bool is_refused_by_register(const View& view, const Plan& plan, const EventProbePlan& probe,
                                   const std::uint64_t* registers) {
  const PlanStep& gate = *plan.steps();
  if (gate.kind != StepKind::kFilter || gate.skip + 1u != plan.step_count) return false;
  const filter::Op& op = *control_at<filter::Program>(view, static_cast<std::uint32_t>(gate.filter))->ops();
  if (!op.is_range()) return false;
  const EventProbeArg* arg = probe.args();
  for (const EventProbeArg* const end = arg + probe.arg_count; arg != end; ++arg) {
    if (arg->target != op.offset) continue;
    if (!is_plain_register(*arg) || arg->size != op.range_size()) return false;
    return (op.range_has(registers[arg->at]) ? op.on_match : op.on_mismatch) == filter::Op::kReject;
  }
  return false;
}

}  // namespace landtrace::plan
