#include "programs/families.hpp"

#include <algorithm>

namespace landtrace::programs {
namespace {

using Tasks = std::unordered_map<std::uint32_t, const TaskStat*>;

// Goes up from parent to parent as long as they were only forked and have the same image. Where that ends (the next has
// ended, so that the parent is init or a subreaper) it takes a root with the same image, unless it ends at another one:
// without random places all that run a program have the same. 0: none.
std::uint32_t nearest_ancestor(const Ancestors& ancestors, const Tasks& tasks, const TaskStat& task) {
  const TaskStat* at = &task;
  // The tasks were not read at one moment: with a pid that was given anew meanwhile parents may form a ring. So there
  // is a limit.
  for (std::size_t generations = 0; generations < tasks.size(); ++generations) {
    const auto ancestor = ancestors.find(at->parent);
    if (ancestor != ancestors.end() && ancestor->second.image == task.image) return at->parent;
    const auto parent = tasks.find(at->parent);
    if (parent == tasks.end() || parent->second->image != task.image) break;
    if (!parent->second->only_forked) return 0;
    at = parent->second;
  }
  const auto root = std::find_if(ancestors.begin(), ancestors.end(), [&](const auto& ancestor) {
    return ancestor.second.is_root && ancestor.second.image == task.image;
  });
  return root == ancestors.end() ? 0 : root->first;
}

}  // namespace

std::vector<Descendant> find_descendants(const Ancestors& ancestors, const std::vector<TaskStat>& tasks) {
  Tasks by_pid;
  for (const TaskStat& task : tasks) by_pid.emplace(task.pid, &task);
  std::vector<Descendant> found;
  for (const TaskStat& task : tasks) {
    if (!task.only_forked || !task.image.is_known() || ancestors.contains(task.pid)) continue;
    const std::uint32_t ancestor = nearest_ancestor(ancestors, by_pid, task);
    if (ancestor != 0) found.push_back({ancestor, task.pid, task.start_ticks});
  }
  return found;
}

}  // namespace landtrace::programs
