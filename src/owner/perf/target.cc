#include "perf/target.hpp"

#include <fcntl.h>

#include <algorithm>
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
  if (auto events = programs::ThreadEvents::subscribe(true)) events_.emplace(*std::move(events));
}

void Births::catch_up() {
  if (!events_) return;
  for (const programs::ThreadChange& change : events_->drain()) {
    using Kind = programs::ThreadChange::Kind;
    if (change.kind == Kind::kCallsExec) execs_[change.thread].push_back({change.time_ns, ++changes_});
    if (change.kind != Kind::kBegins) continue;
    births_[change.thread] = {change.parent, ++changes_, 0, change.is_of_parent};
    execs_.erase(change.thread);
  }
}

const Births::Exec* Births::first_exec(std::uint32_t process, std::uint64_t after) const {
  const auto found = execs_.find(process);
  if (found == execs_.end()) return nullptr;
  const auto& execs = found->second;
  const auto first =
      std::find_if(execs.begin(), execs.end(), [after](const Exec& exec) { return exec.number > after; });
  return first == execs.end() ? nullptr : &*first;
}

std::uint32_t Births::process_of(std::uint32_t tid) const {
  const Birth* const birth = find(tid);
  return birth != nullptr && birth->is_thread ? birth->parent : tid;
}

void Births::look_below(std::uint32_t process) {
  for (const programs::TaskStat& task : programs::tasks_below(process)) {
    const auto [known, is_new] = births_.try_emplace(task.pid);
    if (!is_new && known->second.start_ticks == task.start_ticks) continue;
    known->second = {task.parent, ++changes_, task.start_ticks, false};
  }
}

const Births::Birth* Births::find(std::uint32_t tid) const {
  const auto found = births_.find(tid);
  return found == births_.end() ? nullptr : &found->second;
}

Target::Target(Births& births, std::uint32_t tid, Inherits inherits, bool watches_exec)
    : births_(births), tid_(tid), inherits_(inherits), began_ticks_(programs::now_ticks()), program_(program_of(tid)) {
  births_.catch_up();
  births_before_ = births_.changes();
  if (watches_exec && !births_.are_told()) watch_ = ExecWatch::open(tid);
}

bool Target::has(std::uint32_t tid, std::uint32_t tgid) {
  if (tid == tid_) return true;
  if (inherits_ == Inherits::kNothing) return false;
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
    if (inherits_ == Inherits::kThreads && !birth->is_thread) return false;
    if (birth->parent == tid_) return is_inherited(*birth);
    tid = birth->parent;
  }
  return false;
}

// By what there is of it now: the processes above it, of which those in between may have ended.
bool Target::was_begun_below(std::uint32_t tid, std::uint32_t tgid) const {
  if (tgid == 0) tgid = programs::process_of(tid);
  if (inherits_ == Inherits::kAll && is_descendant(tgid)) return true;
  if (tgid == programs::process_of(tid_)) {
    // Nobody tells which of its threads has made it: the first one, as where the kernel tells of threads.
    if (tid_ != tgid) return false;
    const auto thread = programs::stat_of(tid);
    return !thread || thread->start_ticks >= began_ticks_;
  }
  if (inherits_ != Inherits::kAll) return false;
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
  if (inherits_ == Inherits::kNothing) return true;
  for (const auto& [tid, is_ours] : known_) {
    if (is_ours && is_alive(tid)) return false;
  }
  return true;
}

// What has ended is not known to have been another one.
bool Target::runs_another_program() const {
  const std::uint64_t now = program_of(tid_);
  return now != program_ && now != 0;
}

std::optional<std::uint64_t> Target::exec_ns() {
  // Asked first: the kernel tells of exec while the new program has not begun.
  const bool is_another = runs_another_program();
  births_.catch_up();
  if (const Births::Exec* const exec = births_.first_exec(tid_, births_before_)) return exec->time_ns;
  if (watch_) {
    if (const auto time_ns = watch_->first_exec_ns()) return time_ns;
  }
  // Or what was told has been lost.
  if (is_another) return kSomeTime;
  if (births_.are_told() || watch_) return std::nullopt;
  return is_alive(tid_) ? std::nullopt : std::optional(kSomeTime);
}

bool Target::has_left(std::uint32_t tid, std::uint32_t tgid, std::uint64_t time_ns) {
  births_.catch_up();
  if (!births_.are_told()) {
    const auto exec = tid == tid_ || tgid == tid_ ? exec_ns() : std::nullopt;
    return exec && *exec <= time_ns;
  }
  std::uint32_t process = tgid != 0 ? tgid : births_.process_of(tid);
  const Births::Exec* const own = births_.first_exec(process, births_before_);
  if (own != nullptr && own->time_ns <= time_ns) return true;
  for (int i = 0; i < kMostGenerations && process != tid_; ++i) {
    const Births::Birth* const birth = births_.find(process);
    if (birth == nullptr) return false;
    process = births_.process_of(birth->parent);
    const Births::Exec* const exec = births_.first_exec(process, births_before_);
    if (exec != nullptr && exec->number < birth->number) return true;
  }
  return false;
}

}  // namespace landtrace::perf
