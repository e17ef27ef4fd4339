// What the helper process has and does (other_threads.hpp), without libc and without allocation.
#pragma once

#include <sys/user.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "agent/other_threads.hpp"
#include "agent/raw.hpp"

#if defined(__x86_64__)
namespace landtrace::agent {

inline constexpr std::size_t kMaxGuards = 64;
inline constexpr std::size_t kMaxChildren = 64;

enum class Hold : std::uint8_t {
  kNew,          // not looked at yet
  kInterrupted,  // will stop
  kStopped,
  kGuarded,  // blocked in a call, with a guard behind it
  kGone,
};
struct Thread {
  long id;
  int fd;  // its `syscall` file; -1: not opened yet
  Hold hold;
  int signal;  // what it stopped for, to be delivered
  std::uint64_t pc;
  std::uint64_t sp;
};
// Two bytes that are a jump to itself for a while.
struct Guard {
  std::uint64_t address;
  std::uint8_t bytes[2];
  int protection;  // of its page
  bool placed;
};
inline constexpr std::uint8_t kJumpToItself[2] = {0xeb, 0xfe};

inline long ptrace(long request, long thread, long address = 0, long data = 0) {
  return raw(SYS_ptrace, request, thread, address, data);
}

// Everything that the helper process uses.
class Stop {
 public:
  Stop(std::span<Patch> patches, const std::vector<Mapped>& maps, std::uint64_t patience, int tasks, long self)
      : patches_(patches),
        maps_(maps.data()),
        map_count_(maps.size()),
        patience_(patience),
        tasks_(tasks),
        self_(self),
        process_(raw(SYS_getpid)) {}

  ~Stop();
  // In the program's own thread, first: false where there is no memory.
  bool allocate();
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  // In the helper.
  void run();
  // In the program's own thread: what the helper has not come to, should it have been killed.
  void clean_up();
  [[nodiscard]] const StopReport& report() const { return report_; }

  std::uint32_t go = 0;  // set when the helper may begin

 private:
  void be_first() const;
  StopResult stop_all();
  StopResult stop_running(bool& settled);
  bool guard_blocked();
  bool list(bool& grown);
  StopResult seize(Thread& thread);
  bool look(Thread& thread, bool& is_blocked, long& call);
  bool interrupt(Thread& thread);
  bool see_stop(Thread& thread);
  bool wait_for_stop(Thread& thread, std::uint64_t deadline);
  bool wait_until_stopped(std::uint64_t deadline);
  void note_stop(Thread& thread, int status);
  void note_child(long child);
  void let_child_go(long child);
  void restart_call(const Thread& thread, user_regs_struct& registers);
  bool has_signal(const Thread& thread);
  bool guard(std::uint64_t pc);
  static bool move(Thread& thread, const Patch& patch);
  void look_through_stack(const Thread& thread);
  void remove_guards();
  void remove_guards_of(long child);
  void mark_occupied(std::uint64_t pc);
  void write();
  static void detach(Thread& thread);
  void let_go();
  [[nodiscard]] bool is_awaited() const;
  [[nodiscard]] const Mapped* mapping_of(std::uint64_t address) const;
  [[nodiscard]] Patch* within(std::uint64_t pc) const;

  std::span<Patch> patches_;
  const Mapped* maps_;
  std::size_t map_count_;
  std::uint64_t patience_;
  int tasks_;
  long self_;     // the thread that patches
  long process_;  // the program
  Thread* threads_ = nullptr;
  std::size_t count_ = 0;
  Guard guards_[kMaxGuards] = {};
  std::size_t guard_count_ = 0;
  // Processes that were forked meanwhile, with the guards in their memory.
  long children_[kMaxChildren] = {};
  std::size_t child_count_ = 0;
  StopReport report_;
  std::uint64_t began_ = 0;
  bool has_ended_ = false;
  char stack_piece_[16 << 10];
};

}  // namespace landtrace::agent
#endif
