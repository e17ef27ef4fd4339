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

Result<std::shared_ptr<AddressSpace>> ForeignMemory::open(std::uint32_t pid, Identity client) {
  using Opened = Result<std::shared_ptr<AddressSpace>>;
  // Shared with the job, which may write its result long after this has returned. So it is in each of the functions
  // below.
  const auto opened = std::make_shared<Opened>();
  if (!worker_.run([=] { *opened = AddressSpace::open(pid, client); }, kPatience)) {
    return fail(ETIMEDOUT, "/proc does not answer");
  }
  return std::move(*opened);
}

bool ForeignMemory::visit(const std::shared_ptr<AddressSpace>& space, std::function<void(const AddressSpace&)> job) {
  if (space->unresponsive) return false;
  if (worker_.run([space, job = std::move(job)] { job(*space); }, kPatience)) return true;
  space->unresponsive = true;
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

void ForeignMemory::set_all(std::vector<Change> changes) {
  struct Job {
    std::vector<Change> changes;
    // The change that is being made: when the job does not come back this says whose memory has not answered. Counted
    // up behind each change, which pairs with the load below.
    std::atomic<std::size_t> next = 0;
    AddressSpace::Cancelled cancelled = false;
  };
  auto patience = kPatience;
  while (!changes.empty()) {
    const auto job = std::make_shared<Job>();
    job->changes = std::move(changes);
    patience += kPatiencePerChange * static_cast<std::int64_t>(job->changes.size());
    const bool finished = worker_.run(
        [job] {
          for (std::size_t i = 0; i < job->changes.size() && !job->cancelled; job->next = ++i) {
            const Change& change = job->changes[i];
            if (!change.space->unresponsive) std::ignore = change.space->set(change.bit, change.on, job->cancelled);
          }
        },
        patience);
    if (finished) return;
    // Before the look at `next`: a job that comes back after all must not go on, since its successor makes the rest of
    // the changes.
    job->cancelled = true;
    const std::size_t stuck = job->next;
    if (stuck >= job->changes.size()) return;
    job->changes[stuck].space->unresponsive = true;
    // Go on with the changes behind that one. They are copied: the job that was left behind keeps its own for ever.
    changes.assign(job->changes.begin() + static_cast<std::ptrdiff_t>(stuck) + 1, job->changes.end());
    patience = kPatienceAfterwards;
  }
}

}  // namespace landtrace::programs
