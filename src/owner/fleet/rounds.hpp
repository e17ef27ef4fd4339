// A thread in which several have rounds: each when it is due, or when somebody rings for it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

namespace landtrace::fleet {

class Rounds {
 public:
  // Returns when the next one is due, in nanoseconds of the monotonic clock.
  using Round = std::function<std::uint64_t()>;
  static constexpr std::uint64_t kNever = UINT64_MAX;
  using Member = std::uint64_t;

  Rounds();
  // Those who are still there have no round any more.
  ~Rounds();
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

  // Thread-safe. Its first round is due now.
  Member add(Round round);
  // Thread-safe, also in a round. A round of that member begins after this, however many ring before it does.
  void ring(Member member);
  // Thread-safe, but not in a round: none is under way, or begins, when it returns.
  void remove(Member member);

 private:
  struct Place {
    Round round;
    std::uint64_t due_ns = 0;
    bool is_leaving = false;
  };
  void run();
  void run_one(Member member, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<Member, Place> members_;
  std::set<std::pair<std::uint64_t, Member>> due_;  // but the one under way
  Member next_ = 1;
  Member under_way_ = 0;  // whose round runs
  bool is_rung_ = false;  // … and who is to have another one at once
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace landtrace::fleet
