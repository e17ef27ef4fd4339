#include "programs/foreign_memory.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <mutex>
#include <tuple>

#include "ipc/claim.hpp"
#include "programs/task.hpp"

namespace landtrace::programs {
namespace {

// Memory that answers does so in microseconds, if the machine is not overloaded.
constexpr std::chrono::microseconds kPatience = std::chrono::seconds(1);
constexpr std::chrono::microseconds kPatiencePerChange{20};
constexpr std::chrono::microseconds kPatiencePerWord{1000};  // that is taken over
// Shorter once a page has not answered: the owner, and everybody whom it serves, have waited a second already.
constexpr std::chrono::microseconds kPatienceAfterwards = std::chrono::milliseconds(100);
// The same with guests.
constexpr std::chrono::microseconds kPatienceWithGuests = std::chrono::milliseconds(20);
constexpr std::chrono::microseconds kPatienceWithSlowGuests = std::chrono::milliseconds(2);
constexpr auto kFirstPause = std::chrono::seconds(1);
constexpr auto kLongestPause = std::chrono::seconds(60);
constexpr auto kStaysSlow = std::chrono::seconds(60);

// A process may have given the word up while there was no owner whom it could tell, and use that memory for something
// else by now.
bool is_claimed(const AddressSpace& space, const ForeignMemory::KnownWord& word, const MemoryMap* seen) {
  if (word.claim == 0) {
    std::uint64_t bits = 0;
    // The width of the word is not known. A bit from 32 on says that it has 8 bytes; else what follows may not be part
    // of it.
    const std::size_t size = word.bit.bit < 32 ? 4 : 8;
    return space.read(word.bit.address, &bits, size, seen) && (bits & ~word.registered) == 0;
  }
  ipc::Claim claim{};
  return space.read(word.claim, &claim, sizeof claim, seen) && claim.is_valid(word.bit.address, word.bit.bit);
}

tl::unexpected<Error> silent() { return fail(EFAULT, "the process's memory does not answer"); }

}  // namespace

// What one helper thread is at. The thread has it, too, and may come back to it long after it was left behind.
class ForeignMemory::Work {
 public:
  // -- for the thread -----------------------------------------------------------------------------------------------
  // Between these two it is known which memory the thread is in.
  // False where the thread was left behind: the job is another's by now.
  bool enter(const std::shared_ptr<AddressSpace>& space) {
    const std::lock_guard lock(mutex_);
    --visits_;
    if (is_left_behind_) return false;
    inside_ = space;
    return true;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (is_left_behind_ && inside_) inside_->is_silent = false;  // it has answered after all
    inside_ = nullptr;
    ++progress_;
  }
  void get_on() { ++progress_; }
  // Until there are none, also of those that come meanwhile, or until a visit wants the thread. One that was left
  // behind makes no more of them: others do.
  void make_changes() {
    while (const auto change = take_next()) {
      std::ignore = change->space->set(change->bit, change->on, is_left_behind_);
      leave();
    }
  }

  // -- for who waits for it -----------------------------------------------------------------------------------------
  // Somebody waits for what comes next, and it is one thing. So no change begins before enter().
  void announce_visit() {
    const std::lock_guard lock(mutex_);
    ++visits_;
  }
  void add(std::vector<Change> changes) {
    const std::lock_guard lock(mutex_);
    changes_.insert(changes_.end(), std::make_move_iterator(changes.begin()), std::make_move_iterator(changes.end()));
  }
  [[nodiscard]] std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return changes_.size();
  }
  // Changes that wait, of this bit and of all, are not made. Whether there were any.
  bool take_back(const AddressSpace& space, EnableBit bit) {
    const std::lock_guard lock(mutex_);
    const auto is_of_it = [&](const Change& change) { return change.space.get() == &space && change.bit == bit; };
    return std::erase_if(changes_, is_of_it) > 0;
  }
  void drop_changes() {
    const std::lock_guard lock(mutex_);
    changes_.clear();
  }
  // The thread is waited for no longer: the memory that it is in is silent until it comes back. Returns that memory,
  // if there is one, and the changes that have not begun.
  std::pair<std::shared_ptr<AddressSpace>, std::vector<Change>> leave_behind() {
    const std::lock_guard lock(mutex_);
    is_left_behind_ = true;
    if (inside_) inside_->is_silent = true;
    std::vector<Change> rest(std::make_move_iterator(changes_.begin()), std::make_move_iterator(changes_.end()));
    changes_.clear();
    return {inside_, std::move(rest)};
  }
  [[nodiscard]] const PatientWorker::Progress& progress() const { return progress_; }

 private:
  std::optional<Change> take_next() {
    const std::lock_guard lock(mutex_);
    if (changes_.empty() || visits_ > 0) return std::nullopt;
    Change next = std::move(changes_.front());
    changes_.pop_front();
    inside_ = next.space;
    return next;
  }

