// Reads and writes the memory of other processes, and never waits long for it.
//
// A process may handle the faults of a page itself (userfaultfd, a hung FUSE mapping). Whoever touches such a page,
// also from outside, blocks until the process answers, perhaps for ever, and cannot be interrupted; so does whoever
// opens or compares the memory of a process that hangs in the middle of exec. So a helper thread
// does it (PatientWorker). A thread that does not come back in time is left behind, another takes its place, and the
// memory that it is in is not touched again until it comes back. What that memory has missed by then is the caller's to
// make up for.
//
// Whoever calls holds the domain, and so holds everybody up. So each user has a thread of its own, and guests get
// little time: first 20 ms, and for a minute after a memory of theirs has not answered 2 ms, with pauses of 1 s, 2 s,
// 4 s … in which no memory of theirs is waited for at all. A minute without such a thing and it begins anew. So one
// user costs the others less than a hundredth of their time, whatever it does. What of a guest's many words is not
// changed in that time is changed a moment later, while others are served; whether that gets on is looked at every now
// and then (look_after). Of such changes twice as many wait as the guest may have words; those beyond are missed.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "programs/address_space.hpp"
#include "programs/patient_worker.hpp"

namespace landtrace::programs {

// Not thread-safe. Each call takes a second at most, but for take_over() and set_all(), and another one where the
// helper thread waits for a CPU.
class ForeignMemory {
 public:
  // Everybody is trusted to answer but for guests: users other than root and this one.
  void set_owner(std::uint32_t uid) { owner_uid_ = uid; }

  // The memory of process `pid`, as far as `client` may touch it. EPERM or EACCES where the system does not allow it,
  // ETIMEDOUT where it does not answer.
  Result<std::shared_ptr<AddressSpace>> open(std::uint32_t pid, Identity client);

  // As programs::share_memory(), for `uid`, who has the processes. False where they do not answer.
  [[nodiscard]] bool share_memory(std::uint32_t one, std::uint32_t other, std::uint32_t uid);

  // Sets the bit if `on`, else clears it. EFAULT where the process itself could not write there, and where it does not
  // answer. Goes before changes that wait, and takes back those of this bit: where it does not answer the
  // memory has missed them.
  Result<void> check_and_set(const std::shared_ptr<AddressSpace>& space, EnableBit bit, bool on);

  // A word that an earlier owner knew.
  struct KnownWord {
    EnableBit bit;
    // Where the process says that the word is registered, see ipc::Claim; 0: nowhere.
    std::uint64_t claim;
    bool on;
    // Of a word without a claim: all bits of it that were registered. If any other bit is set the process uses that
    // memory for something else by now.
    std::uint64_t registered = 0;
  };
  // Sets or clears those of the words that the process still uses, as check_and_set() does: by its claim or, where
  // there is no claim, by what the word looks like. Returns for each whether that was done; those behind one that does
  // not answer are left alone. Takes a second for that one, and as long again for each thousand words at most: for a
  // guest's 20 ms each.
  std::vector<bool> take_over(const std::shared_ptr<AddressSpace>& space, const std::vector<KnownWord>& words);

  struct Change {
    std::shared_ptr<AddressSpace> space;
    EnableBit bit;
    bool on;
  };
  // Makes all the changes, those of one user's memory in their order. A bit that cannot be written is passed over: its
  // process has ended, or has unmapped the word. A memory that does not answer misses the change (has_missed). A
  // second, 20 microseconds for each change, and a tenth of a second for each process that does not answer at most; for
  // a guest 20 ms, and 2 ms for each such process. What is left then waits for the helper thread, of a guest
  // kMaxWaiting changes at most: beyond that a memory misses them. kToTheEnd: for a guest, too, 20 microseconds for
  // each change, as nobody is there later who could make those that are left. What waits by then is not made: these are
  // the last changes of all words.
  enum class Wait { kNotLong, kToTheEnd };
  static constexpr std::size_t kMaxWaiting = 1 << 19;
  void set_all(std::vector<Change> changes, Wait wait = Wait::kNotLong);

  // Whether a helper thread is at something that nobody waits for: look_after() is to be called every now and then.
  [[nodiscard]] bool is_at_work() const { return is_at_work_; }
  // Leaves behind those that have not got on for `patience`, and since an earlier call: what waits behind goes on
  // without them. Does not wait. Half a second, as whoever serves the domain calls this each second.
  static constexpr std::chrono::milliseconds kPatienceUnwatched{500};
  void look_after(std::chrono::microseconds patience = kPatienceUnwatched);

  // Whether any memory has missed changes since this was asked last.
  [[nodiscard]] bool any_missed() const { return any_missed_; }
  bool take_any_missed() { return std::exchange(any_missed_, false); }
  void miss(AddressSpace& space) { space.has_missed = any_missed_ = true; }
  // Whether what it has missed can be made up for.
  [[nodiscard]] bool answers(const AddressSpace& space) { return !space.is_silent && !lane_of(space.uid).is_closed(); }

 private:
  class Work;
  static constexpr unsigned kMaxLeftBehind = 8;  // threads that one guest may keep
  using Clock = std::chrono::steady_clock;
  using Microseconds = std::chrono::microseconds;
  // What one user's memory is touched by.
  struct Lane {
    Lane();
    PatientWorker worker;
    std::shared_ptr<Work> work;  // the worker's thread's
    bool is_guests = false;
    Clock::time_point slow_until{};
    Clock::time_point closed_until{};
    Clock::duration next_pause{};

    [[nodiscard]] bool is_slow() const { return is_guests && Clock::now() < slow_until; }
    [[nodiscard]] bool is_closed() const;
    [[nodiscard]] bool may_leave_behind() const { return !is_guests || worker.left_behind() < kMaxLeftBehind; }
    [[nodiscard]] Microseconds patience() const;
    // For so many words.
    [[nodiscard]] Microseconds longest(std::size_t words, Microseconds each) const;
    // Who was not waited for has cost nobody anything, and so there is no pause.
    void has_not_answered(bool was_waited_for);
  };
  Lane& lane_of(std::uint32_t uid);
  // Runs the job, which is about `space`, in the helper thread. False when it did not finish in time. The job may go on
  // all the same, so it must own what it touches.
  bool visit(Lane& lane, const std::shared_ptr<AddressSpace>& space, const std::function<void(Work&)>& job,
             Microseconds longest);
  // False where there is none to make.
  bool post(Lane& lane, std::vector<Change> changes);
  // The helper thread makes the changes that wait.
  static void go_on(Lane& lane);
  // Returns the memory that does not answer, if there is one.
  std::shared_ptr<AddressSpace> give_up(Lane& lane, bool was_waited_for = true);
  void set_in(Lane& lane, std::vector<Change> changes, Wait wait);

  std::optional<std::uint32_t> owner_uid_;
  std::map<std::uint32_t, Lane> lanes_;  // by uid
  bool any_missed_ = false;
  bool is_at_work_ = false;
};

}  // namespace landtrace::programs
