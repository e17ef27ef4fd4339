// Finds the descendants of processes among all processes that there are now, for owners whom the kernel does not tell
// of forks (another network namespace, another user than root).
//
// By parents alone they cannot be found: when a process ends its children get another parent. So it counts, too, where
// exec has put a program (Image): that place is random (unless somebody has turned that off), and processes have it in
// common if they were forked from one another.
#pragma once

#include <unordered_map>
#include <vector>

#include "programs/task.hpp"

namespace landtrace::programs {

struct Ancestor {
  Image image;
  // It called exec itself. So every process that has its image and was only forked descends from it, even if those in
  // between have ended. Of an ancestor that was forked itself this is not known: an orphan with its image may be its
  // sibling.
  bool is_root = false;
};
using Ancestors = std::unordered_map<std::uint32_t, Ancestor>;  // by pid

struct Descendant {
  std::uint32_t ancestor;  // the nearest of those given
  std::uint32_t pid;
  std::uint64_t start_ticks;
};
// The descendants that have not called exec, in no order. A process that is one of `ancestors` is left out.
std::vector<Descendant> find_descendants(const Ancestors& ancestors, const std::vector<TaskStat>& tasks);

}  // namespace landtrace::programs
