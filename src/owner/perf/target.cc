#include "perf/target.hpp"

#include <fcntl.h>

#include <string>

#include "base/fd.hpp"
#include "programs/space_identity.hpp"
#include "programs/task.hpp"

namespace landtrace::perf {
namespace {

// A chain of parents is no longer, unless it is a circle.
constexpr int kMostGenerations = 1000;

std::uint64_t program_of(std::uint32_t tid) {
  const Fd memory(::open(("/proc/" + std::to_string(tid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
  return memory.get() < 0 ? 0 : programs::space_identity(tid, memory.get());
}

// Also of a thread that is not its process's first.
bool is_alive(std::uint32_t tid) {
  const auto stat = read_file("/proc/" + std::to_string(tid) + "/stat", 4096);
  if (!stat) return false;
  const std::size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= stat->size()) return false;
  const char state = (*stat)[name_end + 2];
  return state != 'Z' && state != 'X';
}

}  // namespace

Births::Births() {
  if (auto events = programs::ThreadEvents::subscribe()) events_.emplace(*std::move(events));
}

void Births::catch_up() {
  if (!events_) return;
  for (const programs::ThreadChange& change : events_->drain()) {
    if (!change.begins) continue;
    births_[change.thread] = {change.parent, ++changes_, 0};
  }
}

void Births::look_below(std::uint32_t process) {
  for (const programs::TaskStat& task : programs::tasks_below(process)) {
    const auto [known, is_new] = births_.try_emplace(task.pid);
    if (!is_new && known->second.start_ticks == task.start_ticks) continue;
    known->second = {task.parent, ++changes_, task.start_ticks};
  }
}

const Births::Birth* Births::find(std::uint32_t tid) const {
  const auto found = births_.find(tid);
  return found == births_.end() ? nullptr : &found->second;
}

Target::Target(Births& births, std::uint32_t tid, bool inherits)
    : births_(births), tid_(tid), inherits_(inherits), began_ticks_(programs::now_ticks()), program_(program_of(tid)) {
  births_.catch_up();
  births_before_ = births_.changes();
}

bool Target::has(std::uint32_t tid, std::uint32_t tgid) {
  if (tid == tid_) return true;
  if (!inherits_) return false;
  if (changes_seen_ != births_.changes()) forget_what_may_be_wrong();
  changes_seen_ = births_.changes();
  const auto found = known_.find(tid);
  if (found != known_.end()) return found->second;
  // It may have begun a moment ago.
  births_.catch_up();
  if (changes_seen_ != births_.changes()) forget_what_may_be_wrong();
  changes_seen_ = births_.changes();
  return known_[tid] = find_out(tid, tgid);
}

// Where the kernel does not tell, who was found to be below the process may have ended since, and nobody could find it
// out again.
void Target::forget_what_may_be_wrong() {
  if (births_.are_told()) return known_.clear();
  std::erase_if(known_, [](const auto& entry) { return !entry.second; });
}

bool Target::find_out(std::uint32_t tid, std::uint32_t tgid) const {
  return births_.are_told() ? is_descendant(tid) : was_begun_below(tid, tgid);
}

bool Target::is_inherited(const Births::Birth& birth) const {
  return birth.start_ticks == 0 ? birth.number > births_before_ : birth.start_ticks >= began_ticks_;
}

bool Target::is_descendant(std::uint32_t tid) const {
  for (int i = 0; i < kMostGenerations; ++i) {
    const Births::Birth* const birth = births_.find(tid);
    if (birth == nullptr) return false;
    if (birth->parent == tid_) return is_inherited(*birth);
    tid = birth->parent;
  }
  return false;
}

// By what there is of it now: the processes above it, of which those in between may have ended.
bool Target::was_begun_below(std::uint32_t tid, std::uint32_t tgid) const {
  if (tgid == 0) tgid = programs::process_of(tid);
  if (is_descendant(tgid)) return true;
  if (tgid == programs::process_of(tid_)) {
    // Nobody tells which of its threads has made it: the first one, as where the kernel tells of threads.
    if (tid_ != tgid) return false;
    const auto thread = programs::stat_of(tid);
    return !thread || thread->start_ticks >= began_ticks_;
  }
  std::uint32_t process = tgid;
  for (int i = 0; i < kMostGenerations && process > 1; ++i) {
    const auto stat = programs::stat_of(process);
    if (!stat || stat->start_ticks < began_ticks_) return false;
    if (stat->parent == tid_) return true;
    process = stat->parent;
  }
  return false;
}

bool Target::is_gone() {
  if (is_alive(tid_)) return false;
  if (!inherits_) return true;
  for (const auto& [tid, is_ours] : known_) {
    if (is_ours && is_alive(tid)) return false;
  }
  return true;
}

bool Target::has_called_exec() {
  const std::uint64_t now = program_of(tid_);
  return now != program_ || now == 0;
}

}  // namespace landtrace::perf
