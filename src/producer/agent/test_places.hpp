// Functions to probe, with their recipes, and handlers that count.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <initializer_list>

#include "agent/agent.hpp"

extern "C" {
// 7 + 1 bytes; returns its argument + 1.
std::uint64_t lt_test_add_one(std::uint64_t);
// push rbp; mov rsp, rbp; push rbx; …: threads can stand within the jump. Returns its argument + 2.
std::uint64_t lt_test_push(std::uint64_t);
// The same, where the jump crosses 8 bytes.
std::uint64_t lt_test_crossing(std::uint64_t);
// Reads a variable of its object in its first instruction, 6 bytes: 1234.
std::uint64_t lt_test_variable();
// Compares, keeps a word in the red zone, passes the place below, and then uses flags and word: x < 10 ? x + 5 : x.
std::uint64_t lt_test_middle(std::uint64_t);
extern const char lt_test_middle_place[];
// Calls its first argument with its second.
void lt_test_call(void (*function)(void*), void* argument);
// Jumps to lt_test_call.
void lt_test_tail_call(void (*function)(void*), void* argument);
// Calls itself so many times, and returns how many it was.
std::uint64_t lt_test_recurse(std::uint64_t);
// Counts down, by a tail call of itself.
std::uint64_t lt_test_tail_recurse(std::uint64_t);
// All registers that a function may change, and that it may not, as the argument says, to and fro.
void lt_test_all_registers(std::uint64_t* before_and_after);
// Returns its two arguments in rax and rdx and (double) 1.5 and 2.5 in xmm0 and xmm1; the arguments in xmm0, xmm1 are
// added.
struct LtTestPair {
  double a;
  double b;
};
LtTestPair lt_test_doubles(double, double);
}

namespace landtrace::agent {

struct TestPlace {
  const void* address;
  Recipe recipe;
};
TestPlace test_place(const void* address, Way way, std::uint8_t displaced, std::uint8_t flags = kAtEntry);
// Instructions of one, three and one byte are displaced.
TestPlace with_push_and_move(TestPlace place);
TestPlace add_one_place();
TestPlace push_place();
TestPlace crossing_place();
TestPlace variable_place();
TestPlace middle_place();
TestPlace call_place();
TestPlace tail_call_place();
TestPlace recurse_place();
TestPlace tail_recurse_place();
TestPlace doubles_place();
TestPlace registers_place();

// Where the address is in the file that is mapped there.
Wanted wanted(const TestPlace& place, std::uint32_t number, std::uint32_t wants = kWantsEntry, std::uint32_t limit = 0);
Outcome apply(Agent& agent, const Wanted& wanted);
void drop(Agent& agent, std::initializer_list<std::uint32_t> numbers);

// What the handlers saw, by the places' numbers.
struct TestHits {
  std::uint64_t entries;
  std::uint64_t returns;
  std::uint64_t missed_entries;
  std::uint64_t missed_returns;
  Registers entry;
  Registers leave;
  std::uint64_t entry_data;  // of the last return: what its entry left, its first argument
  // A handler calls this, if it is there, in the middle.
  void (*within)();
};
inline constexpr std::uint32_t kTestNumbers = 4096;
extern TestHits test_hits[kTestNumbers];
// Sets the handlers that count, and forgets what they saw.
void use_test_handlers();
void forget_test_hits();

}  // namespace landtrace::agent
