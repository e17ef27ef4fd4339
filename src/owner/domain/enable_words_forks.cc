// The words of children that do not announce themselves.
#include <algorithm>

#include "domain/enable_words.hpp"

namespace landtrace::domain {

Result<void> EnableWords::follow_forks(std::uint32_t pid, Identity client) {
  catch_up(pid);
  LT_TRY(Process* const process, this->process(pid, client));
  if (process->family) return {};
  const auto task = programs::stat_of(process->space->pid);
  if (!task || !task->image.is_known()) return {};  // none of its children could be told from another program
  if (followed_ == 0) {
    if (auto events = programs::ProcessEvents::subscribe()) fork_events_.emplace(*std::move(events));
  }
  ++followed_;
  process->family = programs::Ancestor{task->image, !task->only_forked};
  return {};
}

void EnableWords::catch_up(std::uint32_t pid) {
  if (followed_ == 0) return;
  if (fork_events_) return catch_up();
  const auto known = processes_.find(pid);
  if (known != processes_.end()) {
    if (known->second.family) catch_up_by_looking(programs::tasks_below(pid));
  } else if (is_relative(pid)) {
    catch_up_by_looking(programs::all_tasks());
  }
}

bool EnableWords::is_relative(std::uint32_t pid) const {
  const auto task = programs::stat_of(pid);
  return task && task->only_forked && std::any_of(processes_.begin(), processes_.end(), [&](const auto& entry) {
           return entry.second.family && entry.second.family->image == task->image;
         });
}

void EnableWords::catch_up() {
  if (followed_ > 0 && !catch_up_by_events()) catch_up_by_looking(programs::all_tasks());
}

bool EnableWords::catch_up_by_events() {
  if (!fork_events_) return false;
  bool lost = false;
  // Children without words of their own memory stand for their ancestor: they have called exec, are gone, or share its memory.
  std::unordered_map<std::uint32_t, std::uint32_t> stand_ins;
  for (const auto [parent, child] : fork_events_->drain(lost)) {
    stand_ins.erase(child);
    const auto stand_in = stand_ins.find(parent);
    const std::uint32_t ancestor = stand_in == stand_ins.end() ? parent : stand_in->second;
    if (processes_.contains(ancestor) && !adopt(ancestor, child, kAnyTime)) stand_ins.emplace(child, ancestor);
  }
  return !lost;
}

void EnableWords::catch_up_by_looking(const std::vector<programs::TaskStat>& tasks) {
  programs::Ancestors ancestors;
  for (const auto& [pid, process] : processes_) {
    if (process.family) ancestors.emplace(pid, *process.family);
  }
  for (const programs::Descendant& found : programs::find_descendants(ancestors, tasks)) {
    adopt(found.ancestor, found.pid, found.start_ticks);
  }
}

// The order counts: the child's memory was opened before this. If it was that of a program that the child had called by
// then, its image is not the parent's; and while exec has not yet said where the new image is, the flag is still there in
// the first look, but not in a second one after the image was seen.
bool EnableWords::is_copy(const Process& parent, std::uint32_t child) {
  if (programs::process_of(child) != child) return false;  // a thread that has the number by now
  const auto before = programs::stat_of(child);
  if (!before || !before->only_forked || before->image != parent.family->image) return false;
  const auto parent_task = programs::stat_of(parent.space->pid);
  const bool parent_has_gone = !parent_task || !parent_task->image.is_known();
  // A memory that lives though its process does not is somebody else's, too: perhaps the child's.
  if (parent_has_gone ? parent.space->is_alive() : programs::share_memory(parent.space->pid, child)) return false;
  const auto after = programs::stat_of(child);
  return after && after->only_forked;
}

bool EnableWords::adopt(std::uint32_t ancestor, std::uint32_t child, std::uint64_t born_ticks) {
  const Process& parent = processes_.at(ancestor);
  if (!parent.family || parent.words.empty()) return false;
  const auto known = processes_.find(child);
  if (known != processes_.end() && !known->second.space->is_alive()) {
    erase(child);
  } else if (known != processes_.end() && known->second.family) {
    return true;
  }
  std::shared_ptr<programs::AddressSpace> space;
  if (const auto same = processes_.find(child); same != processes_.end()) {
    space = same->second.space;
  } else if (auto opened = memory_.open(child, parent.who)) {
    space = *std::move(opened);
  }
  if (!space || !is_copy(parent, child)) return false;
  const auto made = processes_.try_emplace(child, Process{parent.who, std::move(space), {}, 0, {}, {}});
  Process& copy = made.first->second;
  copy.family = programs::Ancestor{parent.family->image, false};
  ++followed_;
  copy_words(parent.words, copy, born_ticks);
  if (watcher_) watcher_(child);
  return true;
}

std::uint32_t EnableWords::sharer_of(std::uint32_t pid) const {
  if (processes_.empty()) return 0;
  const auto task = programs::stat_of(pid);
  return task && processes_.contains(task->parent) && programs::share_memory(task->parent, pid) ? task->parent : 0;
}

}  // namespace landtrace::domain
