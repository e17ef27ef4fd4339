// Joins events with the stacks that were recorded behind them: a stack is a record of its own, the next one of its
// thread. So an event waits until its thread has another one.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "output/record.hpp"
#include "output/stack/user_stack.hpp"

namespace landtrace::output {

class StackJoiner {
 public:
  // What is given, in the order in which it came. The pointer is null where no stack belongs to the event.
  struct Taker {
    std::function<void(const Record&, const UserStack*)> event;
    std::function<void(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns)> lost;
  };
  explicit StackJoiner(Taker taker) : taker_(std::move(taker)) {}

  // A stack that follows no event of its thread is an event itself.
  void add(const Record& record, bool is_stack);
  void add_lost(std::uint32_t cpu, std::uint64_t count, std::uint64_t time_ns);
  // Gives all that waits.
  void end();

 private:
  // A stack is written microseconds after its event, and events of a thread that then sleeps need not wait.
  static constexpr std::uint64_t kLongest_ns = 100'000'000;
  static constexpr std::size_t kMost = 4096;

  struct Waiting {
    Record record;
    std::vector<std::byte> payload;
    std::uint64_t lost = 0;  // not 0: no event
    bool is_decided = false;
    std::optional<UserStack> stack;
  };
  Waiting* waiting_of(std::int32_t tid);
  void decide(std::int32_t tid) { open_.erase(tid); }
  void give(std::uint64_t now_ns);
  void give_first();

  Taker taker_;
  std::deque<Waiting> queue_;
  std::uint64_t given_ = 0;                               // before the first of the queue
  std::unordered_map<std::int32_t, std::uint64_t> open_;  // threads' last events, counted from the first ever
};

}  // namespace landtrace::output