  mutable std::mutex mutex_;
  std::shared_ptr<AddressSpace> inside_;
  std::deque<Change> changes_;
  unsigned visits_ = 0;  // that have not begun
  // As AddressSpace::Cancelled: without a partner.
  AddressSpace::Cancelled is_left_behind_ = false;
  PatientWorker::Progress progress_ = 0;
};

ForeignMemory::Lane::Lane() : work(std::make_shared<Work>()) {}

ForeignMemory::Lane& ForeignMemory::lane_of(std::uint32_t uid) {
  const auto [lane, is_new] = lanes_.try_emplace(uid);
  if (is_new) lane->second.is_guests = owner_uid_ && uid != 0 && uid != *owner_uid_;
  return lane->second;
}

bool ForeignMemory::Lane::is_closed() const {
  return is_guests && (Clock::now() < closed_until || !may_leave_behind());
}

std::chrono::microseconds ForeignMemory::Lane::patience() const {
  if (!is_guests) return kPatience;
  return is_slow() ? kPatienceWithSlowGuests : kPatienceWithGuests;
}

ForeignMemory::Microseconds ForeignMemory::Lane::longest(std::size_t words, Microseconds each) const {
  return patience() + each * static_cast<std::int64_t>(words);
}

void ForeignMemory::Lane::has_not_answered(bool was_waited_for) {
  const auto now = Clock::now();
  if (!is_slow()) {
    next_pause = kFirstPause;
  } else if (was_waited_for) {
    closed_until = now + next_pause;
    next_pause = std::min<Clock::duration>(next_pause * 2, kLongestPause);
  }
  slow_until = std::max(now, closed_until) + kStaysSlow;
}

// The helper thread has not come back. What it has not begun is left to the next one, and nobody waits for that here.
std::shared_ptr<AddressSpace> ForeignMemory::give_up(Lane& lane, bool was_waited_for) {
  auto [silent, rest] = lane.work->leave_behind();
  lane.worker.leave_behind();
  lane.work = std::make_shared<Work>();
  lane.has_not_answered(was_waited_for);
  if (silent) miss(*silent);
  if (post(lane, std::move(rest))) is_at_work_ = true;
  return silent;
}

bool ForeignMemory::post(Lane& lane, std::vector<Change> changes) {
  std::size_t room = std::numeric_limits<std::size_t>::max();
  if (lane.is_guests) room = kMaxWaiting - std::min(kMaxWaiting, lane.work->waiting());
  std::erase_if(changes, [&](const Change& change) {
    const bool is_missed = change.space->is_silent || room == 0;
    if (is_missed) {
      miss(*change.space);
    } else {
      --room;
    }
    return is_missed;
  });
  if (changes.empty()) return false;
  lane.work->add(std::move(changes));
  go_on(lane);
  return true;
}

void ForeignMemory::go_on(Lane& lane) {
  lane.worker.post([work = lane.work] { work->make_changes(); });
}

bool ForeignMemory::visit(Lane& lane, const std::shared_ptr<AddressSpace>& space, const std::function<void(Work&)>& job,
                          Microseconds longest) {
  while (!lane.is_closed()) {
    const auto work = lane.work;
    work->announce_visit();
    lane.worker.post([work, space, job] {
      if (!work->enter(space)) return;
      job(*work);
      work->leave();
    });
    const auto outcome = lane.worker.wait(lane.patience(), longest, work->progress());
    if (outcome == PatientWorker::Outcome::kGoesOn) is_at_work_ = true;
    if (outcome != PatientWorker::Outcome::kBlocked) {
      if (work->waiting() > 0) {  // what has let it in
        go_on(lane);
        is_at_work_ = true;
      }
      return outcome == PatientWorker::Outcome::kDone;
    }
    // It may be in a memory that it came to before, and that nobody has waited for.
    const auto silent = give_up(lane);
    if (!silent || silent == space) return false;
  }
  return false;
}

Result<std::shared_ptr<AddressSpace>> ForeignMemory::open(std::uint32_t pid, Identity client) {
  using Opened = Result<std::shared_ptr<AddressSpace>>;
  // Shared with the job, which may write its result long after this has returned. So it is in each of the functions
  // below.
  const auto opened = std::make_shared<Opened>();
  Lane& lane = lane_of(client.uid);
  if (lane.is_closed()) return fail(ETIMEDOUT, "another process of this user has not answered");
  const auto job = [=](Work&) { *opened = AddressSpace::open(pid, client); };
  if (visit(lane, nullptr, job, lane.patience())) return std::move(*opened);
  return fail(ETIMEDOUT, "/proc does not answer");
}

bool ForeignMemory::share_memory(std::uint32_t one, std::uint32_t other, std::uint32_t uid) {
  const auto same = std::make_shared<bool>(false);  // the job's, too, as in open()
  Lane& lane = lane_of(uid);
  const auto job = [=](Work&) { *same = programs::share_memory(one, other); };
  return visit(lane, nullptr, job, lane.patience()) && *same;
}

