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
    parents_[change.thread] = change.parent;
    ++changes_;
  }
}

void Births::look_below(std::uint32_t process) {
  for (const programs::TaskStat& task : programs::tasks_below(process)) {
    if (parents_.insert_or_assign(task.pid, task.parent).second) ++changes_;
  }
}

std::optional<std::uint32_t> Births::parent_of(std::uint32_t tid) const {
  const auto found = parents_.find(tid);
  if (found == parents_.end()) return std::nullopt;
  return found->second;
}

Target::Target(Births& births, std::uint32_t tid, bool inherits)
    : births_(births), tid_(tid), inherits_(inherits), began_ticks_(programs::now_ticks()), program_(program_of(tid)) {}

bool Target::has(std::uint32_t tid, std::uint32_t tgid) {
  if (tid == tid_) return true;
  if (!inherits_) return false;
  if (changes_seen_ != births_.changes()) known_.clear();
  changes_seen_ = births_.changes();
  const auto found = known_.find(tid);
  if (found != known_.end()) return found->second;
  // It may have begun a moment ago.
  births_.catch_up();
  changes_seen_ = births_.changes();
  return known_[tid] = find_out(tid, tgid);
}

bool Target::find_out(std::uint32_t tid, std::uint32_t tgid) const {
  return births_.are_told() ? is_descendant(tid) : was_begun_below(tid, tgid);
}

bool Target::is_descendant(std::uint32_t tid) const {
  for (int i = 0; i < kMostGenerations; ++i) {
    const auto parent = births_.parent_of(tid);
    if (!parent) return false;
    if (*parent == tid_) return true;
    tid = *parent;
  }
  return false;
}

// By what there is of it now: the processes above it, of which those in between may have ended.
bool Target::was_begun_below(std::uint32_t tid, std::uint32_t tgid) const {
  if (tgid == 0) tgid = programs::process_of(tid);
  if (is_descendant(tgid)) return true;
  if (tgid == programs::process_of(tid_)) {
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
