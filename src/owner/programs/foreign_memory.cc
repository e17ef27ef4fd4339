#include "programs/foreign_memory.hpp"

#include <algorithm>
#include <tuple>

#include "ipc/claim.hpp"

namespace landtrace::programs {
namespace {

// Memory that answers does so in microseconds, if the machine is not overloaded.
constexpr std::chrono::microseconds kPatience = std::chrono::seconds(1);
constexpr std::chrono::microseconds kPatiencePerChange{20};
// Shorter once a page has not answered: the owner, and everybody whom it serves, have waited a second already.
constexpr std::chrono::microseconds kPatienceAfterwards = std::chrono::milliseconds(100);
// The same with guests.
constexpr std::chrono::microseconds kPatienceWithGuests = std::chrono::milliseconds(20);
constexpr std::chrono::microseconds kPatienceWithSlowGuests = std::chrono::milliseconds(2);
constexpr auto kFirstPause = std::chrono::seconds(1);
constexpr auto kLongestPause = std::chrono::seconds(60);
constexpr auto kStaysSlow = std::chrono::seconds(60);
constexpr unsigned kMaxLeftBehind = 8;  // threads that one guest may keep

// A process may have given the word up while there was no owner whom it could tell, and use that memory for something
// else by now.
bool is_claimed(const AddressSpace& space, const ForeignMemory::KnownWord& word) {
  if (word.claim == 0) {
    std::uint64_t bits = 0;
    // The width of the word is not known. A bit from 32 on says that it has 8 bytes; else what follows may not be part
    // of it.
    const std::size_t size = word.bit.bit < 32 ? 4 : 8;
    return space.read(word.bit.address, &bits, size) && (bits & ~word.registered) == 0;
  }
  ipc::Claim claim{};
  return space.read(word.claim, &claim, sizeof claim) && claim.is_valid(word.bit.address, word.bit.bit);
}

tl::unexpected<Error> silent() { return fail(EFAULT, "the process's memory does not answer"); }

}  // namespace

ForeignMemory::Lane& ForeignMemory::lane_of(std::uint32_t uid) {
  const auto [lane, is_new] = lanes_.try_emplace(uid);
  if (is_new) lane->second.is_guests = owner_uid_ && uid != 0 && uid != *owner_uid_;
  return lane->second;
}

bool ForeignMemory::Lane::is_closed() const {
  return is_guests && (Clock::now() < closed_until || worker.left_behind() >= kMaxLeftBehind);
}

std::chrono::microseconds ForeignMemory::Lane::patience() const {
  if (!is_guests) return kPatience;
  return is_slow() ? kPatienceWithSlowGuests : kPatienceWithGuests;
}

void ForeignMemory::Lane::has_not_answered() {
  const auto now = Clock::now();
  if (!is_slow()) {
    next_pause = kFirstPause;
  } else {
    closed_until = now + next_pause;
    next_pause = std::min<Clock::duration>(next_pause * 2, kLongestPause);
  }
  slow_until = std::max(now, closed_until) + kStaysSlow;
}

Result<std::shared_ptr<AddressSpace>> ForeignMemory::open(std::uint32_t pid, Identity client) {
  using Opened = Result<std::shared_ptr<AddressSpace>>;
  // Shared with the job, which may write its result long after this has returned. So it is in each of the functions
  // below.
  const auto opened = std::make_shared<Opened>();
  Lane& lane = lane_of(client.uid);
  if (lane.is_closed()) return fail(ETIMEDOUT, "another process of this user has not answered");
  if (lane.worker.run([=] { *opened = AddressSpace::open(pid, client); }, lane.patience())) return std::move(*opened);
  lane.has_not_answered();
  return fail(ETIMEDOUT, "/proc does not answer");
}

bool ForeignMemory::visit(const std::shared_ptr<AddressSpace>& space, std::function<void(const AddressSpace&)> job) {
  Lane& lane = lane_of(space->uid);
  if (space->unresponsive || lane.is_closed()) return false;
  if (lane.worker.run([space, job = std::move(job)] { job(*space); }, lane.patience())) return true;
  space->unresponsive = true;
  lane.has_not_answered();
  return false;
}

Result<void> ForeignMemory::check_and_set(const std::shared_ptr<AddressSpace>& space, EnableBit bit, bool on) {
  struct Job {
    AddressSpace::Cancelled cancelled = false;
    int code = 0;
  };
  const auto job = std::make_shared<Job>();
  const auto set = [=](const AddressSpace& there) {
    job->code = there.set_as_the_process_would(bit, on, job->cancelled);
  };
  if (!visit(space, set)) {
    // If the page answers later the job must not write: the caller was told that the bit is not set.
    job->cancelled = true;
    return silent();
  }
  if (job->code != 0) return fail_errno("writing the enable word", job->code);
  return {};
}

std::vector<bool> ForeignMemory::take_over(const std::shared_ptr<AddressSpace>& space,
                                           const std::vector<KnownWord>& words) {
  // So few at a time that a busy machine does them within our patience.
  constexpr std::size_t kAtOnce = 1000;
  std::vector<bool> taken(words.size(), false);
  for (std::size_t first = 0; first < words.size(); first += kAtOnce) {
    struct Job {
      std::vector<KnownWord> words;
      std::vector<bool> taken;
      AddressSpace::Cancelled cancelled = false;
    };
    const auto job = std::make_shared<Job>();
    const std::size_t end = std::min(words.size(), first + kAtOnce);
    job->words.assign(words.begin() + static_cast<std::ptrdiff_t>(first),
                      words.begin() + static_cast<std::ptrdiff_t>(end));
    const bool answers = visit(space, [job](const AddressSpace& there) {
      for (const KnownWord& word : job->words) {
        job->taken.push_back(is_claimed(there, word) &&
                             there.set_as_the_process_would(word.bit, word.on, job->cancelled) == 0);
      }
    });
    if (!answers) {
      job->cancelled = true;
      break;
    }
    std::copy(job->taken.begin(), job->taken.end(), taken.begin() + static_cast<std::ptrdiff_t>(first));
  }
  return taken;
}

// Guests come last.
void ForeignMemory::set_all(std::vector<Change> changes) {
  std::map<std::uint32_t, std::vector<Change>> by_uid;
  for (Change& change : changes) by_uid[change.space->uid].push_back(std::move(change));
  for (const bool guests : {false, true}) {
    for (auto& [uid, own] : by_uid) {
      if (Lane& lane = lane_of(uid); lane.is_guests == guests) set_in(lane, std::move(own));
    }
  }
}

void ForeignMemory::set_in(Lane& lane, std::vector<Change> changes) {
  struct Job {
    std::vector<Change> changes;
    // The change that is being made: when the job does not come back this says whose memory has not answered. Counted
    // up behind each change, which pairs with the load below.
    std::atomic<std::size_t> next = 0;
    AddressSpace::Cancelled cancelled = false;
  };
  auto patience = lane.patience();
  while (!changes.empty()) {
    const auto job = std::make_shared<Job>();
    job->changes = std::move(changes);
    patience += kPatiencePerChange * static_cast<std::int64_t>(job->changes.size());
    const auto make_changes = [job] {
      for (std::size_t i = 0; i < job->changes.size() && !job->cancelled; job->next = ++i) {
        const Change& change = job->changes[i];
        if (!change.space->unresponsive) std::ignore = change.space->set(change.bit, change.on, job->cancelled);
      }
    };
    // Nobody waits for a user whose memories do not answer one after the other: those that do have their bits soon.
    if (lane.is_closed()) {
      if (lane.worker.left_behind() < kMaxLeftBehind) lane.worker.leave(make_changes);
      return;
    }
    if (lane.worker.run(make_changes, patience)) return;
    // Before the look at `next`: a job that comes back after all must not go on, since its successor makes the rest of
    // the changes.
    job->cancelled = true;
    lane.has_not_answered();
    const std::size_t stuck = job->next;
    if (stuck >= job->changes.size()) return;
    job->changes[stuck].space->unresponsive = true;
    // Go on with the changes behind that one. They are copied: the job that was left behind keeps its own for ever.
    changes.assign(job->changes.begin() + static_cast<std::ptrdiff_t>(stuck) + 1, job->changes.end());
    patience = lane.is_guests ? lane.patience() : kPatienceAfterwards;
  }
}

}  // namespace landtrace::programs