Result<void> ForeignMemory::check_and_set(const std::shared_ptr<AddressSpace>& space, EnableBit bit, bool on) {
  struct Job {
    AddressSpace::Cancelled cancelled = false;
    int code = 0;
  };
  Lane& lane = lane_of(space->uid);
  const bool was_waiting = lane.work->take_back(*space, bit);
  const auto job = std::make_shared<Job>();
  const auto set = [=](Work&) { job->code = space->set_as_the_process_would(bit, on, job->cancelled); };
  if (space->is_silent || !visit(lane, space, set, lane.patience())) {
    // If the page answers later the job must not write: the caller was told that the bit is not set.
    job->cancelled = true;
    if (was_waiting) miss(*space);  // it may stay registered
    return silent();
  }
  if (job->code != 0) return fail_errno("writing the enable word", job->code);
  return {};
}

std::vector<bool> ForeignMemory::take_over(const std::shared_ptr<AddressSpace>& space,
                                           const std::vector<KnownWord>& words) {
  struct Job {
    std::vector<KnownWord> words;
    std::vector<char> taken;
    // How many are done. The release store in the job pairs with the acquire load below: what was taken of these.
    std::atomic<std::size_t> done = 0;
    AddressSpace::Cancelled cancelled = false;
  };
  std::vector<bool> taken(words.size(), false);
  Lane& lane = lane_of(space->uid);
  if (space->is_silent) return taken;
  const auto job = std::make_shared<Job>();
  job->words = words;
  job->taken.resize(words.size());
  const auto take = [job, space](Work& work) {
    const auto seen = space->look();
    const MemoryMap* const map = seen ? &*seen : nullptr;
    for (std::size_t i = 0; i < job->words.size() && !job->cancelled; ++i) {
      const KnownWord& word = job->words[i];
      job->taken[i] =
          is_claimed(*space, word, map) && space->set_as_the_process_would(word.bit, word.on, job->cancelled, map) == 0;
      // Pairs with the acquire load behind the wait.
      job->done.store(i + 1, std::memory_order_release);
      work.get_on();
    }
  };
  const Microseconds each = lane.is_guests ? kPatiencePerChange : kPatiencePerWord;
  std::ignore = visit(lane, space, take, lane.longest(words.size(), each));
  job->cancelled = true;
  // Pairs with the release store in the job.
  const std::size_t done = job->done.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < done; ++i) taken[i] = job->taken[i] != 0;
  return taken;
}

// Guests come last.
void ForeignMemory::set_all(std::vector<Change> changes, Wait wait) {
  std::map<std::uint32_t, std::vector<Change>> by_uid;
  for (Change& change : changes) by_uid[change.space->uid].push_back(std::move(change));
  for (const bool guests : {false, true}) {
    for (auto& [uid, own] : by_uid) {
      if (Lane& lane = lane_of(uid); lane.is_guests == guests) set_in(lane, std::move(own), wait);
    }
  }
}

void ForeignMemory::look_after(Microseconds patience) {
  is_at_work_ = false;
  for (auto& [uid, lane] : lanes_) {
    const auto outcome = lane.worker.look(patience, lane.work->progress());
    if (outcome != PatientWorker::Outcome::kDone) is_at_work_ = true;
    if (outcome == PatientWorker::Outcome::kBlocked && lane.may_leave_behind()) give_up(lane, false);
  }
}

void ForeignMemory::set_in(Lane& lane, std::vector<Change> changes, Wait wait) {
  // They are the last ones: what waits is about the same words, and out of date.
  if (wait == Wait::kToTheEnd) lane.work->drop_changes();
  // Where a user's memories do not answer one after the other nobody waits for any, and what waits there does not grow.
  if (lane.is_closed() && lane.work->waiting() > 0) {
    for (const Change& change : changes) miss(*change.space);
    return;
  }
  Microseconds patience = lane.patience();
  const bool is_short = lane.is_guests && wait == Wait::kNotLong;
  const Microseconds longest = lane.longest(changes.size(), is_short ? Microseconds(0) : kPatiencePerChange);
  // What a guest has waiting goes on alone, and so does what comes behind it.
  bool is_over = is_short && lane.work->waiting() > 0, has_gone_on = false;
  if (!post(lane, std::move(changes))) return;
  while (!is_over && !lane.is_closed()) {
    const auto outcome = lane.worker.wait(patience, longest, lane.work->progress());
    if (outcome == PatientWorker::Outcome::kDone) return;
    if (outcome == PatientWorker::Outcome::kGoesOn) {
      // At the end nobody looks after it: that it is not blocked by now is found out by waiting once more.
      is_over = wait == Wait::kNotLong || std::exchange(has_gone_on, true);
      continue;
    }
    give_up(lane);
    patience = lane.is_guests ? lane.patience() : kPatienceAfterwards;
  }
  is_at_work_ = true;
}

}  // namespace landtrace::programs
