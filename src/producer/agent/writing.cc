// Jumps are written, or what was there before, while other threads run; and what became of each is noted.
#include <algorithm>
#include <cstring>
#include <ctime>

#include "agent/agent.hpp"
#include "agent/code_bytes.hpp"
#include "agent/jump.hpp"
#include "agent/loader.hpp"
#include "agent/raw.hpp"
#include "agent/writable_pages.hpp"

namespace landtrace::agent {
namespace {

// Threads are stopped for no longer than this, and rather again, while the machine is too busy to let them come to
// their stop. That the last thread of many gets its turn on a CPU is a matter of luck then: several times the same, and
// then for twice as long each time, lest a place is never patched.
constexpr std::uint64_t kPatience = 4'000'000;  // ns
constexpr std::uint64_t kMostPatience = 128'000'000;
constexpr unsigned kShortTries = 6;
constexpr unsigned kTries = kShortTries + 6;
std::uint64_t patience_at(unsigned attempt) {
  return attempt < kShortTries ? kPatience : std::min(kPatience << (attempt - kShortTries + 1), kMostPatience);
}
// Before the next try: others that want the CPUs have them for a while, and are not in the way then.
std::uint64_t pause_before(unsigned attempt) {
  constexpr std::uint64_t kShortest = 1'000'000;
  return kShortest << std::min(attempt - 1, 3u);
}

Reason reason_of(StopResult result) {
  switch (result) {
    case StopResult::kNotPermitted:
      return Reason::kNotPermitted;
    case StopResult::kTraced:
      return Reason::kTraced;
    case StopResult::kDone:
    case StopResult::kBusy:
      break;
  }
  return Reason::kBusy;
}

}  // namespace

void Agent::write(std::vector<Job>& jobs) {
  if (jobs.empty()) return;
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.known->address < b.known->address; });
  with_loader_locked([&] { write_locked(jobs); });
}

void Agent::write_locked(std::vector<Job>& jobs) {
  WritablePages pages(objects_.maps());
  std::vector<std::uint64_t> written;
  for (const Job& job : jobs) {
    written.push_back(job.known->address);
    if (job.is_jump && job.known->spring != 0) written.push_back(job.known->spring);
  }
  std::sort(written.begin(), written.end());
  for (const std::uint64_t address : written) pages.add(address);
  pages.open();
  std::vector<Job*> others;
  const bool alone = is_alone();
  for (Job& job : jobs) {
    const std::uint64_t address = job.known->address;
    std::uint8_t now[sizeof job.known->recipe.expected];
    // As it was when it was planned: the object may be another since.
    const bool is_file = pages.holds(address) && read_memory(address, now, job.known->recipe.displaced) &&
                         (now[0] == 0xe9 || (now[0] == 0xeb && job.size == kShortJumpSize) ||
                          std::memcmp(now, job.known->recipe.expected, job.known->recipe.displaced) == 0);
    const std::uint64_t spring = job.is_jump ? job.known->spring : 0;
    if (spring != 0 && is_file && pages.holds(spring)) {
      // First, as then there is where to go.
      std::uint8_t jump[kJumpSize];
      put_long_jump(spring, job.known->code, jump);
      store(spring, jump, sizeof jump);
    }
    if (!is_file || (spring != 0 && !pages.holds(spring))) {
      job.reason = pages.holds(address) ? Reason::kBytesDiffer : Reason::kProtected;
    } else if (alone || job.way == Way::kOneStore) {
      store(address, job.bytes, job.size);
      job.done = true;
    } else {
      touch_for_writing(address);
      others.push_back(&job);
    }
  }
  synchronize_code();
  if (!others.empty()) write_stopped(others);
}

void Agent::write_stopped(std::vector<Job*>& jobs) {
  for (unsigned i = 0; i < kTries && !jobs.empty(); ++i) {
    if (i != 0) {
      const timespec pause = {0, static_cast<long>(pause_before(i))};
      raw(SYS_nanosleep, raw_address(&pause), 0);
    }
    std::vector<Patch> patches;
    for (const Job* job : jobs) {
      Patch patch = {job->known->address, {}, job->size, {}};
      std::memcpy(patch.bytes, job->bytes, job->size);
      std::memcpy(patch.moved, job->known->moved, sizeof patch.moved);
      patches.push_back(patch);
    }
    const StopReport report = write_with_others_stopped(patches, objects_.maps(), patience_at(i));
    counters_.stops += 1;
    counters_.threads_stopped += report.threads;
    counters_.longest_stop_ns = std::max(counters_.longest_stop_ns, report.stopped_ns);
    std::vector<Job*> left;
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      jobs[k]->done = patches[k].written;
      jobs[k]->reason = reason_of(report.result);
      if (!patches[k].written) left.push_back(jobs[k]);
    }
    jobs = std::move(left);
    if (report.result == StopResult::kNotPermitted || report.result == StopResult::kTraced) return;
  }
}

void Agent::settle(std::vector<Job>& jobs) {
  for (Job& job : jobs) {
    const std::uint64_t address = job.known->address;
    if (!job.is_jump) {
      if (job.done) {
        occupied_.erase(address);
      } else {
        left_.push_back(job.known);
      }
      continue;
    }
    auto& patched = job.place->patched;
    const auto at = [address](const Patched& one) { return one.address == address; };
    const auto there = std::find_if(patched.begin(), patched.end(), at);
    if (!job.done) {
      job.known->site->wants = 0;
      job.place->reason = job.reason;
      if (there != patched.end()) continue;
      if (has_our_jump(address, job.place->recipe)) {
        leave_for_later(address);
      } else {
        occupied_.erase(address);
      }
    } else if (there != patched.end()) {
      move_places(*there->known, *job.known);
    } else {
      patched.push_back({job.known, job.way, address, job.known->site.get()});
    }
  }
}

void Agent::leave_for_later(std::uint64_t address) {
  std::uint8_t bytes[kJumpSize] = {};
  read_memory(address, bytes, sizeof bytes);
  const auto [begin, end] = known_.equal_range(address);
  for (auto it = begin; it != end; ++it) {
    Job job = {nullptr, it->second.get(), {}, Way::kAlone, true};
    set_jump(job);
    if (std::memcmp(bytes, job.bytes, sizeof bytes) == 0) left_.push_back(it->second.get());
  }
}

void Agent::try_left_again() {
  if (left_.empty()) return;
  objects_.read();
  std::vector<Job> jobs;
  for (Known* known : left_) plan_removal(*known, jobs);
  left_.clear();
  write(jobs);
  settle(jobs);
}

}  // namespace landtrace::agent
