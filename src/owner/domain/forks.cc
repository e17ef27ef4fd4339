#include "domain/forks.hpp"

#include <algorithm>
#include <utility>

namespace landtrace::domain {
namespace {

using programs::TaskStat;

// The order counts: the child's memory was opened before this. If it was that of a program that the child had called by
// then, its image is not the parent's; and while exec has not yet said where the new image is, the flag is still there
// in the first look, but not in a second one after the image was seen.
bool is_copy(const WordProcess& parent, std::uint32_t child, programs::ForeignMemory& memory) {
  if (programs::process_of(child) != child) return false;  // a thread that has the number by now
  const auto before = programs::stat_of(child);
  if (!before || !before->only_forked || before->image != parent.family->image) return false;
  const auto parent_task = programs::stat_of(parent.space->pid);
  const bool parent_has_gone = !parent_task || !parent_task->image.is_known();
  // A memory that lives though its process does not is somebody else's, too: perhaps the child's.
  const bool is_shared =
      parent_has_gone ? parent.space->is_alive() : memory.share_memory(parent.space->pid, child, parent.who.uid);
  if (is_shared) return false;
  const auto after = programs::stat_of(child);
  return after && after->only_forked;
}

}  // namespace

void Forks::follow(WordProcess& process) {
  if (process.family) return;
  const auto task = programs::stat_of(process.space->pid);
  if (!task || !task->image.is_known()) return;  // none of its children could be told from another program
  if (followed_ == 0) {
    if (auto events = programs::ProcessEvents::subscribe()) events_.emplace(*std::move(events));
  }
  ++followed_;
  process.family = programs::Ancestor{task->image, !task->only_forked};
}

// The subscription costs something with each fork on the machine: it ends with the last one who needs it.
void Forks::forget(std::uint32_t pid) {
  const WordProcess* const process = processes_.find(pid);
  if (process == nullptr) return;
  if (process->family && --followed_ == 0) events_.reset();
  processes_.erase(pid);
}

void Forks::catch_up(std::uint32_t pid) {
  if (followed_ == 0) return;
  if (events_) return catch_up();
  if (const WordProcess* const known = processes_.find(pid)) {
    if (known->family) catch_up_by_looking(programs::tasks_below(pid));
  } else if (is_relative(pid)) {
    catch_up_by_looking(programs::all_tasks());
  }
}

bool Forks::is_relative(std::uint32_t pid) const {
  const auto task = programs::stat_of(pid);
  return task && task->only_forked &&
         std::any_of(processes_.all().begin(), processes_.all().end(), [&](const auto& entry) {
           return entry.second.family && entry.second.family->image == task->image;
         });
}

void Forks::catch_up() {
  if (followed_ > 0 && !catch_up_by_events()) catch_up_by_looking(programs::all_tasks());
}

bool Forks::catch_up_by_events() {
  if (!events_) return false;
  bool lost = false;
  // Children without words of their own memory stand for their ancestor: they have called exec, are gone, or share its
  // memory.
  std::unordered_map<std::uint32_t, std::uint32_t> stand_ins;
  for (const auto [parent, child] : events_->drain(lost)) {
    stand_ins.erase(child);
    const auto stand_in = stand_ins.find(parent);
    const std::uint32_t ancestor = stand_in == stand_ins.end() ? parent : stand_in->second;
    if (processes_.find(ancestor) != nullptr && !adopt(ancestor, child, WordProcesses::kAnyTime)) {
      stand_ins.emplace(child, ancestor);
    }
  }
  return !lost;
}

void Forks::catch_up_by_looking(const std::vector<TaskStat>& tasks) {
  programs::Ancestors ancestors;
  for (const auto& [pid, process] : processes_.all()) {
    if (process.family) ancestors.emplace(pid, *process.family);
  }
  for (const programs::Descendant& found : find_descendants(ancestors, tasks)) {
    adopt(found.ancestor, found.pid, found.start_ticks);
  }
}

bool Forks::adopt(std::uint32_t ancestor, std::uint32_t child, std::uint64_t born_ticks) {
  const WordProcess& parent = *processes_.find(ancestor);
  if (!parent.family || parent.words.empty()) return false;
  const WordProcess* known = processes_.find(child);
  if (known != nullptr && !known->space->is_alive()) {
    forget(child);
    known = nullptr;
  } else if (known != nullptr && known->family) {
    return true;
  }
  std::shared_ptr<AddressSpace> space;
  if (known != nullptr) {
    space = known->space;
  } else if (auto opened = memory_.open(child, parent.who)) {
    space = *std::move(opened);
  }
  if (!space || !is_copy(parent, child, memory_)) return false;
  WordProcess* copy = processes_.find(child);
  if (copy == nullptr) {
    const auto added = processes_.add(std::move(space), parent.who);
    if (!added) return false;
    copy = *added;
  }
  copy->family = programs::Ancestor{parent.family->image, false};
  ++followed_;
  processes_.copy_words(parent.words, *copy, born_ticks);
  return true;
}

}  // namespace landtrace::domain
